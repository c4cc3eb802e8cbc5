import * as v from 'valibot'
import type { AuditRecord } from '../operator/audit-record-store.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../time.ts'
import { type Difference, differs } from './difference.ts'

/** The bank details of a client from a time on, as its audit records have them: what they may say, the latest last. */
type Registration = { readonly at: Timestamp; readonly accounts: readonly string[]; readonly plain: string }

const BankRecord = v.object({
  bank: v.nullable(
    v.object({
      bank_name: v.string(),
      bank_account_no: v.string(),
      bank_account_name: v.string(),
    }),
  ),
  bank_since: v.optional(v.nullable(v.string())),
  bank_replaced: v.optional(v.boolean()),
})

const NO_ACCOUNT = 'none'
type Entered = { readonly since?: string | null | undefined; readonly replaces?: boolean | undefined }
const accountText = (name: string, number: string, holder: string, { since, replaces }: Entered) =>
  `${name} ${number} ${holder}${since ? ` since ${since}` : ''}${replaces ? ', not the first' : ''}`

const accountOf = ({ bank }: Settlement): string =>
  bank ? accountText(bank.bankName, bank.bankAccountNo, bank.bankAccountName, bank) : NO_ACCOUNT

/** Those of a chain in its own order, which machines' clocks need not keep; those of older releases where they stand. */
const inOrder = (records: readonly AuditRecord[]): readonly AuditRecord[] => {
  const chain = records
    .filter(isChained)
    .toSorted((a, b) => (a.number ?? 0) - (b.number ?? 0))
    .values()
  return records.map((record) => (isChained(record) ? (chain.next().value ?? record) : record))
}

const isChained = ({ number }: AuditRecord): boolean => number !== undefined

/**
 * Every account a client was ever registered with, oldest first. A record of the release before says nothing of since
 * when its account is there: that is as it was where the account stayed, and gone where somebody entered it again.
 */
export const registeredAccounts = (records: readonly AuditRecord[]): readonly Registration[] => {
  const registered: Registration[] = []
  for (const { at: written, number, after } of inOrder(records)) {
    const record = v.safeParse(BankRecord, after)
    if (!record.success) continue
    const { bank, bank_since: since, bank_replaced: replaces } = record.output
    const text = (entered: Entered) =>
      bank ? accountText(bank.bank_name, bank.bank_account_no, bank.bank_account_name, entered) : NO_ACCOUNT
    const plain = text({})
    const last = registered.at(-1)
    // A clock that is behind puts no change before the one that it follows.
    const at = number !== undefined && last && written <= last.at ? addMs(last.at, 1) : written
    const kept = since === undefined && last?.plain === plain ? last.accounts : []
    registered.push({ at, accounts: [...kept, text({ since, replaces })], plain })
  }
  return registered
}

/** A settlement reads its client shortly before it is recorded; and machines' clocks differ a little. */
const READ_BEFORE_MS = 15 * MINUTE_MS
const SKEW_MS = MINUTE_MS

/** A settlement is paid out to an account its client was registered with when it was recorded, and to no other. */
export const auditBank = (settlement: Settlement, registered: readonly Registration[]): readonly Difference[] => {
  const { settlementId: id, createdAt } = settlement
  const from = addMs(createdAt, -READ_BEFORE_MS)
  const until = addMs(createdAt, SKEW_MS)
  // Of two records of one millisecond nobody knows the order: both count.
  const endOf = (start: Timestamp) => registered.find(({ at }) => at > start)?.at ?? until
  const inForce = registered.filter(({ at }) => at <= until && endOf(at) >= from)
  const expected = inForce.at(-1)
  const found = accountOf(settlement)
  // One that the release before recorded says nothing of since when its details are there.
  if (expected === undefined || inForce.some(({ accounts, plain }) => plain === found || accounts.includes(found)))
    return []
  return differs('settlement.bank', id, expected.accounts.at(-1) ?? expected.plain, found)
}
