/**
 * Goal: a row that cannot be read, or an alert that cannot be sent, stops the payout of its own
 * line alone (design section 15).
 */
import { expect, it } from 'vitest'
import { auditBatches } from '../../../shared/audit/judged/audit-batches.ts'
import { openNextBatch } from '../../../shared/payout/fill-batch.ts'
import { batchSubject } from '../../../shared/settlement/batch/batch.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { auditHeadKey, batchKey, paymentKey } from '../../../shared/table/keys.ts'
import {
  aLonePayout,
  answerPaid,
  askForFile,
  aWaitingSettlement,
  beforeBatchChanges,
  cancelFile,
  changing,
  dyingFileOf,
  expectFile,
  fileOf,
  lineOf,
  twoInABatch,
} from '../../support/batch-builders.ts'
import { aFinding } from '../../support/money-rows.ts'
import { invokeWhole, OPERATOR } from '../../support/operator-actions.ts'
import { anOpenPayment } from '../../support/paid-builders.ts'
import { aLoneClient, fail, payOut } from '../../support/settlement-builders.ts'
import { alter, alterSettlement, putRaw } from '../../support/tampering.ts'
import {
  afterFirst,
  beforeCommit,
  memoryDeps,
  recordTable,
  type TestDeps,
  withoutTopic,
  writesTo,
} from '../../support/test-deps.ts'

const UNREADABLE = { net_minor: 'much' }

/** The settlements of a batch, and the bank's line of each. */
async function linesOf(
  deps: TestDeps,
  count: number,
  make: (deps: TestDeps) => Promise<unknown> = fileOf,
) {
  const settlements: Settlement[] = []
  while (settlements.length < count) settlements.push(await aWaitingSettlement(deps))
  await make(deps)
  const lines = settlements.map((one, at) =>
    lineOf(one, { line: at + 2, outcome: 'paid', bank_reference: `TRX${at}` }),
  )
  return { settlements, lines }
}

/** More settlements than are written down at once. */
async function anAnsweredFile() {
  const deps = memoryDeps()
  const { settlements, lines } = await linesOf(deps, 10)
  const [first] = settlements
  if (first === undefined) throw new Error('nothing was made')
  const others = lines.slice(1).map(() => ({ result: 'done' }))
  return { deps, first, lines, others }
}

it('an unreadable settlement, or a line that breaks a rule, refuses its own line alone', async () => {
  const { deps, first, lines: whole, others } = await anAnsweredFile()
  await alterSettlement(deps, first, UNREADABLE)
  const wrong = [{ bank_reference: '2.02611E+15' }, { reason: '\u202c' }, { amount_minor: '1' }]
  const broken = [{}, ...wrong]
  const lines = whole.map((line, at) => ({ ...line, ...broken[at] }))

  const { status, body } = await invokeWhole('payout-answer', deps, { operator: OPERATOR, lines })

  const results = [...broken.map(() => ({ result: 'refused' })), ...others.slice(3)]
  expect(status).toBe(200)
  expect(body).toMatchObject({ done: 6, failed: 0, refused: 4, lines: results })
})

it('an alert that cannot be sent refuses its line alone, and is sent by the next try', async () => {
  const { deps, first, lines, others } = await anAnsweredFile()
  await fail(deps, first)
  const answer = (to: TestDeps) => invokeWhole('payout-answer', to, { operator: OPERATOR, lines })

  const silent = await answer(withoutTopic(deps))
  expect(deps.lines.filter(({ code }) => code === 'payout.line_failed')).toStrictEqual([
    { level: 'error', code: 'payout.line_failed', fields: { settlement_id: first.settlementId } },
  ])
  const again = await answer(deps)

  const reason = expect.stringContaining('the line failed')
  expect(silent.body).toMatchObject({ done: 9, refused: 1, lines: [{ reason }, ...others] })
  expect(again.body).toMatchObject({ done: 9, refused: 1 })
  expect(deps.published).toMatchObject([{ kind: 'payout.after_difference' }])
})

