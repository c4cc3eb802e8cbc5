import * as v from 'valibot'
import { ApiKeySchema } from '../../client/api-key-store.ts'
import { BankSchema, ClientSchema } from '../../client/client.ts'
import { ifValid } from '../../if-valid.ts'
import type { AuditRecord } from '../../operator/audit-record-store.ts'
import { type Adjustment, AdjustmentSchema } from '../../posting/adjustment-store.ts'
import { fromItem, type Item } from '../../table/attributes.ts'
import { TimestampSchema } from '../../time.ts'
import { EndpointSchema } from '../../webhook/endpoint/endpoint.ts'

/** The client as its last record says, with its number of endpoints. */
export function clientIn(records: readonly AuditRecord[]) {
  const last = lastOf(records, ['create-client', 'update-client'], () => 'client').get('client')
  const bank = bankIn(last)
  if (bank === undefined) return undefined
  const live = endpointsIn(records).filter(({ deletedAt }) => deletedAt === undefined)
  return saidAs(ClientSchema, last, {
    bank: bank ?? undefined,
    hadBank: last?.['had_bank'] === true ? true : undefined,
    endpointCount: live.length > 0 ? live.length : undefined,
  })
}

const BankRecord = v.object({
  bank: v.nullable(v.pipe(v.record(v.string(), v.unknown()), v.transform(fromItem))),
  bank_since: v.nullable(TimestampSchema),
  bank_is_change: v.boolean(),
})

/** The bank details that a record of the client says. Undefined for another record. */
export function bankIn(after: Item | undefined) {
  const said = ifValid(BankRecord, after)
  if (said === undefined) return undefined
  const { bank, bank_since: since, bank_is_change: isChange } = said
  return bank && (ifValid(BankSchema, { ...bank, since, ...(isChange && { isChange }) }) ?? null)
}

/** What a record says. A record shows an absent value as null. */
export function saidAs<const Schema extends v.GenericSchema>(
  schema: Schema,
  after: Item | undefined,
  others: Item = {},
) {
  const said = Object.entries(after ?? {}).filter(([, value]) => value !== null)
  return ifValid(schema, { ...fromItem(Object.fromEntries(said)), ...others })
}

/** What the last of these records says of each thing, in the order of the chain. */
function lastOf(
  records: readonly AuditRecord[],
  actions: readonly string[],
  idOf: (after: Item) => unknown,
) {
  return new Map(
    records.flatMap(({ action, after }) =>
      after && actions.includes(action) ? [[String(idOf(after)), after] as const] : [],
    ),
  )
}

export function keysIn(records: readonly AuditRecord[]) {
  const said = (action: string) => lastOf(records, [action], ({ key_id: id }) => id)
  const [issued, revoked] = [said('issue-api-key'), said('revoke-api-key')]
  return [...new Set([...issued.keys(), ...revoked.keys()])].flatMap((id) => {
    const revocation = revoked.get(id)
    // The record that revokes an unreadable key has its ids and its time alone.
    const after = { ...revocation, ...issued.get(id), revoked_at: revocation?.['revoked_at'] }
    return saidAs(ApiKeySchema, after) ?? []
  })
}

export function endpointsIn(records: readonly AuditRecord[]) {
  const actions = ['register-endpoint', 'update-endpoint', 'delete-endpoint']
  const endpoints = lastOf(records, actions, ({ endpoint_id: id }) => id)
  return [...endpoints.values()].flatMap((after) => saidAs(EndpointSchema, after) ?? [])
}

/** `eligibleAt` is in the entry's key and in the row of the adjustment, which is compared too. */
export function adjustmentsIn(
  clientId: Adjustment['clientId'],
  records: readonly AuditRecord[],
  items: ReadonlyMap<string, Item>,
) {
  const adjustments = lastOf(records, ['adjust-ledger'], ({ reference }) => reference)
  return [...adjustments].flatMap(([reference, after]) => {
    const eligibleAt = after['eligible_at'] ?? items.get(reference)?.['eligibleAt']
    return (
      saidAs(AdjustmentSchema, { client_id: clientId, ...after, eligible_at: eligibleAt }) ?? []
    )
  })
}
