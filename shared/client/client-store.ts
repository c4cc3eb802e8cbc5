import * as v from 'valibot'
import type { ActionRequest } from '../action-request.ts'
import type { Deps, TableDeps } from '../deps.ts'
import { assertInvariant, GatewayError, notFound } from '../errors.ts'
import { type ClientId, ClientIdSchema } from '../ids.ts'
import { readLedger } from '../ledger/ledger-store.ts'
import { allShards, newShard, putShards } from '../ledger/shard-store.ts'
import { growWindow, newWindow, readWindow } from '../ledger/window-store.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import type { Page } from '../page.ts'
import { clientKey } from '../table/keys.ts'
import { listItems, queryPages } from '../table/list-items.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { absent, all, exists, guard, isNew, put, type Step, unchanged, update } from '../table/step.ts'
import { unlessStale } from '../table/table.ts'
import type { Timestamp } from '../time.ts'
import {
  type Bank,
  type BankAccount,
  type Client,
  ClientSchema,
  ledgerPartsOf,
  partsFreshUntil,
  raisedParts,
} from './client.ts'
import { type ClientFields, toClientDto } from './client-dto.ts'

const ENTITY = 'client'

/** Reads a client, strongly consistent, also a disabled one. Undefined when there is none. */
export const findClient = async (deps: TableDeps, clientId: ClientId): Promise<Client | undefined> => {
  const item = await deps.table.get(clientKey(clientId))
  return item && v.parse(ClientSchema, item)
}

export const mayBePaidOut = (clientId: ClientId): Step => guard(clientKey(clientId), all(exists, absent('payoutHold')))

/** Reads a client, also a disabled one. Throws 404. */
export const requireClient = async (deps: TableDeps, clientId: ClientId): Promise<Client> => {
  const client = await findClient(deps, clientId)
  if (!client) throw notFound('client')
  return client
}

export const listClients = async (deps: TableDeps, page: Page): Promise<readonly Client[]> => {
  const items = await listItems(deps, { kind: 'CLIENT', index: 'by-owner', partition: [GATEWAY_OWNER, ENTITY], page })
  return items.map((item) => v.parse(ClientSchema, item))
}

/** Client ids of one query: well below the 1 MB at which DynamoDB ends a page. */
const IDS_A_PAGE = 1_000

/** The ids of all clients, oldest first, in pages. Only the index lists them. */
export const clientIdPages = async function* (deps: TableDeps): AsyncGenerator<readonly ClientId[]> {
  const pages = queryPages(deps, { index: 'by-owner', partition: [GATEWAY_OWNER, ENTITY], limit: IDS_A_PAGE })
  for await (const items of pages) yield items.map(({ id }) => v.parse(ClientIdSchema, id))
}

/**
 * Writes a new client, its window, its first shards and the audit record in one transaction. The ledger exists from
 * then on, so the fence finds every shard. Shards of further parts are written before.
 */
export const insertClient = async (deps: RecordDeps, client: Client, operator: string): Promise<void> => {
  const { clientId, createdAt } = client
  const parts = ledgerPartsOf(client)
  await putShards(deps, clientId, { first: 1, parts, closedUntil: createdAt })
  const { applied } = await recordChange(
    deps,
    { subject: clientId, clientId, operator, action: 'create-client', after: toClientDto(client) },
    {
      client: put(
        clientKey(clientId),
        { ...client, owner: GATEWAY_OWNER, entity: ENTITY, listedAt: createdAt, id: clientId },
        isNew,
      ),
      window: newWindow(clientId, { bornAt: createdAt, parts }),
      ...Object.fromEntries(allShards(1).map(({ shard }) => [`shard ${shard}`, newShard(clientId, shard, createdAt)])),
    },
  )
  assertInvariant(applied, 'a new client has the id of another one')
}

const CHANGEABLE = [
  'hadBank',
  'name',
  'enabled',
  'settlementFloorMinor',
  'bank',
  'returnUrl',
  'rateLimitPerSecond',
  'payoutHold',
  'ledgerParts',
] as const satisfies readonly (keyof Client)[]

/** Undefined leaves a field unchanged; null clears an optional one. */
export type ClientChanges = Partial<ActionRequest<v.InferOutput<typeof ClientFields>>>

const CHANGE_TRIES = 5

/**
 * Changes the given fields, with the audit record, in one transaction. Its condition covers every field that can
 * change, so the later of two operators reads again. Operators are alerted before bank details change. Throws 404.
 */
