/**
 * Goal: a line that the bank answers as failed proves that the bank has the file, as a paid line
 * does: the other payouts of its batch enter no other file (design section 15).
 */
import { expect, it } from 'vitest'
import { auditBatches } from '../../../shared/audit/judged/audit-batches.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { batchKey } from '../../../shared/table/keys.ts'
import { answerLine, aWaitingSettlement, cancelFile, fileOf } from '../../support/batch-builders.ts'
import { fail } from '../../support/settlement-builders.ts'
import { interceptTable, memoryDeps, type TestDeps, writtenKeys } from '../../support/test-deps.ts'

async function twoInABatch() {
  const deps = memoryDeps()
  const [refused, other] = [await aWaitingSettlement(deps), await aWaitingSettlement(deps)]
  await fileOf(deps)
  return { deps, refused, other }
}

function answerFailed(deps: TestDeps, settlement: Settlement) {
  return answerLine(deps, settlement, { outcome: 'failed', reason: 'account closed', batch: 1 })
}

function alertsOf(deps: TestDeps) {
  return deps.published.filter(({ kind }) => kind === 'payout.after_difference')
}

const FAILED = { body: { failed: 1 } }

it('a batch is not cancelled once the bank has answered that a line of it failed', async () => {
  const { deps, refused, other } = await twoInABatch()
  expect(await answerFailed(deps, refused)).toMatchObject(FAILED)
  expect(await answerFailed(deps, refused)).toMatchObject(FAILED)

  expect(await cancelFile(deps, 1)).toMatchObject({
    status: 422,
    body: { message: 'batch 1 cannot be cancelled: the bank has answered to its file' },
  })
  expect((await fileOf(deps)).ids).not.toContain(other.settlementId)
  expect(await auditBatches(deps)).toStrictEqual([])
  expect(await findAnySettlement(deps, refused.settlementId)).toMatchObject({
    status: 'failed',
    notes: 'account closed',
  })
})

it('all failed lines of one answer are written down, and mark their batch once', async () => {
  const { deps, refused, other } = await twoInABatch()

  const answers = await Promise.all([refused, other].map((one) => answerFailed(deps, one)))

  expect(answers).toMatchObject([FAILED, FAILED])
  expect(await auditBatches(deps)).toStrictEqual([])
})

it.each(['paid', 'failed'] as const)(
  'a batch is not cancelled once the bank has answered %s to a line that is marked failed',
  async (outcome) => {
    const { deps, refused, other } = await twoInABatch()
    await fail(deps, refused)
    await answerLine(deps, refused, { outcome, bank_reference: 'BCA17', reason: 'account closed' })

    expect(await cancelFile(deps, 1)).toMatchObject({ status: 422 })
    expect((await fileOf(deps)).ids).not.toContain(other.settlementId)
  },
)

it('a batch is cancelled after an operator has marked a payout of it failed', async () => {
  const { deps, refused, other } = await twoInABatch()
  await fail(deps, refused)

  expect(await cancelFile(deps, 1)).toMatchObject({ status: 200 })
  expect((await fileOf(deps)).ids).toStrictEqual([other.settlementId])
})

it('a failed line of a cancelled batch is told, and its other payouts are left out', async () => {
  const { deps, refused, other } = await twoInABatch()
  await cancelFile(deps, 1)

  expect(await answerFailed(deps, refused)).toMatchObject(FAILED)
  expect(await answerFailed(deps, refused)).toMatchObject(FAILED)

  const message = expect.stringContaining('failed in the file of batch 1, but') as unknown
  expect(alertsOf(deps)).toMatchObject([{ subject: refused.settlementId, message }])
  expect(await fileOf(deps)).toMatchObject({
    ids: [],
    leftOut: [{ settlement_id: other.settlementId }],
  })
  expect(await auditBatches(deps)).toStrictEqual([])
})

it('a failed line and a cancellation at the same time free no payout of the file', async () => {
  const { deps, refused, other } = await twoInABatch()
  let done = false
  const racing = interceptTable(deps, {
    before: async (call) => {
      if (done || !writtenKeys([call]).some(({ pk }) => pk === batchKey(1).pk)) return
      done = true
      await cancelFile(deps, 1)
    },
  })

  expect(await answerFailed(racing, refused)).toMatchObject(FAILED)

  expect(alertsOf(deps)).toMatchObject([{ subject: refused.settlementId }])
  expect((await fileOf(deps)).ids).not.toContain(other.settlementId)
})
