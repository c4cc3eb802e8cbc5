/**
 * Goal: the file of a batch that a bank has is given to no bank again, and an answer that
 * contradicts the books is told at once (design section 15).
 */
import { describe, expect } from 'vitest'
import { auditBatches } from '../../../shared/audit/judged/audit-batches.ts'
import { batchSubject } from '../../../shared/settlement/batch/batch.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { auditHeadKey, batchKey, type Key } from '../../../shared/table/keys.ts'
import {
  aLonePayout,
  answerLine,
  answerPaid,
  askForFile,
  aWaitingSettlement,
  beforeBatchChanges,
  cancelFile,
  expectFile,
  expectLeftOut,
  fileOf,
  twoInABatch,
} from '../../support/batch-builders.ts'
import { fail, payOut, recredit } from '../../support/settlement-builders.ts'
import { afterFirst, beforeCommit, type TestDeps, withoutTopic } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'

const OUTCOMES = [
  ['paid', 'is paid by the file of batch 1, but'],
  ['failed', 'failed in the file of batch 1, but'],
] as const
const WRITTEN = { body: { refused: 0 } }

const it = testWith(() => twoInABatch(), 'deps', 'paid', 'other')

// Public report: eliza #11022.
it('a batch with a failed and re-credited payout gives no file again: it would pay twice', async ({
  deps,
  paid: refused,
  other,
}) => {
  await fail(deps, refused)
  await recredit(deps, refused)

  expect(await askForFile(deps, { batch: 1 })).toMatchObject({
    status: 422,
    body: {
      message: 'batch 1 is in use: 1 of its 2 payouts are paid or failed',
      action_hint: expect.stringContaining('payout-file --cancel 1 is for'),
    },
  })
  await cancelFile(deps, 1)
  expect((await fileOf(deps)).ids).toStrictEqual([other.settlementId])
})

const MISTAKEN = { outcome: 'paid', amount_minor: 1, bank_account_no: '999' }

it.for([
  { outcome: 'paid', bank_account_no: '999' },
  { outcome: 'failed', amount_minor: 93_400 },
  { ...MISTAKEN, batch: 1 },
])(
  'a batch that the bank has answered to gives no file again, though its line was refused: %j',
  async (fields, { deps, paid }) => {
    expect(await answerLine(deps, paid, fields)).toMatchObject({ body: { refused: 1 } })

    const body = { action_hint: expect.stringContaining('payout-answer') }
    expect(await askForFile(deps, { batch: 1 })).toMatchObject({ status: 422, body })
    expect(await cancelFile(deps, 1)).toMatchObject({ status: 422, body })
    const reason = 'it is in batch 1, whose file is in use'
    await expectFile(deps, { leftOut: [{ reason }, { reason }] })
  },
)

it('an answer that says failed of a paid settlement, or one debit of no batch, is refused', async ({
  deps,
  paid,
}) => {
  await answerPaid(deps, paid)
  const alone = await aWaitingSettlement(deps)

  const failed = await answerLine(deps, paid, { outcome: 'failed' })
  const debit = await answerPaid(deps, alone, { is_one_debit: true })

  expect(JSON.stringify(failed)).toContain(
    'manual_paid. It is paid out, which is final. return-payout',
  )
  expect(JSON.stringify(debit)).toContain('it is in no batch')
})

it('a batch gives its file again after a line that names its payout by mistake', async ({
  deps,
  paid,
}) => {
  expect(await answerLine(deps, paid, MISTAKEN)).toMatchObject({ body: { refused: 1 } })

  expect(await askForFile(deps, { batch: 1 })).toMatchObject({ status: 200 })
})

it.for([
  ['is cancelled', (deps: TestDeps) => cancelFile(deps, 1), 409],
  ['has a payout that is marked failed', fail, 422],
] as const)(
  'a batch that %s during its comparison gives no file',
  async ([, act, status], { deps, paid }) => {
    const raced = afterFirst(
      deps,
      (call) => JSON.stringify(call).includes('JOURNAL#'),
      () => act(deps, paid),
    )

    expect(await askForFile(raced, { batch: 1 })).toHaveProperty('status', status)
  },
)

it.each([
  ['failed', fail, { refused: 1, lines: [{ reason: expect.stringContaining('Do not run') }] }],
  ['paid', answerPaid, { done: 1 }],
])(
  'an answer that says paid, while an operator marks the settlement %s, is judged again',
  async (_, act, body) => {
    const { deps, ...settlement } = await aLonePayout()
    const raced = beforeCommit(deps, () => act(deps, settlement))

    expect(await answerPaid(raced, settlement)).toMatchObject({ body })
  },
)

function leftOut({ settlementId }: Settlement) {
  return {
    settlement_id: settlementId,
    reason: 'it is in batch 1, which was cancelled, but the bank has answered to its file',
  }
}

function usesOf(deps: TestDeps) {
  return deps.published.filter(({ kind }) => kind === 'payout.after_difference')
}

async function expectTold(deps: TestDeps, paid: Settlement, other: Settlement) {
  expect(usesOf(deps)).toMatchObject([{ subject: paid.settlementId }])
  await expectFile(deps, { ids: [], leftOut: [leftOut(other)] })
}