it.each([
  ['open', UNREADABLE],
  ['cancelled', { settlement_id: crypto.randomUUID() }],
])(
  'an unreadable settlement of a batch that a crash left open stops no payout: %s',
  async (state, change) => {
    const { deps, ...broken } = await aLonePayout()
    const payout = { settlement: broken, figures: {}, approval: undefined, conditions: {} as never }
    await openNextBatch(deps, undefined, { payouts: [payout], operator: OPERATOR })
    await alterSettlement(deps, broken, change)
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
          reason: expect.stringContaining('cannot be read'),
          command: expect.stringContaining(`audit-ledger --client_id ${broken.clientId}`),
        },
      ],
    })
  },
)

it('a ready batch gives no file if a settlement of it cannot be read, or a record is lost', async () => {
  const [{ deps, paid }, torn] = [await twoInABatch(), await twoInABatch()]
  await alterSettlement(deps, paid, UNREADABLE)
  await alter(torn.deps, auditHeadKey(batchSubject(1)), { number: 9 })

  for (const asked of [deps, torn.deps])
    expect(await askForFile(asked, { batch: 1 })).toMatchObject(CHANGED)
  // The audit of its client names the settlement.
  expect(await auditBatches(deps)).toStrictEqual([])
})

it('a batch that another operator makes ready meanwhile gives no file without that settlement', async () => {
  const { deps, paid } = await twoInABatch(dyingFileOf)
  const raced = beforeBatchChanges(deps, async () => {
    await fileOf(deps)
    await alterSettlement(deps, paid, UNREADABLE)
  })

  expect(await askForFile(raced, { batch: 1 })).toMatchObject(CHANGED)
})

const CHANGED = { status: 409, body: { message: 'the lines of batch 1 are not what they were' } }

it.each([
  ['no', () => Promise.resolve()],
  ['an open', openedOnly],
])('a payout of %s batch whose books cannot be read is left out alone', async (_, make) => {
  const { deps, paid, other } = await twoInABatch(make)
  const [shard] = deps.stored.items(`LEDGER#${paid.clientId}`)
  await putRaw(deps, { ...shard, credited_minor: 'x' })

  const listed = await invokeWhole('list-settlements', deps, { status: 'recorded' })
  expect(listed.body).toMatchObject({ data: [{}, {}] })
  await expectFile(deps, without(paid, other))
})

function without({ settlementId: settlement_id }: Settlement, other: Settlement, fields = {}) {
  return { ids: [other.settlementId], leftOut: [{ settlement_id, ...fields }] }
}

it('an unreadable payment that a finding names is a finding of its client’s payouts', async () => {
  const { deps, client } = await aLoneClient()
  const named = await aWaitingSettlement(deps, {}, client)
  const payment = await anOpenPayment(deps, client)
  const { paymentId: subject } = payment
  await aFinding(deps, { subject, payment })
  await alter(deps, paymentKey(subject), UNREADABLE)
  const other = await aWaitingSettlement(deps)

  const reason = expect.stringContaining('"findings":1')
  await expectFile(deps, without(named, other, { reason }))
})

it('a batch that a crash left open gives its file again, though one payout is made by hand', async () => {
  const { deps, paid, other } = await twoInABatch(dyingFileOf)
  await payOut(deps, paid)
  await alterSettlement(deps, paid, { payment_count: 9 })

  const lost = await fileOf(deps)
  const again = await fileOf(deps, { batch: 1 })

  expect(lost).toMatchObject({ ids: [other.settlementId], leftOut: [] })
  expect(again).toStrictEqual(lost)
  expect(await auditBatches(deps)).toStrictEqual([])
  expect(await cancelFile(deps, 1)).toMatchObject({ status: 200 })
  expect((await fileOf(deps)).ids).toStrictEqual([other.settlementId])
})

it('two payouts of an open batch fail one after the other', async () => {
  const { deps, paid, other } = await twoInABatch(dyingFileOf)
  const raced = beforeCommit(deps, () => fail(deps, other))

  await expect(fail(raced, paid)).rejects.toMatchObject({ code: 'conflict' })

  expect(await fail(deps, paid)).toMatchObject({ status: 'failed' })
})

