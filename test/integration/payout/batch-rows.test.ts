import { describe, expect } from 'vitest'
import { auditGateway } from '../../../shared/audit/audit-gateway.ts'
import { auditBatches } from '../../../shared/audit/judged/audit-batches.ts'
import { recordChange } from '../../../shared/operator/audit-record-store.ts'
import {
  batchSubject,
  digestOf,
  digestOfLines,
  payoutLines,
} from '../../../shared/settlement/batch/batch.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { claimForBatch, findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { auditHeadKey, batchKey, settlementKey } from '../../../shared/table/keys.ts'
import { GATEWAY_OWNER } from '../../../shared/table/schema.ts'
import { DAY_MS } from '../../../shared/time.ts'
import { addDifferences } from '../../../shared/verdict/verdict-store.ts'
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
  expectLeftOut,
  fileOf,
  twoInABatch,
} from '../../support/batch-builders.ts'
import { auditRecordsOf, OPERATOR } from '../../support/operator-actions.ts'
import { BANK, payOut, standingOf } from '../../support/settlement-builders.ts'
import { alter, alterSettlement, erase, loseRecords } from '../../support/tampering.ts'
import {
  afterFirst,
  interceptTable,
  memoryDeps,
  type TableCall,
  type TestDeps,
  writesTo,
} from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'

const it = testWith(() => twoInABatch(), 'deps', 'paid', 'other')

it.each([
  ['', undefined],
  [' , with an unreadable row,', { created_at: 1 }],
])(
  'a batch that a restore brought back without its place in the register%s gets it again',
  async (_, changed) => {
    const deps = memoryDeps()
    await aWaitingSettlement(deps)
    await fileOf(deps)
    await loseRecords(deps, 'batches')
    await erase(deps, auditHeadKey('batches'))
    if (changed) await alter(deps, batchKey(1), changed)
    await aWaitingSettlement(deps)

    expect(await askForFile(deps)).toMatchObject({ status: 409 })

    await expectFile(deps, { batch: { number: 2 } })
    if (changed) await cancelFile(deps, 1)
    expect(await auditBatches(deps)).toStrictEqual([])
  },
)

it('the last ten batches are compared each night, and each older one within thirty nights', async () => {
  const deps = memoryDeps()
  for (let number = 1; number <= 11; number++) {
    await aWaitingSettlement(deps)
    await fileOf(deps)
  }
  await auditGateway(deps)
  for (const number of [1, 2]) await alter(deps, batchKey(number), { settlement_ids: [] })

  const nights = []
  for (let night = 0; night < 30; night++) {
    deps.clock.pass(DAY_MS)
    await auditGateway(deps)
    const standing = await standingOf(deps, { clientId: GATEWAY_OWNER })
    nights.push(standing.map(({ what, id }) => `${what} ${id}`).toSorted())
  }

  const [one, two] = ['batch.settlement_ids 1', 'batch.settlement_ids 2']
  expect([nights[0], nights.at(-1)]).toStrictEqual([[two], [one, two]])
})

it.each([{ status: 'failed' }, { digest: 'other' }, { batch: 7 }])(
  'a settlement that became %j after it was read enters no batch',
  async (changed) => {
    const { deps, settlementId } = await aLonePayout()
    const before = await findAnySettlement(deps, settlementId)
    await alterSettlement(deps, { settlementId }, changed)

    expect(await deps.table.write(claimForBatch(before, 1))).toMatchObject({ applied: false })
  },
)

it('a cancelled batch whose row was lost is no difference, and frees its payout', async () => {
  const { deps, settlementId } = await aLonePayout()
  await fileOf(deps)
  await erase(deps, batchKey(1))
  deps.clock.advance(1)

  expect(await cancelFile(deps, 1)).toMatchObject({ status: 200 })

  expect(await auditBatches(deps)).toStrictEqual([])
  expect((await fileOf(deps)).ids).toStrictEqual([settlementId])
  expect(await auditRecordsOf(deps, settlementId)).toMatchObject([
    { before: { batch: null }, after: { batch: 1, figures: {} } },
    { before: { batch: 1 }, after: { batch: 2, figures: {} } },
  ])
})

it('a cancelled batch that the bank has answered to still lists all its payouts', async ({
  deps,
  paid,
}) => {
  await cancelFile(deps, 1)
  await answerPaid(deps, paid)
  await alter(deps, batchKey(1), { settlement_ids: [paid.settlementId] })

  expect(await auditBatches(deps)).toMatchObject([{ what: 'batch.settlement_ids' }])
})

const BROKEN = [
  ['lost', (deps: TestDeps) => erase(deps, batchKey(1))],
  ['unreadable', (deps: TestDeps) => alter(deps, batchKey(1), { created_at: 1 })],
] as const

describe.each(BROKEN)('a batch whose row is %s', (_, breakRow) => {
  const REFUSED = {
    status: 422,
    body: { message: expect.stringContaining('batch 1 cannot be cancelled') },
  }

  it.for([
    ['after its row broke', payOut],
    [
      'at the same time',
      async (deps: TestDeps, paid: Settlement) => {
        const racing = beforeBatchChanges(deps, () => payOut(deps, paid))
        expect(await cancelFile(racing, 1)).toMatchObject({ status: 409 })
      },
    ],
  ] as const)(
    'is not cancelled when a payout of it is paid %s',
    async ([, pay], { deps, paid, other }) => {
      await breakRow(deps)

      await pay(deps, paid)

      expect(await cancelFile(deps, 1)).toMatchObject(REFUSED)
      await expectLeftOut(deps, other)
    },
  )

  it('gets it again if it was cancelled and used, and holds its payouts', async ({
    deps,
    paid,
    other,
  }) => {
    await cancelFile(deps, 1)
    await answerPaid(deps, paid)
    await breakRow(deps)
    expect(await auditBatches(deps)).toMatchObject([{ what: 'batch', id: '1' }])

    expect(await cancelFile(deps, 1)).toMatchObject({ status: 200 })

    expect(await auditBatches(deps)).toStrictEqual([])
    await expectLeftOut(deps, other)
  })
})

