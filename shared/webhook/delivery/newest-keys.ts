import * as v from 'valibot'
import type { StoreDeps, TableDeps } from '../../deps.ts'
import { invalid } from '../../errors.ts'
import { type DeliveryId, DeliveryIdSchema, type EndpointId } from '../../ids.ts'
import type { Item } from '../../table/attributes.ts'
import { addMs, END_OF_TIME, MINUTE_MS, type Timestamp } from '../../time.ts'
import type { DeliveryStatus } from './delivery.ts'
import { DELIVERY_ENTITY, findDeliveries } from './delivery-store.ts'

/** A delivery's position in the lists. */
type ListKey = { readonly at: string; readonly id: string }

export type Wanted = {
  readonly status: DeliveryStatus | undefined
  readonly count: number
  /** The most deliveries of an endpoint that are read, newest first, to find those without an index entry. */
  readonly mostLooked: number
}

const LOOK_PAGE = 100
/** By then due work has checked, and listed, a delivery without a result. */
const LISTED_BY_THEN_MS = 30 * MINUTE_MS

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
export const newestFirst = (a: ListKey, b: ListKey): number => compare(b.at, a.at) || compare(b.id, a.id)

/**
 * The newest deliveries of an endpoint, up to a limit. No index entry lists those without a failure by status, so they
 * are read one by one.
 */
export const newestKeys = async (
  deps: StoreDeps,
  owner: EndpointId,
  { status, count, mostLooked }: Wanted,
): Promise<readonly ListKey[]> => {
  switch (status) {
    case undefined:
    case 'abandoned':
    case 'skipped':
      return listedKeys(deps, owner, status, count)
    case 'succeeded': {
      const { found, complete } = await lookFor(deps, owner, status, { count, mostLooked, since: undefined })
      if (complete) return found
      throw invalid(
        `page: only the newest ${mostLooked} deliveries of an endpoint are looked through`,
        { page: ['too far back'] },
        'Succeeded ones further back: with endpoint_id, without status, or by event_id.',
      )
    }
    case 'scheduled': {
      const since = addMs(deps.now(), -LISTED_BY_THEN_MS)
      const { found } = await lookFor(deps, owner, status, { count, mostLooked, since })
      const keys = [...(await listedKeys(deps, owner, status, count)), ...found]
      return [...new Map(keys.map((key) => [key.id, key])).values()].toSorted(newestFirst).slice(0, count)
    }
  }
}

type Look = Pick<Wanted, 'count' | 'mostLooked'> & { readonly since: Timestamp | undefined }

/** The newest deliveries of a status, found by reading each; `complete` unless older ones may match. */
const lookFor = async (
  deps: StoreDeps,
  owner: EndpointId,
  status: DeliveryStatus,
  { count, mostLooked, since }: Look,
): Promise<{ readonly found: readonly ListKey[]; readonly complete: boolean }> => {
  const found: ListKey[] = []
  let cursor: Item | undefined
  for (let looked = 0; looked < mostLooked; looked += LOOK_PAGE) {
    const page = await deps.table.query({
      index: 'by-owner',
      partition: [owner, DELIVERY_ENTITY],
      newestFirst: true,
      limit: Math.min(LOOK_PAGE, mostLooked - looked),
      ...(since !== undefined && { range: { between: [since, END_OF_TIME] as const } }),
      ...(cursor && { cursor }),
    })
    const deliveries = await findDeliveries(
      deps,
      page.items.map(({ id }) => v.parse(DeliveryIdSchema, id)),
    )
    const matching = deliveries.filter((delivery) => delivery.status === status)
    found.push(...matching.map(({ createdAt, deliveryId }) => ({ at: createdAt, id: deliveryId })))
    cursor = page.cursor
    if (found.length >= count || !cursor) return { found: found.slice(0, count), complete: true }
  }
  return { found, complete: false }
}

const listedKeys = async (
  deps: TableDeps,
  owner: EndpointId,
  status: DeliveryStatus | undefined,
  count: number,
): Promise<readonly ListKey[]> => {
  const list =
    status === undefined
      ? ({ index: 'by-owner', partition: [owner, DELIVERY_ENTITY] } as const)
      : ({ index: 'by-status', partition: [owner, DELIVERY_ENTITY, status] } as const)
  const keys: ListKey[] = []
  let cursor: Item | undefined
  do {
    const found = await deps.table.query({
      ...list,
      newestFirst: true,
      limit: count - keys.length,
      ...(cursor && { cursor }),
    })
    keys.push(...found.items.map(({ listedAt, id }) => ({ at: String(listedAt), id: String(id) })))
    cursor = found.cursor
  } while (cursor && keys.length < count)
  return keys
}

/** The newest abandoned deliveries of an endpoint, at most `most`. The index suggests. */
export const newestAbandoned = async (
  deps: TableDeps,
  owner: EndpointId,
  most: number,
): Promise<readonly DeliveryId[]> =>
  (await listedKeys(deps, owner, 'abandoned', most)).map(({ id }) => v.parse(DeliveryIdSchema, id))
