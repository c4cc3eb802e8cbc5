import * as v from 'valibot'
import { mapInChunks } from '../chunks.ts'
import type { Deps, TableDeps } from '../deps.ts'
import { type ClientId, ClientIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { CursorTime } from '../page.ts'
import { auditRecordKey, auditRecordPk } from '../table/keys.ts'
import { queryPages } from '../table/list-items.ts'
import { timeLimit } from '../time.ts'

/** The register is a chain with one record for each client. */
export const CLIENTS_SUBJECT = 'clients'

/** The key of a client's record consists of these two fields. */
export const RegisteredSchema = v.strictObject({ clientId: ClientIdSchema, createdAt: CursorTime })
export type Registered = v.InferOutput<typeof RegisteredSchema>

/** After so many clients the run checks its time again. */
const WALKED_AT_ONCE = 40

/** A run begins no further page of clients after this time; its function has a third more. */
const RUN_MS = 200_000

/**
 * Reads clients page by page, in the order of their registration, until `isFull` or the run's time
 * is over. Answers the last client of this run; undefined when it was the last of all.
 */
export async function walkClients(
  deps: Pick<Deps, 'table' | 'monotonicMs'>,
  start: Registered | undefined,
  {
    read,
    isFull,
    atOnce = WALKED_AT_ONCE,
  }: {
    readonly read: (clients: readonly Registered[]) => Promise<void>
    readonly isFull?: () => boolean
    readonly atOnce?: number
  },
): Promise<Registered | undefined> {
  const isOver = timeLimit(deps, RUN_MS)
  let position = start
  const pages = registeredClients(deps, { limit: atOnce, after: start })
  for await (const { clients, isLast } of pages) {
    await read(clients)
    if (isLast) return undefined
    position = clients.at(-1) ?? position
    if (isFull?.() || isOver()) break
  }
  return position
}

/**
 * Oldest first, by consistent queries of the register: no index can lose a client. The key names
 * the client, so an unreadable record, which the audit reports, hides none.
 */
export async function* registeredClients(
  deps: TableDeps,
  { limit, after }: { readonly limit: number; readonly after?: Registered | undefined },
) {
  const pages = queryPages(deps, {
    partition: [auditRecordPk(CLIENTS_SUBJECT)],
    limit,
    cursor: after && registrationKey(after),
    fields: ['pk', 'sk'],
  })
  for await (const { items, cursor } of pages)
    yield { clients: items.flatMap(({ sk }) => registeredIn(sk) ?? []), isLast: !cursor }
}

/**
 * Sends a message for each client, so that a slow or broken client delays no other client. Answers
 * the number of clients.
 */
export async function sendForEachClient(
  deps: TableDeps,
  send: (clientId: ClientId) => Promise<unknown>,
) {
  let count = 0
  for await (const { clients } of registeredClients(deps, { limit: 1_000 })) {
    await mapInChunks(clients, 10, ({ clientId }) => send(clientId))
    count += clients.length
  }
  return count
}

export function registrationKey({ clientId, createdAt }: Registered) {
  return auditRecordKey(CLIENTS_SUBJECT, createdAt, clientId)
}

function registeredIn(sk: unknown) {
  const [createdAt, clientId] = String(sk).split('#')
  return ifValid(RegisteredSchema, { clientId, createdAt })
}

/** The record has no owner, because the client's own chain has its fields. */
export function registrationOf({ clientId, createdAt }: Registered, operator: string) {
  return {
    subject: CLIENTS_SUBJECT,
    clientId: undefined,
    operator,
    action: 'create-client',
    after: { client_id: clientId },
    key: { at: createdAt, id: clientId },
  }
}