export const changeClient = async (
  deps: RecordDeps & Pick<Deps, 'alerts' | 'log'>,
  { clientId, operator, changes }: { clientId: ClientId; operator: string; changes: ClientChanges },
): Promise<Client> => {
  let isAlerted = false
  for (let tried = 0; tried < CHANGE_TRIES; tried++) {
    const before = await findClient(deps, clientId)
    if (!before) throw notFound('client')
    const bank =
      changes.bank &&
      enteredBank(before, changes.bank, { isCredited: await wasCredited(deps, clientId), now: deps.now() })
    const hadBank = before.bank && bank === null ? true : undefined
    const freshUntil = partsFreshUntil(deps)
    const ledgerParts = raisedParts(deps, before, changes.ledgerParts)
    const after = v.parse(ClientSchema, changed(before, { ...changes, bank, hadBank, ledgerParts }))
    const fields = changedFields(before, after)
    const grows = fields.includes('ledgerParts')
    if (fields.length === 0) return before
    if (fields.includes('bank') && after.bank?.isChange === true && !isAlerted) {
      await alertBankChange(deps, { clientId, operator }, before.bank, after.bank)
      isAlerted = true
    }
    const dtos = { before: toClientDto(before), after: toClientDto(after) }
    const record = { subject: clientId, clientId, operator, action: 'update-client', ...dtos }
    const steps = {
      client: update(
        clientKey(clientId),
        {
          set: Object.fromEntries(fields.map((field) => [field, after[field]])),
          remove: fields.filter((field) => after[field] === undefined),
        },
        all(exists, ...CHANGEABLE.map((field) => unchanged(field, before[field]))),
      ),
      // Readers of payments use the window's number at once. Creates use the client's number, which takes effect later.
      window: grows ? await grownWindow(deps, clientId, ledgerPartsOf(after)) : undefined,
    }
    const outcome = await unlessStale(recordChange(deps, record, steps, grows ? { freshUntil } : undefined))
    if (outcome.applied === true) return after
  }
  throw new GatewayError('conflict', 'other changes of this client are in progress; try again')
}

const wasCredited = async (deps: TableDeps, clientId: ClientId): Promise<boolean> =>
  (await readLedger(deps, clientId)).shards.some(({ creditedAt }) => creditedAt !== undefined)

/** Writes the shards of the new parts with the window's fence. Returns the step that raises the window's number. */
const grownWindow = async (deps: TableDeps, clientId: ClientId, parts: number) => {
  const window = await readWindow(deps, clientId)
  await putShards(deps, clientId, { first: window.parts, parts, closedUntil: window.closedUntil })
  return growWindow(clientId, parts, window.closedUntil)
}

const changed = (client: Client, changes: object): object => ({
  ...client,
  ...Object.fromEntries(
    Object.entries(changes)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => [field, value ?? undefined]),
  ),
})

// As JSON, because bank details are an object. Both sides went through the same schema, so their keys have one order.
const changedFields = (before: Client, after: Client) =>
  CHANGEABLE.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))

const isSameAccount = (a: BankAccount, b: BankAccount): boolean =>
  a.bankName === b.bankName && a.bankAccountNo === b.bankAccountNo && a.bankAccountName === b.bankAccountName

/** Bank details as stored: since when, and whether they replaced others or came after the first credit. */
const enteredBank = (
  before: Pick<Client, 'bank' | 'hadBank'>,
  bank: BankAccount,
  { isCredited, now }: { readonly isCredited: boolean; readonly now: Timestamp },
): Bank => {
  if (before.bank && isSameAccount(before.bank, bank)) return before.bank
  const isChange = before.bank !== undefined || before.hadBank === true || isCredited
  return { ...bank, since: now, ...(isChange && { isChange: true }) }
}

const shown = (bank: BankAccount | undefined): string =>
  bank === undefined ? 'none' : quoted(`${bank.bankName} …${bank.bankAccountNo.slice(-SHOWN_DIGITS)}`)
/** Quotes what a person typed, so that it cannot pass for our own sentence. */
const quoted = (typed: string): string => JSON.stringify(typed)
const SHOWN_DIGITS = 4

/** Alerts operators before bank details change. A crash may repeat the alert, but never loses it. */
const alertBankChange = async (
  deps: Pick<Deps, 'alerts' | 'log' | 'invocation'>,
  { clientId, operator }: { readonly clientId: Client['clientId']; readonly operator: string },
  from: BankAccount | undefined,
  to: BankAccount,
): Promise<void> => {
  await deps.alerts.publish({
    kind: 'client.bank_changed',
    subject: clientId,
    message:
      `Client ${clientId} gets other bank details by request ${deps.invocation?.requestId ?? 'unknown'}. ` +
      'Ask the merchant, by a way you knew before, whether it wants that. list-audit shows whether it was done. ' +
      `Typed by the operator: from ${shown(from)} to ${shown(to)}, as operator ${quoted(operator)}.`,
  })
  deps.log.info('client.bank_changed', { client_id: clientId })
}
