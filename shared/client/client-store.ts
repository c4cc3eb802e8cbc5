import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import type { ActionRequest } from '../action-request.ts'
import type { StoreDeps, TableDeps } from '../deps.ts'
import { assertInvariant, conflict } from '../errors.ts'
import { requireRow } from '../field-errors.ts'
import type { ClientId } from '../ids.ts'
import { readRows } from '../if-valid.ts'
import { readLedger } from '../ledger/ledger-store.ts'
import { putShards } from '../ledger/shard-store.ts'
import { putWindow } from '../ledger/window-store.ts'
import { type AlertDeps, alertChange, quote } from '../operator/alert-change.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import type { Page } from '../page.ts'
import { fieldsFrom } from '../table/attributes.ts'
import { clientKey } from '../table/keys.ts'
import { listItems } from '../table/list-items.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import {
  absent,
  all,
  exists,
  guard,
  isNew,
  put,
  type Step,
  unchanged,
  update,
} from '../table/step.ts'
import { putNewVerdict } from '../verdict/verdict-store.ts'
import { type Bank, type BankAccount, type Client, ClientSchema } from './client.ts'
import { toClientDto } from './client-dto.ts'
import type { ClientFields } from './client-fields.ts'
import { registrationOf } from './client-register.ts'

const ENTITY = 'client'

export function requirePayable(clientId: ClientId): Step {
  return guard(clientKey(clientId), all(exists, absent('payoutHold')))
}

/** Reads a disabled client too. Throws 404, and 409 for an unreadable row. */
export async function requireClient(deps: TableDeps, clientId: ClientId): Promise<Client> {
  const item = await deps.table.get(clientKey(clientId))
  return requireRow(ClientSchema, item, 'client', clientId, clientId)
}

/** For people: the index may miss a client, the register does not. */
export async function listClients(deps: TableDeps, page: Page) {
  const partition = [GATEWAY_OWNER, ENTITY]
  const items = await listItems(deps, { kind: 'CLIENT', index: 'by-owner', partition, page })
  return readRows(ClientSchema, items)
}

/** One transaction writes the client, its ledger, its verdict and its audit records. */
export async function insertClient(
  deps: RecordDeps,
  client: Client,
  operator: string,
): Promise<void> {
  const { clientId, createdAt } = client
  const record = {
    subject: clientId,
    clientId,
    operator,
    action: 'create-client',
    after: toClientDto(client),
  }
  const steps = {
    client: put(clientKey(clientId), clientRow(client), isNew),
    window: putWindow(clientId, createdAt),
    ...putShards(clientId, createdAt),
    verdict: putNewVerdict(clientId, createdAt),
  }
  const { applied } = await recordChange(deps, record, steps, registrationOf(client, operator))
  assertInvariant(applied, 'a new client has the id of another one')
}

export function clientRow(client: Client) {
  const { clientId, createdAt } = client
  return { ...client, owner: GATEWAY_OWNER, entity: ENTITY, listedAt: createdAt, id: clientId }
}

const CHANGEABLE = v.keyof(v.omit(ClientSchema, ['clientId', 'createdAt', 'endpointCount'])).options

/** Undefined leaves a field unchanged; null clears an optional field. */
type ClientChanges = Partial<ActionRequest<v.InferOutput<typeof ClientFields>>>

/**
 * Retried after a concurrent change. Operators are alerted before bank details or the
 * return URL change. Throws 404.
 */
export async function changeClient(
  deps: RecordDeps & AlertDeps,
  { clientId, operator, changes }: { clientId: ClientId; operator: string; changes: ClientChanges },
): Promise<Client> {
  let alertedOldBank: string | undefined
  for (let tried = 0; tried < 5; tried++) {
    const before = await requireClient(deps, clientId)
    const bank = changes.bank && (await bankToStore(deps, before, changes.bank))
    const hadBank = before.bank && bank === null ? true : undefined
    const given = Object.entries({ ...changes, bank, hadBank }).flatMap(([field, value]) =>
      value === undefined ? [] : [[field, value ?? undefined]],
    )
    const after = v.parse(ClientSchema, { ...before, ...Object.fromEntries(given) })
    const fields = CHANGEABLE.filter((field) => !isDeepStrictEqual(before[field], after[field]))
    if (fields.length === 0) return before
    const oldBank = describeBank(before.bank)
    // A change in between may have replaced the details of the alert.
    if (fields.includes('bank') && after.bank?.isChange === true && alertedOldBank !== oldBank) {
      await alertChange(deps, {
        kind: 'client.bank_changed',
        clientId,
        does: 'changes the bank details',
        typed: `from ${oldBank} to ${describeBank(after.bank)}`,
        operator,
      })
      alertedOldBank = oldBank
    }
    if (fields.includes('returnUrl') && after.returnUrl !== undefined)
      await alertChange(deps, {
        kind: 'client.access_changed',
        clientId,
        does: 'changes the return URL',
        typed: quote(after.returnUrl),
        operator,
      })
    const dtos = { before: toClientDto(before), after: toClientDto(after) }
    const record = { subject: clientId, clientId, operator, action: 'update-client', ...dtos }
    const set = fieldsFrom(fields.map((field) => [field, after[field]]))
    const remove = fields.filter((field) => after[field] === undefined)
    const isAsRead = all(exists, ...CHANGEABLE.map((field) => unchanged(field, before[field])))
    const steps = { client: update(clientKey(clientId), { set, remove }, isAsRead) }
    if ((await recordChange(deps, record, steps)).applied) return after
  }
  throw conflict('other changes of this client are in progress; try again')
}

/**
 * The bank details to store: with their start, and whether they replace other details or follow the
 * first credit.
 */
async function bankToStore(
  deps: StoreDeps,
  { clientId, bank: oldBank, hadBank }: Client,
  bank: BankAccount,
): Promise<Bank> {
  if (oldBank && isDeepStrictEqual({ ...oldBank, ...bank }, oldBank)) return oldBank
  const { shards } = await readLedger(deps, clientId)
  const isChange =
    oldBank !== undefined || hadBank || shards.some(({ creditedAt }) => creditedAt !== undefined)
  return { ...bank, since: deps.now(), ...(isChange && { isChange: true }) }
}

function describeBank(bank: BankAccount | undefined) {
  return bank === undefined ? 'none' : quote(`${bank.bankName} …${bank.bankAccountNo.slice(-4)}`)
}
