import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { auditBank, registeredAccounts } from '../../../shared/audit/judged/audit-settlement.ts'
import { type Settlement } from '../../../shared/settlement/settlement.ts'
import { addMs, MINUTE_MS, type Timestamp, TimestampSchema } from '../../../shared/time.ts'

const START = v.parse(TimestampSchema, '2026-11-02T03:00:00.000Z')
const at = (minutes: number) => addMs(START, minutes * MINUTE_MS)
const bank = { bank_name: 'BNI', bank_account_no: '99', bank_account_name: 'PT Baru' }
const other = { ...bank, bank_account_no: '00' }
const since = at(1)

/** Records of a client's changes, a day apart from each other. */
const registered = (...after: readonly object[]) =>
  registeredAccounts(after.map((fields, day) => ({ at: at(1_440 * day), number: day + 1, after: fields })) as never)

/** A settlement that is recorded an hour after the last of `changes` changes. */
const settlement = (changes: number, entered: object, accountNo = '99') =>
  ({
    settlementId: 's',
    createdAt: at(1_440 * (changes - 1) + 60),
    bank: { bankName: 'BNI', bankAccountNo: accountNo, bankAccountName: 'PT Baru', ...entered },
  }) as unknown as Settlement

const NOW = { bank, bank_since: since, bank_is_change: true }
const KEPT = { since, isChange: true }

// What it finds nothing in: `corruptions-by-hand.test.ts`, an intact table.
describe('auditBank', () => {
  it('takes the account that was entered last, even if the clock of its operator was slow', () => {
    const records = [
      { at: addMs(at(0), -MINUTE_MS), number: 2, after: NOW },
      { at: at(0), number: 1, after: { ...NOW, bank: other } },
    ]
    const accounts = registeredAccounts(records as never)

    expect(auditBank(settlement(1, KEPT), accounts)).toStrictEqual([])
    expect(auditBank(settlement(1, KEPT, '00'), accounts)).toHaveLength(1)
  })

  it('takes the accounts of a minute later and of a quarter of an hour before, no others', () => {
    const accounts = registeredAccounts([
      { at: at(0), number: 1, after: { ...NOW, bank: other } },
      { at: at(60), number: 2, after: NOW },
    ] as never)
    const found = (createdAt: Timestamp, accountNo: string) =>
      auditBank({ ...settlement(1, KEPT, accountNo), createdAt }, accounts).length

    expect([found(addMs(at(59), -1), '99'), found(at(59), '99')]).toStrictEqual([1, 0])
    expect([found(at(75), '00'), found(addMs(at(75), 1), '00')]).toStrictEqual([0, 1])
  })

  it.each([
    ['a time that no record has', settlement(2, { ...KEPT, since: at(2) }), registered(NOW, NOW)],
    ['a first account as a replacement', settlement(1, KEPT), registered({ ...NOW, bank_is_change: false })],
  ])('finds %s', (_, recorded, accounts) => {
    expect(auditBank(recorded, accounts)).toMatchObject([{ what: 'settlement.bank', id: 's' }])
  })
})
