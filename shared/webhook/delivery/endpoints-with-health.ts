import { mapInChunks } from '../../chunks.ts'
import type { ListDeps } from '../../deps.ts'
import type { ClientId, EndpointId } from '../../ids.ts'
import { readableRows } from '../../if-valid.ts'
import { reserveUnits } from '../../table/used-units.ts'
import { toOwnEndpointDto } from '../endpoint/endpoint-dto.ts'
import { newestEndpoints } from '../endpoint/endpoint-store.ts'
import type { OwnEndpointDto } from '../endpoint/own-endpoint-dto-schema.ts'
import { attemptsOf, findDeliveries } from './delivery-store.ts'
import { listedKeys } from './list-deliveries.ts'

/** Deliveries that are read for the last answer, and the most waiting ones that are counted. */
const NEWEST = 10
const MAX_WAITING = 100

/** Ten rows, the newest attempt of each, and two queries of keys. */
const UNITS_AN_ENDPOINT = 17
const AT_ONCE = 10

/**
 * A client's endpoints with their health (design section 8), from the lists of their deliveries: no
 * attempt writes more for it.
 */
export async function endpointsWithHealth(
  deps: ListDeps,
  clientId: ClientId,
): Promise<readonly OwnEndpointDto[]> {
  const endpoints = readableRows(deps, 'endpoint', await newestEndpoints(deps, clientId))
  await reserveUnits(endpoints.length * UNITS_AN_ENDPOINT)
  return mapInChunks(endpoints, AT_ONCE, async (endpoint) => ({
    ...toOwnEndpointDto(endpoint),
    last_answered_at: (await lastAnswerOf(deps, endpoint.endpointId)) ?? null,
    waiting: (await listedKeys(deps, [endpoint.endpointId], 'scheduled', MAX_WAITING)).length,
  }))
}

/** A retry may be later than a newer delivery, and a new round may follow an answer. */
async function lastAnswerOf(deps: ListDeps, endpointId: EndpointId) {
  const keys = await listedKeys(deps, [endpointId], undefined, NEWEST)
  const { rows } = await findDeliveries(deps, keys)
  const attempts = await Promise.all(rows.map((delivery) => attemptsOf(deps, delivery, 1)))
  return [...attempts.flat(), ...rows.map(({ success }) => success)]
    .flatMap((one) => (one && !one.error ? one.at : []))
    .toSorted()
    .at(-1)
}
