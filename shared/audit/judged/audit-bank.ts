import * as v from 'valibot'
import type { AuditRecord } from '../../operator/audit-record-store.ts'
import type { Settlement } from '../../settlement/settlement.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../../time.ts'
import { type Difference, differs } from '../../verdict/difference.ts'

/** The bank details of a client from a time on, as an audit record shows them. */
type Registration = { readonly at: Timestamp; readonly account: string }

const BankRecord = v.object({
  bank: v.nullable(
    v.object({
      bank_name: v.string(),
      bank_account_no: v.string(),
      bank_account_name: v.string(),
    }),
  ),
  bank_since: v.nullable(v.string()),
  bank_is_change: v.boolean(),
})

const NO_ACCOUNT = 'none'
type Entered = { readonly since: string | null; readonly isChange?: boolean | undefined }
const accountText = (name: string, number: string, holder: string, { since, isChange }: Entered) =>
  `${name} ${number} ${holder} since ${since}${isChange ? ', a change' : ''}`

const accountOf = ({ bank }: Settlement): string =>
  bank ? accountText(bank.bankName, bank.bankAccountNo, bank.bankAccountName, bank) : NO_ACCOUNT

/** All accounts that a client was registered with, oldest first, in the order of the chain, because clocks differ. */
export const registeredAccounts = (records: readonly AuditRecord[]): readonly Registration[] => {
  const registered: Registration[] = []
  for (const { at: written, after } of records.toSorted((a, b) => a.number - b.number)) {
    const record = v.safeParse(BankRecord, after)
    if (!record.success) continue
    const { bank, bank_since: since, bank_is_change: isChange } = record.output
    const account = bank
      ? accountText(bank.bank_name, bank.bank_account_no, bank.bank_account_name, { since, isChange })
      : NO_ACCOUNT
    const last = registered.at(-1)
    // A clock that is behind puts no change before its predecessor.
    registered.push({ at: last && written <= last.at ? addMs(last.at, 1) : written, account })
  }
  return registered
}

/** A settlement reads its client shortly before it is recorded, and clocks differ a little. */
const READ_BEFORE_MS = 15 * MINUTE_MS
const SKEW_MS = MINUTE_MS

/** A settlement is paid out to an account that its client was registered with when it was recorded. */
export const auditBank = (settlement: Settlement, registered: readonly Registration[]): readonly Difference[] => {
  const { settlementId: id, createdAt } = settlement
  const from = addMs(createdAt, -READ_BEFORE_MS)
  const until = addMs(createdAt, SKEW_MS)
  // Two records of one millisecond have no order: both count.
  const endOf = (start: Timestamp) => registered.find(({ at }) => at > start)?.at ?? until
  const inForce = registered.filter(({ at }) => at <= until && endOf(at) >= from)
  const expected = inForce.at(-1)
  const found = accountOf(settlement)
  if (expected === undefined || inForce.some(({ account }) => account === found)) return []
  return differs('settlement.bank', id, expected.account, found)
}
