import * as v from 'valibot'
import { SettlementIdSchema, sha256Hex } from '../../ids.ts'
import type { Minor } from '../../money.ts'
import type { AuditHead } from '../../operator/audit-record-store.ts'
import { type Timestamp, TimestampSchema } from '../../time.ts'
import type { Settlement } from '../settlement.ts'

/** The list of a batch in the table. Its records say all else of it (design section 15). */
export const BatchSchema = v.object({
  /** Counted from 1 without a gap, as the records of the register of batches. */
  number: v.number(),
  /**
   * Open: the settlements to be claimed. Ready: the settlements of its lines, in their order.
   * Absent: the list was lost.
   */
  settlementIds: v.optional(v.array(SettlementIdSchema)),
  createdAt: TimestampSchema,
})
export type BatchRow = v.InferOutput<typeof BatchSchema>

/** A batch as its records say, with the list of its row if the records confirm the list. */
export type Batch = Partial<BatchRow> & {
  readonly number: number
  /** `open`: its settlements are being claimed. `ready`: its lines never change again. */
  readonly state: 'open' | 'ready' | 'cancelled'
  /** When the bank was first known to have its file. */
  readonly usedAt?: Timestamp | undefined
  /** The sum of its lines, from `ready` on. */
  readonly totalMinor?: Minor | undefined
  /** The digest of its lines, from `ready` on. */
  readonly digest?: string | undefined
  /** Its records are no complete chain: one of a use may be lost. */
  readonly isBroken: boolean
  /** The head of the records: a change that is decided by them needs it unchanged. */
  readonly last: AuditHead | undefined
}

/** The bank takes no longer files, and one item of the table holds so many ids. */
export const MOST_LINES = 5_000

/** The subject of the register's records: a chain with one record for each batch. */
export const BATCHES_SUBJECT = 'batches'

/** The subject of the records of one batch after it was opened. */
export function batchSubject(number: number): string {
  return `batch:${number}`
}

/** The record of a change that is decided by the batch's records: later ones refuse it. */
export function batchRecord(
  { number, last }: Pick<Batch, 'number' | 'last'>,
  operator: string,
  action: string,
  after: object,
) {
  const subject = batchSubject(number)
  return { subject, clientId: undefined, operator, action, head: { last }, after }
}

/**
 * Whether the bank may pay its settlements because of this batch: a cancelled batch is live again
 * when the bank is known to have its file, or its records do not say whether it has.
 */
export function isLive({ state, usedAt, isBroken }: Batch): boolean {
  return state !== 'cancelled' || usedAt !== undefined || isBroken
}

export const ANSWER_HINT =
  "payout-answer writes down the bank's answer to its file. What the bank did not pay, " +
  'mark-settlement-failed closes.'

export function cancelHint(number: number) {
  return `payout-file --cancel ${number} is for a file that no bank was given.`
}

/** A payout as every file of the batch shows it. */
export type PayoutLine = {
  readonly line: number
  readonly settlement_id: string
  readonly client_id: string
  readonly amount: number
  readonly bank_code: string
  readonly bank_account_no: string
  readonly bank_account_name: string
}

/** What the lines are made of never changes while the batch is live. */
export function payoutLines(settlements: readonly Settlement[]): readonly PayoutLine[] {
  return settlements.map(({ settlementId, clientId, netMinor, bank }, at) => ({
    line: at + 1,
    settlement_id: settlementId,
    client_id: clientId,
    amount: netMinor,
    bank_code: bank?.bankName ?? '',
    bank_account_no: bank?.bankAccountNo ?? '',
    bank_account_name: bank?.bankAccountName ?? '',
  }))
}

export function digestOfLines(lines: readonly PayoutLine[]): string {
  return digestOf(lines.map((line) => JSON.stringify(Object.values(line))))
}

export function digestOf(texts: readonly string[]): string {
  return sha256Hex(texts.join('\n'))
}
