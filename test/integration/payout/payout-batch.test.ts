import { expect, it } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { auditBatches } from '../../../shared/audit/judged/audit-batches.ts'
import { answerPayouts } from '../../../shared/payout/answer-payouts.ts'
import { fillBatch, openNextBatch } from '../../../shared/payout/fill-batch.ts'
import { judgePayout, type Payout } from '../../../shared/payout/judge-payouts.ts'
import { payoutFile } from '../../../shared/payout/payout-file.ts'
import { recountLedger } from '../../../shared/recount/recount-ledger.ts'
import { batchSubject } from '../../../shared/settlement/batch/batch.ts'
import { settlementsIn } from '../../../shared/settlement/batch/batch-store.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { auditHeadKey, batchKey, settlementKey } from '../../../shared/table/keys.ts'
import {
  afterLinesAreRead,
  aLonePayout,
  answerLine,
  askForFile,
  aWaitingSettlement,
  beforeBatchChanges,
  cancelFile,
  dyingFileOf,
  expectFile,
  fileOf,
  lineOf,
  twoInABatch,
} from '../../support/batch-builders.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import { invokeWhole, OPERATOR } from '../../support/operator-actions.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { isNightly } from '../../support/runs.ts'
import { BANK, BY_OPERATOR, fail, payOut } from '../../support/settlement-builders.ts'
import { alter, alterSettlement } from '../../support/tampering.ts'
import {
  afterFirst,
  beforeCommit,
  beforeFirst,
  interceptTable,
  memoryDeps,
  type TableCall,
  type TestDeps,
  withoutTopic,
  writesTo,
} from '../../support/test-deps.ts'
import { accept, approvePayout } from '../../support/with-approval.ts'

function pay(deps: TestDeps, settlementId: string) {
  const asked = { operator: OPERATOR, settlement_id: settlementId, bank_reference: 'bca 17' }
  return invokeWhole('mark-settlement-paid', deps, asked)
}

async function anApprovedSettlement() {
  const deps = memoryDeps()
  const settlement = await aWaitingSettlement(deps, { bank: { ...BANK, isChange: true } })
  await approvePayout(deps, settlement, { new_bank: 'BCA 0012345678' })
  return { deps, settlement }
}

async function aBatchedSettlement() {
  const approved = await anApprovedSettlement()
  await fileOf(approved.deps)
  return approved
}

it('a settlement of a live batch is marked paid with the approval that its claim used', async () => {
  const { deps, settlement } = await aBatchedSettlement()

  expect(await pay(deps, settlement.settlementId)).toMatchObject({
    status: 200,
    body: { status: 'manual_paid', bank_reference: 'BCA17', batch: 1 },
  })
  expect(deps.published).toStrictEqual([])
  await expectBalanced(deps, settlement)
})

it('what the bank did is written down though the gate refuses by then, with one alert', async () => {
  const { deps, settlement } = await aBatchedSettlement()
  const { settlementId: id } = settlement
  const changeDigest = (digest: string) => alter(deps, settlementKey(id), { digest })
  await changeDigest('1')
  // Whether the gate refuses is not known.
  const isOfGate = (call: TableCall) => JSON.stringify(call).includes('VERDICT#gateway')
  const broken = beforeFirst(deps, isOfGate, () => Promise.reject(new Error('no table')))
  for (const failing of [broken, withoutTopic(deps)])
    expect(await pay(failing, id)).toMatchObject({ status: 500 })
  const raced = beforeCommit(deps, () => changeDigest('2'))

  expect(await pay(raced, id)).toMatchObject({ status: 200 })

  expect(deps.published).toMatchObject([{ kind: 'payout.after_difference', subject: id }])
})

it('a batch gives its file again when finance has accepted what differs in it', async () => {
  const { deps, settlement } = await aBatchedSettlement()
  const { settlementId, clientId } = settlement
  await alterSettlement(deps, { settlementId }, { payment_count: 9 })
  expect(await askForFile(deps, { batch: 1 })).toMatchObject({ status: 422 })
  for (const difference of (await auditLedger(deps, clientId)).differences)
    await accept(deps, difference, clientId)

  expect(await askForFile(deps, { batch: 1 })).toMatchObject({ status: 200 })
})

it('a settlement that enters a batch before its payout commits needs nothing again', async () => {
  const { deps, settlementId } = await aLonePayout()
  const claimed = beforeCommit(deps, () => askForFile(deps))

  expect(await pay(claimed, settlementId)).toMatchObject({ status: 200, body: { batch: 1 } })
})

it.each([
  ['pays', payOut],
  ['marks failed', fail],
])('a file has no line that an operator %s while its batch is made ready', async (_, close) => {
  const { deps, paid, other } = await twoInABatch(dyingFileOf)

  for (const [one, before] of [
    [paid, beforeBatchChanges],
    [other, afterLinesAreRead],
  ] as const) {
    const raced = before(deps, () => close(deps, one))
    expect(await fileOf(raced)).toMatchObject({ status: 409, ids: [] })
  }

  await expectFile(deps, { batch: { number: 1, state: 'ready' }, ids: [] })
})

it('a batch that is made ready while its cancellation reads it is not cancelled', async () => {
  const { deps, paid } = await twoInABatch(dyingFileOf)
  await payOut(deps, paid)
  const isRow = (call: TableCall) => call.name === 'get' && call.keys[0]?.pk === batchKey(1).pk
  const overtaken = afterFirst(deps, isRow, () => fileOf(deps))

  expect(await cancelFile(overtaken, 1)).toMatchObject({ status: 409 })
})

