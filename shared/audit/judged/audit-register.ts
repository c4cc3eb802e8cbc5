import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import type { Client } from '../../client/client.ts'
import {
  CLIENTS_SUBJECT,
  registeredClients,
  registrationKey,
} from '../../client/client-register.ts'
import { clientRow } from '../../client/client-store.ts'
import type { TableDeps } from '../../deps.ts'
import { clientKey } from '../../table/keys.ts'
import { queryAll } from '../../table/list-items.ts'
import { GATEWAY_OWNER } from '../../table/schema.ts'
import {
  compare,
  type Difference,
  type HouseDifference,
  withClient,
} from '../../verdict/difference.ts'
import { readTrail } from './client-books.ts'

/**
 * The register is an intact chain, and names every client that the index lists. The audit of each
 * registered client compares the client's row.
 */
export async function auditRegister(deps: TableDeps): Promise<readonly HouseDifference[]> {
  const { differences } = await readTrail(deps, CLIENTS_SUBJECT, undefined)
  const listed = await queryAll(deps, {
    index: 'by-owner',
    partition: [GATEWAY_OWNER, 'client'],
    limit: PAGE,
  })
  const registeredIds = new Set<unknown>()
  for await (const { clients } of registeredClients(deps, { limit: PAGE }))
    for (const { clientId } of clients) registeredIds.add(clientId)
  const unregistered = listed.map(({ id }) => String(id)).filter((id) => !registeredIds.has(id))
  return [
    ...withClient(undefined, differences),
    ...unregistered.flatMap((id) => withClient(id, unregisteredClient(id))),
  ]
}

const PAGE = 1_000

function unregisteredClient(clientId: string): readonly Difference[] {
  return compare('client', clientId, 'in the register', 'not in the register')
}

const Registration = v.object({ after: v.object({ client_id: v.string() }) })

/** The register names the client, and the row has the attributes that list it. */
export async function auditRegistration(
  deps: TableDeps,
  client: Client,
): Promise<readonly Difference[]> {
  const { clientId } = client
  const record = await deps.table.get(registrationKey(client))
  const row = await deps.table.get(clientKey(clientId))
  const { owner, entity, listedAt, id } = clientRow(client)
  const isRegistered = v.is(Registration, record) && record.after.client_id === clientId
  const isListed = isDeepStrictEqual({ ...row, owner, entity, listedAt, id }, row)
  return [
    ...(isRegistered ? [] : unregisteredClient(clientId)),
    ...(isListed ? [] : compare('client', clientId, 'in the list', 'not in the list')),
  ]
}
