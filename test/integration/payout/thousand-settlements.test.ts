/**
 * Goal: approvals, file and answer of 1,000 settlements take at most five minutes together. Method:
 * each request of the table takes twenty milliseconds of the test's clock, in which others run, as
 * on AWS. `npm test` pays a part of them, in its share of the time.
 */
import { expect, it } from 'vitest'
import { approve } from '../../../shared/operator/approve.ts'
import { answerPayouts } from '../../../shared/payout/answer-payouts.ts'
import { payoutFile } from '../../../shared/payout/payout-file.ts'
import { settlementsIn } from '../../../shared/settlement/batch/batch-store.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { aWaitingSettlement } from '../../support/batch-builders.ts'
import { isNightly } from '../../support/runs.ts'
import { BANK, BY_OPERATOR } from '../../support/settlement-builders.ts'
import { interceptTable, memoryDeps } from '../../support/test-deps.ts'
import { APPROVER } from '../../support/with-approval.ts'

const COUNT = isNightly ? 1_000 : 20
const LINES_OF_CALL = 100
const REQUEST_MS = 20
const MOST_MS = (5 * 60_000 * COUNT) / 1_000

it('1,000 settlements are approved, written to a file and answered within five minutes', async () => {
  const made = memoryDeps()
  const settlements: Settlement[] = []
  for (let number = 1; number <= COUNT; number++)
    settlements.push(await aWaitingSettlement(made, { bank: { ...BANK, isChange: true } }))
  const deps = interceptTable(made, { before: () => made.sleep(REQUEST_MS) })
  const began = deps.monotonicMs()

  for (const { settlementId: settlement_id } of settlements) {
    const payload = { settlement_id, new_bank: `${BANK.bankName} ${BANK.bankAccountNo}` }
    await approve(deps, { action: 'mark-settlement-paid', payload, operator: APPROVER })
  }
  const file = await payoutFile(deps, { ...BY_OPERATOR, format: 'csv' })
  const lines = settlements.map((settlement, at) => ({
    line: at + 2,
    settlement_id: settlement.settlementId,
    amount_minor: settlement.netMinor,
    bank_account_no: BANK.bankAccountNo,
    outcome: 'paid' as const,
    bank_reference: `BCA ${at}`,
  }))
  let done = 0
  for (let at = 0; at < lines.length; at += LINES_OF_CALL) {
    const asked = { operator: 'sari', lines: lines.slice(at, at + LINES_OF_CALL) }
    done += (await answerPayouts(deps, asked)).done
  }
  const elapsedMs = deps.monotonicMs() - began

  expect(file).toMatchObject({ batch: { number: 1, count: COUNT }, left_out: [] })
  expect(done).toBe(COUNT)
  const settlementIds = settlements.map(({ settlementId }) => settlementId)
  const paid = await settlementsIn(made, { settlementIds })
  expect(paid.filter(({ status }) => status === 'manual_paid')).toHaveLength(COUNT)
  expect(elapsedMs).toBeLessThan(MOST_MS)
})