it.each([
  ['an account', { bank: { ...BANK, bankAccountNo: '6660001' } }],
  ['an amount', { net_minor: 1_095_900, gross_minor: 1_095_900 }],
])('a batch gives no file with %s that was changed together with its digest', async (_, fields) => {
  const { deps, settlementId } = await aLonePayout()
  await fileOf(deps)
  await alterSettlement(deps, { settlementId }, fields)
  const digest = digestOfLines(payoutLines([await findAnySettlement(deps, settlementId)]))

  expect(await askForFile(deps, { batch: 1 })).toMatchObject({
    status: 409,
    body: { message: 'the lines of batch 1 are not what they were' },
  })

  const subject = batchSubject(1)
  const ready = { state: 'ready', total_minor: 1, digest, list_digest: digestOf([settlementId]) }
  const by = { subject, clientId: undefined, operator: OPERATOR, action: 'payout-file' }
  await recordChange(deps, { ...by, after: ready }, {})
  expect(await askForFile(deps, { batch: 1 })).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('do not balance') },
  })
})

it.for([
  ['ready', 0],
  ['used', 1],
  ['used after its cancellation', 2],
] as const)(
  'a batch whose record of being %s is lost frees no payout, and is paid',
  async ([, at], { deps, paid, other }) => {
    if (at === 2) await cancelFile(deps, 1)
    deps.clock.advance(1)
    if (at > 0) await answerPaid(deps, paid)
    await loseRecords(deps, batchSubject(1), at)

    expect(await cancelFile(deps, 1)).toMatchObject({ status: 422 })
    const leftOut = expect.arrayContaining([
      expect.objectContaining({ settlement_id: other.settlementId }),
    ])
    await expectFile(deps, { batch: null, leftOut })
    expect(await answerPaid(deps, paid)).toMatchObject({ body: { done: 1 } })
  },
)

const hold = changing({ payout_hold: 'a court order' })

it.each<[string, (deps: TestDeps, settlement: Settlement) => Promise<unknown>]>([
  [
    'was changed',
    (deps, { settlementId }) => {
      const bank = { ...BANK, bankAccountNo: '6660001' }
      return alterSettlement(deps, { settlementId }, { bank })
    },
  ],
  ['has a disabled client', changing({ enabled: false })],
  [
    'has a client with a difference',
    (deps, { clientId: id }) => {
      const difference = { what: 'window.paid_out_minor', id, expected: 1, found: 2 }
      return addDifferences(deps, id, new Map([['figures', [difference]]]))
    },
  ],
])('a batch that a crash left open is finished without a settlement that %s', async (_, act) => {
  const deps = memoryDeps()
  const [kept, changed] = [await aWaitingSettlement(deps), await aWaitingSettlement(deps)]
  await dyingFileOf(deps)
  await act(deps, changed)

  await expectFile(deps, {
    batch: { number: 1, state: 'ready' },
    ids: [kept.settlementId],
    leftOut: [{ settlement_id: changed.settlementId }],
  })
  // The batch had claimed it.
  expect(await findAnySettlement(deps, changed.settlementId)).toMatchObject({ batch: 1 })
})

it('a hold that is set after a claim keeps the payout out, and the next batch takes it', async () => {
  const { deps, ...settlement } = await aLonePayout()
  const { settlementId } = settlement
  const isClaim = writesTo(settlementKey(settlementId))
  const racing = afterFirst(deps, isClaim, () => hold(deps, settlement))

  const reason = 'payouts of this client are on hold: a court order'
  expect(await fileOf(racing)).toMatchObject({
    batch: { number: 1 },
    ids: [],
    leftOut: [{ reason }],
  })

  await changing({ payout_hold: null })(deps, settlement)
  await expectFile(deps, { batch: { number: 2 }, ids: [settlementId] })
})

it('two payouts of a batch are marked paid at once', async ({ deps, paid, other }) => {
  const raced = beforeBatchChanges(deps, () => payOut(deps, other))

  expect(await payOut(raced, paid)).toMatchObject({ status: 'manual_paid' })
})

it('a ready batch is a difference when its settlements make other lines than its file had', async ({
  deps,
  paid,
}) => {
  await alterSettlement(deps, paid, { net_minor: 95_901, gross_minor: 95_901 })

  expect(await auditBatches(deps)).toMatchObject([
    { what: 'batch.settlement_ids', expected: 'those of its digest' },
  ])
})

it.each([
  ['claimed', 'transact', () => Promise.resolve()],
  ['compared again', 'query', dyingFileOf],
])('a payout that cannot be %s is left out alone', async (_, name, make) => {
  const { deps, paid, other } = await twoInABatch(make)
  const before = (call: TableCall) => {
    if (call.name === name && JSON.stringify(call).includes(paid.clientId)) throw new Error('busy')
  }
  const leftOut = [{ settlement_id: paid.settlementId }]

  await expectFile(interceptTable(deps, { before }), { ids: [other.settlementId], leftOut })
})