it('a file has a payout once, though the list of its open batch was altered to name it twice', async () => {
  const { deps, paid, other } = await twoInABatch(dyingFileOf)
  const settlementIds = [paid, other, paid].map(({ settlementId }) => settlementId)
  await alter(deps, batchKey(1), { settlement_ids: settlementIds })

  expect((await fileOf(deps)).ids).toStrictEqual(settlementIds.slice(0, 2))
  expect(await auditBatches(deps)).toStrictEqual([])
})

function inUse({ settlementId: settlement_id }: Settlement) {
  return { ids: [], leftOut: [{ settlement_id, reason: 'it is in batch 1, whose file is in use' }] }
}

/** The process dies before its first claim. */
function openedOnly(deps: TestDeps) {
  return askForFile(
    afterFirst(deps, writesTo(batchKey(1)), () => {
      throw new Error('the process dies')
    }),
  )
}

it.each([
  ['claimed', dyingFileOf],
  ['listed', openedOnly],
])(
  'a batch that a restore opened again keeps what it had %s when the bank answers',
  async (_, make) => {
    const { deps, paid, other } = await twoInABatch(make)
    await answerPaid(deps, paid, { batch: 1 })

    await changing({ payout_hold: 'a court order' })(deps, other)
    expect(await askForFile(deps, { batch: 1 })).toMatchObject({ status: 422 })

    const raced = beforeCommit(deps, () => fileOf(deps))
    expect((await fileOf(raced)).status).toBe(make === openedOnly ? 409 : 200)
    const { ids, leftOut } = await fileOf(deps)
    expect({ ids, leftOut: leftOut.slice(-1) }).toMatchObject(inUse(other))
    expect(await answerPaid(deps, paid, { batch: 1 })).toMatchObject({ body: { done: 1 } })
    expect(await answerPaid(deps, other, { batch: 1, bank_reference: 'BCA18' })).toMatchObject({
      body: { done: 1 },
    })
    expect(await auditBatches(deps)).toStrictEqual([])
  },
)

it('an open batch is finished without a payout that is on hold by then, by two at once', async () => {
  const { deps, paid, other } = await twoInABatch(openedOnly)
  await changing({ payout_hold: 'a court order' })(deps, other)
  const finished = without(other, paid)

  await expectFile(
    beforeCommit(deps, () => expectFile(deps, finished)),
    finished,
  )
})

it('many lines of one answer to a batch that a restore opened again are written down', async () => {
  const deps = memoryDeps()
  const { lines } = await linesOf(deps, 16, dyingFileOf)

  const { body } = await invokeWhole('payout-answer', deps, { operator: OPERATOR, lines })

  expect(body).toMatchObject({ done: 16 })
})

it('a batch whose list was altered keeps its payouts, and notes that its file is used', async () => {
  const { deps, paid, other } = await twoInABatch()
  await alter(deps, batchKey(1), { settlement_ids: [] })

  await expectFile(deps, { batch: null, ids: [] })
  expect(await answerPaid(deps, paid, { batch: 1 })).toMatchObject({ body: { done: 1 } })
  expect(await cancelFile(deps, 1)).toMatchObject({ status: 422 })
  await expectFile(deps, inUse(other))
})

it('a file reads the long row of its batch as often for many lines as for one', async () => {
  const readsOf = async (lines: number) => {
    const made = memoryDeps()
    for (let line = 0; line < lines; line++) await aWaitingSettlement(made)
    const { deps, calls } = recordTable(made)
    await fileOf(deps)
    await fileOf(deps, { batch: 1 })
    return calls.filter((call) => 'keys' in call && call.keys.some(isRow)).length
  }
  const isRow = ({ pk }: { readonly pk: string }) => pk === batchKey(1).pk

  expect(await readsOf(3)).toBe(await readsOf(1))
})

it('an answer to a batch whose chain has an unreadable head names the command that repairs it', async () => {
  const { deps, paid } = await twoInABatch()
  await alter(deps, auditHeadKey(batchSubject(1)), { number: 'one' })

  expect(JSON.stringify(await answerPaid(deps, paid))).toContain('recount-ledger')
})