it('a file has no line of a settlement that changes after it was judged', async () => {
  const { deps, settlementId } = await aLonePayout()
  let writes = 0
  const raced = interceptTable(deps, {
    before: async ({ name }) => {
      // The open batch, and its claim.
      if (name === 'transact' && ++writes === 2) await setNet(deps, settlementId)
    },
  })

  for (const asked of [raced, deps])
    expect(await fileOf(asked)).toMatchObject({ status: 200, ids: [] })
  await alterSettlement(deps, { settlementId }, { net_minor: 0 })
  await expectFile(deps, { leftOut: [{ reason: 'there is nothing to transfer' }] })
})

it('a settlement beyond the limit of a batch is left out with its approval, for the next', async () => {
  const { deps, settlement } = await anApprovedSettlement()
  const payout = (await judgePayout(deps, settlement)) as Payout
  const other = { ...payout, settlement: await aWaitingSettlement(deps) }
  const payouts = [...Array.from({ length: 5_000 }, () => other), payout]
  const batch = await openNextBatch(deps, undefined, { payouts, operator: OPERATOR })
  expect(batch.settlementIds).toHaveLength(5_000)

  const filled = await fillBatch(deps, batch, { payouts: [payout], operator: OPERATOR })

  const reason = 'the batch was made ready without it'
  expect(filled).toMatchObject({ lines: [], leftOut: [{ reason }] })
  expect((await fileOf(deps)).ids).toContain(settlement.settlementId)
})

it('a settlement with the number of a batch that never claimed it is not paid', async () => {
  const { deps, settlementId } = await aLonePayout()
  await alterSettlement(deps, { settlementId }, { batch: 9 })

  expect(await pay(deps, settlementId)).toMatchObject({ status: 422 })
  expect((await fileOf(deps)).ids).toStrictEqual([])
})

it('the used approval of an earlier, cancelled batch covers no growth', async () => {
  const { deps, settlementId, clientId } = await aLonePayout()
  await adjustBalance(deps, { clientId }, 'correction', -100_000)
  await approvePayout(deps, { settlementId }, { owed: 100_000 })
  await fileOf(deps)
  await cancelFile(deps, 1)
  await adjustBalance(deps, { clientId }, 'recovered', 100_000)
  const grown = beforeCommit(deps, async () => {
    await adjustBalance(deps, { clientId }, 'correction', -90_000)
  })

  const died = afterFirst(grown, writesTo(auditHeadKey(batchSubject(2))), () => {
    throw new Error('the process dies')
  })

  expect(await askForFile(died)).toMatchObject({ status: 500 })

  expect(deps.published.map(({ kind }) => kind)).toContain('payout.changed')
  expect((await fileOf(deps, { batch: 2 })).ids).toStrictEqual([settlementId])
})

function setNet(deps: TestDeps, settlementId: Settlement['settlementId']) {
  return alterSettlement(deps, { settlementId }, { net_minor: 1, gross_minor: 1 })
}

it('recount leaves the sums of a settlement in a live batch, and names it', async () => {
  const { deps, settlementId, clientId, digest } = await aLonePayout()
  await fileOf(deps)
  await setNet(deps, settlementId)

  const { left } = await recountLedger(deps, { clientId, operator: OPERATOR })

  expect(left).toContainEqual({
    id: settlementId,
    why: "it is in payout batch 1: cancel the batch, or wait for the bank's answer",
  })
  expect(await findAnySettlement(deps, settlementId)).toMatchObject({ digest, netMinor: 1 })
})

/**
 * Goal: a line that the bank answers as failed proves that the bank has the file, as a paid line
 * does: the other payouts of its batch enter no other file (design section 15).
 */

function answerFailed(deps: TestDeps, settlement: Settlement) {
  return answerLine(deps, settlement, { outcome: 'failed', reason: 'account closed', batch: 1 })
}

const FAILED = { body: { failed: 1 } }

it.each([
  ['that a line of it failed', answerFailed, 'account closed'],
  ['to a line that is marked failed', fail, BY_OPERATOR.notes],
])('a batch is not cancelled once the bank has answered %s', async (_, end, notes) => {
  const { deps, paid: refused, other } = await twoInABatch()
  await end(deps, refused)
  expect(await answerFailed(deps, refused)).toMatchObject(FAILED)

  expect(await cancelFile(deps, 1)).toMatchObject({
    status: 422,
    body: { message: 'batch 1 cannot be cancelled: its file is in use' },
  })
  expect((await fileOf(deps)).ids).not.toContain(other.settlementId)
  expect(await auditBatches(deps)).toStrictEqual([])
  expect(await findAnySettlement(deps, refused.settlementId)).toMatchObject({
    status: 'failed',
    notes,
  })
})

it('all failed lines of one answer are written down, and mark their batch once', async () => {
  const { deps, paid: refused, other } = await twoInABatch()

  const answers = await Promise.all([refused, other].map((one) => answerFailed(deps, one)))

  expect(answers).toMatchObject([FAILED, FAILED])
  expect(await auditBatches(deps)).toStrictEqual([])
})

/**
 * Goal: approvals, file and answer of 1,000 settlements take at most five minutes together. Method:
 * each request of the table takes twenty milliseconds of the test's clock, in which others run, as
 * on AWS. `npm test` pays a part of them, in its share of the time.
 */
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

  for (const settlement of settlements)
    await approvePayout(deps, settlement, { new_bank: 'BCA 0012345678' })
  const file = await payoutFile(deps, { ...BY_OPERATOR, format: 'csv' })
  const lines = settlements.map((one, at) =>
    lineOf(one, { line: at + 2, outcome: 'paid', bank_reference: `BCA ${at}` }),
  )
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
