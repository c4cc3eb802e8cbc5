/**
 * Goal: the file of a batch that a bank has is given to no bank again, and an answer that
 * contradicts the books is told at once (design section 15).
 */
import { describe, expect, it } from 'vitest'
import { handler as payoutAnswer } from '../../../functions/admin/payout-answer.ts'
import { auditBatches } from '../../../shared/audit/judged/audit-batches.ts'
import { approve } from '../../../shared/operator/approve.ts'
import { recordChange } from '../../../shared/operator/audit-record-store.ts'
import { batchSubject, digestOfLines, payoutLines } from '../../../shared/settlement/batch/batch.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { auditHeadKey, auditRecordPk, batchKey, settlementKey } from '../../../shared/table/keys.ts'
import { exists, remove, update } from '../../../shared/table/step.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { askForFile, aWaitingSettlement, fileOf } from '../../support/batch-builders.ts'
import { invokeWhole, OPERATOR } from '../../support/operator-actions.ts'
import { BANK, fail, payOut, recredit } from '../../support/settlement-builders.ts'
import { interceptTable, memoryDeps, type TestDeps, writtenKeys } from '../../support/test-deps.ts'
import { APPROVER } from '../../support/with-approval.ts'

async function cancel(deps: TestDeps, number: number) {
  await approve(deps, { action: 'payout-file', payload: { cancel: number }, operator: APPROVER })
  return askForFile(deps, { cancel: number, notes: 'not sent' })
}

/** The bank's line of a settlement that it paid. */
async function answerPaid(
  deps: TestDeps,
  { settlementId, netMinor }: Settlement,
  fields: { readonly batch?: number } = {},
) {
  const { bank } = await findAnySettlement(deps, settlementId)
  const line = {
    line: 2,
    settlement_id: settlementId,
    amount_minor: netMinor,
    bank_account_no: bank?.bankAccountNo,
    outcome: 'paid',
    bank_reference: 'BCA17',
    ...fields,
  }
  return invokeWhole(payoutAnswer, deps, { operator: OPERATOR, lines: [line] })
}

// Public report: eliza #11022.
it('a batch with a failed and re-credited payout gives no file again: it would pay twice', async () => {
  const deps = memoryDeps()
  const settlement = await aWaitingSettlement(deps)
  await fileOf(deps)
  await fail(deps, settlement)
  await recredit(deps, settlement)

  expect(await askForFile(deps, { batch: 1 })).toMatchObject({
    status: 422,
    body: { message: 'batch 1 is in use: 1 of its 1 payouts are paid or failed' },
  })
})

it('a batch is not cancelled once the bank has paid a line of it', async () => {
  const deps = memoryDeps()
  const [paid, other] = [await aWaitingSettlement(deps), await aWaitingSettlement(deps)]
  await fileOf(deps)
  expect(await answerPaid(deps, paid)).toMatchObject({ body: { done: 1 } })

  expect(await cancel(deps, 1)).toMatchObject({
    status: 422,
    body: { message: 'batch 1 cannot be cancelled: 1 of its 2 payouts are paid' },
  })
  expect(await fileOf(deps)).toMatchObject({
    ids: [],
    leftOut: [{ settlement_id: other.settlementId }],
  })
})

async function twoInABatch(deps: TestDeps) {
  const [paid, other] = [await aWaitingSettlement(deps), await aWaitingSettlement(deps)]
  await fileOf(deps)
  return { paid, other }
}

function leftOut({ settlementId }: Settlement) {
  return {
    settlement_id: settlementId,
    reason: 'it is in batch 1, which was cancelled, but the bank has paid a line of its file',
  }
}

function usesOf(deps: TestDeps) {
  return deps.published.filter(({ kind }) => kind === 'payout.after_difference')
}