describe('a cancelled batch of which the bank has answered a line', () => {
  it.for(OUTCOMES)(
    'is told, and its other payouts are left out: %s',
    async ([outcome, words], { deps, paid, other }) => {
      await cancelFile(deps, 1)
      await answerPaid(withoutTopic(deps), paid, { outcome })

      for (const fields of [{}, { batch: 1 }])
        expect(await answerPaid(deps, paid, { outcome, ...fields })).toMatchObject(WRITTEN)

      await expectTold(deps, paid, other)
      expect(usesOf(deps)[0]?.message).toContain(words)
      expect(await auditBatches(deps)).toStrictEqual([])

      await fail(deps, other)
      await expectFile(deps, { ids: [], leftOut: [] })
    },
  )

  it('is told when a later batch has the payout, whose file is not given again, and which frees nothing', async ({
    deps,
    paid,
    other,
  }) => {
    await cancelFile(deps, 1)
    expect((await fileOf(deps)).ids).toHaveLength(2)
    expect(await askForFile(deps, { batch: 2 })).toMatchObject({ status: 200 })

    expect(await answerPaid(deps, paid, { batch: 1 })).toMatchObject({
      body: { lines: [{ reason: 'it is in batch 2, and the file is of batch 1.' }] },
    })

    await answerPaid(deps, other, { batch: 1 })

    const hint = expect.stringContaining('payout-file --cancel 2')
    const told = [paid, other].map(({ settlementId }) => ({ subject: settlementId, message: hint }))
    expect(usesOf(deps)).toMatchObject(told)
    const message = expect.stringContaining('batch 1, whose file may be at the bank')
    expect(await askForFile(deps, { batch: 2 })).toMatchObject({
      status: 422,
      body: { message, action_hint: hint },
    })
    await cancelFile(deps, 2)
    await expectFile(deps, { ids: [], leftOut: [leftOut(paid), leftOut(other)] })
  })

  it('is not told by an answer that names a batch without the payout, or by a transfer that an operator made by hand', async ({
    deps,
    paid,
    other,
  }) => {
    await cancelFile(deps, 1)
    const late = await aWaitingSettlement(deps)

    expect(await answerPaid(deps, late, { batch: 1 })).toMatchObject({ body: { refused: 1 } })
    await payOut(deps, paid)

    expect(usesOf(deps)).toStrictEqual([])
    expect((await fileOf(deps)).ids).toStrictEqual([other.settlementId, late.settlementId])
  })
})

function afterBatchIsRead(deps: TestDeps, other: () => Promise<unknown>) {
  return afterFirstRead(deps, batchKey(1), other)
}

function afterFirstRead(deps: TestDeps, { pk }: Key, other: () => Promise<unknown>) {
  return afterFirst(deps, (call) => call.name === 'get' && call.keys[0]?.pk === pk, other)
}

describe('the bank’s answer and a cancellation at the same time', () => {
  it.for([
    ['first', beforeBatchChanges, { status: 409 }],
    // Which is no broken chain.
    [
      'between head and records',
      (deps: TestDeps, other: () => Promise<unknown>) =>
        afterFirstRead(deps, auditHeadKey(batchSubject(1)), other),
      { body: { message: 'batch 1 cannot be cancelled: its file is in use' } },
    ],
  ] as const)(
    'cancel nothing when the payout is written %s',
    async ([, racing, refused], { deps, paid, other }) => {
      const raced = racing(deps, () => answerPaid(deps, paid))

      expect(await cancelFile(raced, 1)).toMatchObject(refused)

      await expectLeftOut(deps, other)
    },
  )

  it.for([
    ['first', beforeBatchChanges],
    ['after the answer has looked at the batch', afterBatchIsRead],
  ] as const)(
    'are told when the cancellation is written %s',
    async ([, racing], { deps, paid, other }) => {
      const raced = racing(deps, () => cancelFile(deps, 1))

      expect(await answerPaid(raced, paid)).toMatchObject(WRITTEN)

      await expectTold(deps, paid, other)
    },
  )
})

it.for([
  ['cancelled', (deps: TestDeps) => cancelFile(deps, 1), 409],
  ['answered', (deps: TestDeps, paid: Settlement) => answerPaid(deps, paid), 422],
] as const)(
  'a batch %s after its lines were read gives no file',
  async ([, act, status], { deps, paid }) => {
    const racing = afterFirst(
      deps,
      ({ name }) => name === 'batchGet',
      () => act(deps, paid),
    )

    expect(await askForFile(racing, { batch: 1 })).toMatchObject({ status })
  },
)

it('a batch that is found used while the next file is made keeps its payouts out of that file', async ({
  deps,
  paid,
  other,
}) => {
  await cancelFile(deps, 1)
  // After the payouts were judged, and before they are claimed.
  const racing = beforeCommit(deps, async () => {
    await answerPaid(deps, paid, { batch: 1 })
  })

  const { batch, ids, leftOut: named } = await fileOf(racing)

  expect({ batch, ids }).toMatchObject({ batch: { number: 2, count: 0 }, ids: [] })
  expect(named).toHaveLength(2)
  expect(named).toContainEqual(leftOut(other))
  expect(await auditBatches(deps)).toStrictEqual([])
})

it.each([
  ['failed', undefined, 'Do not run recredit-settlement'],
  ['re-credited', recredit, '--payout_hold REASON stops'],
])('an answer that says paid of a %s settlement is refused, and told', async (_, act, hint) => {
  const { deps, ...settlement } = await aLonePayout()
  await fail(deps, settlement)
  await act?.(deps, settlement)

  expect(await answerPaid(deps, settlement)).toMatchObject({
    body: { refused: 1, lines: [{ reason: expect.stringContaining(hint) }] },
  })
  expect(deps.published.at(-1)).toMatchObject({
    kind: 'payout.after_difference',
    subject: settlement.settlementId,
  })
})
