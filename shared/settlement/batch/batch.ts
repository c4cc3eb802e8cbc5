import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { SettlementIdSchema } from '../../ids.ts'
import { MinorSchema } from '../../money.ts'
import { TimestampSchema } from '../../time.ts'
import type { Settlement } from '../settlement.ts'

/** The settlements of one payout file (design section 15). */
export const BatchSchema = v.object({
  /** Counted from 1 without a gap, as the records of the register of batches. */
  number: v.number(),
  /** `open`: its settlements are being claimed. `ready`: its lines never change again. */
  state: v.picklist(['open', 'ready', 'cancelled']),
  /** Open: the settlements to be claimed. Ready: the settlements of its lines, in their order. */
  settlementIds: v.array(SettlementIdSchema),
  /** The sum of its lines, from `ready` on. */
  totalMinor: v.optional(MinorSchema),
  /** The digest of its lines, from `ready` on. */
  digest: v.optional(v.string()),
  /** When the bank was first known to have answered to its file. */
  usedAt: v.optional(TimestampSchema),
  createdAt: TimestampSchema,
})
export type Batch = v.InferOutput<typeof BatchSchema>

/** The bank takes no longer files, and one item of the table holds so many ids. */
export const MOST_LINES = 5_000

/** The subject of the register's records: a chain with one record for each batch. */
export const BATCHES_SUBJECT = 'batches'

/** The subject of the records of one batch after it was opened. */
export function batchSubject(number: number): string {
  return `batch:${number}`
}

/**
 * Whether the bank may pay the settlement because of this batch. A cancelled batch holds its
 * settlements again when the bank has answered to its file.
 */
export function holds(batch: Batch, settlement: Named): boolean {
  return (batch.state !== 'cancelled' || batch.usedAt !== undefined) && mayList(batch, settlement)
}

/** A cancelled batch whose row was lost lists nothing: its file may have any settlement. */
export function mayList({ state, settlementIds }: Batch, { settlementId }: Named): boolean {
  const isLost = state === 'cancelled' && settlementIds.length === 0
  return isLost || settlementIds.includes(settlementId)
}

type Named = Pick<Settlement, 'settlementId'>

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
  const text = lines.map((line) => JSON.stringify(Object.values(line)))
  return createHash('sha256').update(text.join('\n')).digest('hex')
}