describe('a cancelled batch of which the bank has paid a line', () => {
  it('is told, and its other payouts are left out until a person closes them', async () => {
    const deps = memoryDeps()
    const { paid, other } = await twoInABatch(deps)
    await cancel(deps, 1)

    expect(await answerPaid(deps, paid)).toMatchObject({ body: { done: 1 } })
    expect(await answerPaid(deps, paid, { batch: 1 })).toMatchObject({ body: { done: 1 } })

    expect(usesOf(deps)).toMatchObject([{ subject: paid.settlementId }])
    expect(await fileOf(deps)).toMatchObject({ ids: [], leftOut: [leftOut(other)] })
    expect(await auditBatches(deps)).toStrictEqual([])

    await fail(deps, other)
    expect(await fileOf(deps)).toMatchObject({ ids: [], leftOut: [] })
  })

  it('is told when a later batch has the payout, and the later batch frees nothing', async () => {
    const deps = memoryDeps()
    const { paid, other } = await twoInABatch(deps)
    await cancel(deps, 1)
    await fileOf(deps)

    expect(await answerPaid(deps, paid, { batch: 1 })).toMatchObject({
      body: { lines: [{ reason: 'it is in batch 2, and the file is of batch 1.' }] },
    })

    const message = expect.stringContaining('payout-file --cancel 2') as unknown
    expect(usesOf(deps)).toMatchObject([{ subject: paid.settlementId, message }])
    await cancel(deps, 2)
    expect(await fileOf(deps)).toMatchObject({ ids: [], leftOut: [leftOut(paid), leftOut(other)] })
  })

  it('is told when its row was lost', async () => {
    const deps = memoryDeps()
    const { paid, other } = await twoInABatch(deps)
    await deps.table.write(remove(batchKey(1), exists))
    await cancel(deps, 1)

    await answerPaid(deps, paid)

    expect(usesOf(deps)).toMatchObject([{ subject: paid.settlementId }])
    expect(await fileOf(deps)).toMatchObject({ ids: [], leftOut: [leftOut(other)] })
  })

  it('is not told by an answer that names a batch without the payout', async () => {
    const deps = memoryDeps()
    const { other } = await twoInABatch(deps)
    await cancel(deps, 1)
    const late = await aWaitingSettlement(deps)

    expect(await answerPaid(deps, late, { batch: 1 })).toMatchObject({ body: { refused: 1 } })

    expect(usesOf(deps)).toStrictEqual([])
    expect((await fileOf(deps)).ids).toContain(other.settlementId)
  })

  it('is not told by a transfer that an operator made by hand', async () => {
    const deps = memoryDeps()
    const { paid, other } = await twoInABatch(deps)
    await cancel(deps, 1)

    await payOut(deps, paid)

    expect(usesOf(deps)).toStrictEqual([])
    expect((await fileOf(deps)).ids).toStrictEqual([other.settlementId])
  })
})

/** Runs `other` before the first transaction that changes the batch. */
function beforeBatchChanges(deps: TestDeps, other: () => Promise<unknown>) {
  let done = false
  return interceptTable(deps, {
    before: async (call) => {
      if (done || !writtenKeys([call]).some(({ pk }) => pk === batchKey(1).pk)) return
      done = true
      await other()
    },
  })
}

describe('the bank’s answer and a cancellation at the same time', () => {
  it('cancel nothing when the payout is written first', async () => {
    const deps = memoryDeps()
    const { paid, other } = await twoInABatch(deps)
    const racing = beforeBatchChanges(deps, () => answerPaid(deps, paid))

    expect(await cancel(racing, 1)).toMatchObject({ status: 409 })

    expect(await fileOf(deps)).toMatchObject({
      ids: [],
      leftOut: [{ settlement_id: other.settlementId }],
    })
  })

  it('are told when the cancellation is written first', async () => {
    const deps = memoryDeps()
    const { paid, other } = await twoInABatch(deps)
    const racing = beforeBatchChanges(deps, () => cancel(deps, 1))

    expect(await answerPaid(racing, paid)).toMatchObject({ body: { done: 1 } })

    expect(usesOf(deps)).toMatchObject([{ subject: paid.settlementId }])
    expect(await fileOf(deps)).toMatchObject({ ids: [], leftOut: [leftOut(other)] })
  })
})

it.each([
  ['failed', async () => undefined, 'Do not run recredit-settlement'],
  ['re-credited', recredit, '--payout_hold REASON stops'],
] as const)(
  'an answer that says paid of a %s settlement is refused, and told',
  async (_, act, hint) => {
    const deps = memoryDeps()
    const settlement = await aWaitingSettlement(deps)
    await fileOf(deps)
    await fail(deps, settlement)
    await act(deps, settlement)

    expect(await answerPaid(deps, settlement)).toMatchObject({
      body: { refused: 1, lines: [{ reason: expect.stringContaining(hint) as unknown }] },
    })
    expect(deps.published.at(-1)).toMatchObject({
      kind: 'payout.after_difference',
      subject: settlement.settlementId,
    })
  },
)

