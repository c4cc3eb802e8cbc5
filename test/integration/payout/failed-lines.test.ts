/**
 * Goal: a row that cannot be read, or an alert that cannot be sent, stops the payout of its own
 * line alone (design section 15).
 */
import { expect, it } from 'vitest'
import { handler as payoutAnswer } from '../../../functions/admin/payout-answer.ts'
import { openNextBatch } from '../../../shared/payout/fill-batch.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { auditHeadKey, paymentKey, settlementKey } from '../../../shared/table/keys.ts'
import {
  askForFile,
  aWaitingSettlement,
  beforeBatchChanges,
  cancelFile,
  dyingFileOf,
  fileOf,
  twoInABatch,
} from '../../support/batch-builders.ts'
import { aFinding } from '../../support/money-rows.ts'
import { invokeWhole, OPERATOR } from '../../support/operator-actions.ts'
import { anOpenPayment } from '../../support/paid-builders.ts'
import { aLoneClient, fail } from '../../support/settlement-builders.ts'
import { alter, putRaw } from '../../support/tampering.ts'
import { memoryDeps, type TestDeps } from '../../support/test-deps.ts'

const UNREADABLE = { net_minor: 'much' }

/** More settlements than are written down at once, and the bank's line of each. */
async function anAnsweredFile() {
  const deps = memoryDeps()
  const settlements: Settlement[] = []
  for (let made = 0; made < 10; made++) settlements.push(await aWaitingSettlement(deps))
  await fileOf(deps)
  const lines = settlements.map(({ settlementId, netMinor, bank }, at) => ({
    line: at + 2,
    settlement_id: settlementId,
    amount_minor: netMinor,
    bank_account_no: bank?.bankAccountNo,
    outcome: 'paid',
    bank_reference: `TRX${at}`,
  }))
  const [first] = settlements
  if (first === undefined) throw new Error('nothing was made')
  const others = lines.slice(1).map(() => ({ result: 'done' }))
  return { deps, first, lines, others }
}

const FAILED = { result: 'refused', reason: expect.stringContaining('the line failed') as unknown }

function failedLines({ lines }: TestDeps) {
  return lines.filter(({ code }) => code === 'payout.line_failed')
}

it('an unreadable settlement refuses its line of the answer, and the others are paid', async () => {
  const { deps, first, lines, others } = await anAnsweredFile()
  await alter(deps, settlementKey(first.settlementId), UNREADABLE)

  const { status, body } = await invokeWhole(payoutAnswer, deps, { operator: OPERATOR, lines })

  expect([status, body]).toMatchObject([
    200,
    { done: 9, failed: 0, refused: 1, lines: [{ result: 'refused' }, ...others] },
  ])
})

it('an alert that cannot be sent refuses its line alone, and is sent by the next try', async () => {
  const { deps, first, lines, others } = await anAnsweredFile()
  await fail(deps, first)
  const publish = () => Promise.reject(new Error('the topic does not answer'))
  const answer = (to: TestDeps) => invokeWhole(payoutAnswer, to, { operator: OPERATOR, lines })

  const silent = await answer({ ...deps, alerts: { publish } })
  expect(failedLines(deps)).toStrictEqual([
    { level: 'error', code: 'payout.line_failed', fields: { settlement_id: first.settlementId } },
  ])
  const again = await answer(deps)

  expect(silent.body).toMatchObject({ done: 9, refused: 1, lines: [FAILED, ...others] })
  expect(again.body).toMatchObject({ done: 9, refused: 1 })
  expect(deps.published).toMatchObject([{ kind: 'payout.after_difference' }])
})

it.each([
  ['open', UNREADABLE],
  ['cancelled', { settlement_id: crypto.randomUUID() }],
] as const)(
  'an unreadable settlement of a batch that a crash left open stops no payout: %s',
  async (state, change) => {
    const deps = memoryDeps()
    const broken = await aWaitingSettlement(deps)
    const payout = { settlement: broken, figures: {}, approval: undefined }
    const payouts = [{ ...payout, conditions: {} as never }]
    await openNextBatch(deps, undefined, { payouts, operator: OPERATOR })
    await alter(deps, settlementKey(broken.settlementId), change)
    const other = await aWaitingSettlement(deps)

    const ended = state === 'open' ? await askForFile(deps) : await cancelFile(deps, 1)

    expect([ended.status, ended.body]).toMatchObject([200, { batch: { number: 1 } }])
    expect((await askForFile(deps)).body).toMatchObject({
      batch: { number: 2, count: 1, total_minor: other.netMinor },
      left_out: [
        {
          settlement_id: broken.settlementId,
          client_id: broken.clientId,
          amount_minor: null,
          reason: expect.stringContaining('cannot be read') as unknown,
          command: expect.stringContaining(
            `audit-ledger --client_id ${broken.clientId}`,
          ) as unknown,
        },
      ],
    })
  },
)

it('the file of a ready batch is refused if a settlement of it cannot be read', async () => {
  const { deps, first } = await anAnsweredFile()
  await alter(deps, settlementKey(first.settlementId), UNREADABLE)

  expect(await askForFile(deps, { batch: 1 })).toMatchObject(CHANGED)
})

it('a batch that another operator makes ready meanwhile gives no file without that settlement', async () => {
  const { deps, paid } = await twoInABatch(dyingFileOf)
  const raced = beforeBatchChanges(deps, async () => {
    await fileOf(deps)
    await alter(deps, settlementKey(paid.settlementId), UNREADABLE)
  })

  expect(await askForFile(raced, { batch: 1 })).toMatchObject(CHANGED)
})

const CHANGED = { status: 409, body: { message: 'the lines of batch 1 are not what they were' } }

it('a settlement that cannot be judged or claimed is left out, and the others are paid', async () => {
  const deps = memoryDeps()
  const broken = await aWaitingSettlement(deps)
  const other = await aWaitingSettlement(deps)
  await putRaw(deps, { ...auditHeadKey(broken.settlementId), number: 'many' })

  expect(await fileOf(deps)).toMatchObject({
    ids: [other.settlementId],
    leftOut: [{ settlement_id: broken.settlementId }],
  })
})

it('an unreadable payment that a finding names is a finding of its client’s payouts', async () => {
  const { deps, client } = await aLoneClient()
  const named = await aWaitingSettlement(deps, {}, client)
  const payment = await anOpenPayment(deps, client)
  const { paymentId: subject } = payment
  await aFinding(deps, { subject, payment })
  await alter(deps, paymentKey(subject), UNREADABLE)
  const other = await aWaitingSettlement(deps)

  const { status, ids, leftOut } = await fileOf(deps)

  expect([status, ids]).toStrictEqual([200, [other.settlementId]])
  expect(leftOut).toMatchObject([
    {
      settlement_id: named.settlementId,
      reason: expect.stringContaining('"findings":1') as unknown,
    },
  ])
})