it('a batch that a restore brought back without its place in the register gets it again', async () => {
  const deps = memoryDeps()
  await aWaitingSettlement(deps)
  await fileOf(deps)
  const { items } = await deps.table.query({ partition: [auditRecordPk('batches')], limit: 10 })
  for (const { sk } of items)
    await deps.table.write(remove({ pk: auditRecordPk('batches'), sk: String(sk) }, exists))
  await deps.table.write(remove(auditHeadKey('batches'), exists))
  await aWaitingSettlement(deps)

  expect(await askForFile(deps)).toMatchObject({ status: 409 })

  expect(await fileOf(deps)).toMatchObject({ batch: { number: 2 } })
  expect(await auditBatches(deps)).toStrictEqual([])
})

it('each batch is compared within thirty days, however many came after it', async () => {
  const deps = memoryDeps()
  for (let number = 1; number <= 11; number++) {
    await aWaitingSettlement(deps)
    await fileOf(deps)
  }
  await deps.table.write(update(batchKey(1), { set: { state: 'cancelled' } }, exists))

  const found = []
  for (let day = 0; day < 30; day++) {
    found.push(...(await auditBatches(deps)))
    deps.clock.set(addMs(deps.now(), DAY_MS))
  }

  expect(found).toMatchObject([{ what: 'batch.state', id: '1', found: 'cancelled' }])
})

it('a cancelled batch whose row was lost is no difference', async () => {
  const deps = memoryDeps()
  await aWaitingSettlement(deps)
  await fileOf(deps)
  await deps.table.write(remove(batchKey(1), exists))
  await cancel(deps, 1)

  expect(await auditBatches(deps)).toStrictEqual([])
})

it('an operator who finishes the batch of another is told of no settlement that it has', async () => {
  const deps = memoryDeps()
  const { settlementId } = await aWaitingSettlement(deps)
  await fileOf(deps)
  await deps.table.write(update(batchKey(1), { set: { state: 'open' } }, exists))
  await deps.table.write(update(settlementKey(settlementId), { set: { batch: 1 } }, exists))

  expect(await fileOf(deps, { batch: 1 })).toMatchObject({ ids: [settlementId], leftOut: [] })
})

it.each([
  ['an account', { bank: { ...BANK, bankAccountNo: '6660001' } }],
  ['an amount', { netMinor: 1_095_900, grossMinor: 1_095_900 }],
])('a batch gives no file with %s that was changed together with its digest', async (_, fields) => {
  const deps = memoryDeps()
  const { settlementId } = await aWaitingSettlement(deps)
  await fileOf(deps)
  await deps.table.write(update(settlementKey(settlementId), { set: fields }, exists))
  const digest = digestOfLines(payoutLines([await findAnySettlement(deps, settlementId)]))
  await deps.table.write(update(batchKey(1), { set: { digest } }, exists))

  expect(await askForFile(deps, { batch: 1 })).toMatchObject({
    status: 409,
    body: { message: 'the lines of batch 1 are not what they were' },
  })

  const subject = batchSubject(1)
  const ready = { state: 'ready', total_minor: 1, digest }
  const by = { subject, clientId: undefined, operator: OPERATOR, action: 'payout-file' }
  await recordChange(deps, { ...by, after: ready }, {})
  expect(await askForFile(deps, { batch: 1 })).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('do not balance') as unknown },
  })
})

it('a batch gives no file after a record of it is lost', async () => {
  const deps = memoryDeps()
  await aWaitingSettlement(deps)
  await fileOf(deps)
  await deps.table.write(remove(auditHeadKey(batchSubject(1)), exists))

  expect(await askForFile(deps, { batch: 1 })).toMatchObject({ status: 409 })
})

it('a batch that a crash left open is finished without a settlement that was changed', async () => {
  const deps = memoryDeps()
  const [kept, changed] = [await aWaitingSettlement(deps), await aWaitingSettlement(deps)]
  await fileOf(deps)
  await deps.table.write(update(batchKey(1), { set: { state: 'open' } }, exists))
  const bank = { ...BANK, bankAccountNo: '6660001' }
  await deps.table.write(update(settlementKey(changed.settlementId), { set: { bank } }, exists))

  expect(await fileOf(deps)).toMatchObject({
    batch: { number: 1, state: 'ready' },
    ids: [kept.settlementId],
    leftOut: [{ settlement_id: changed.settlementId }],
  })
})
