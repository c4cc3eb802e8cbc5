import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { toPaymentDto } from '../../../shared/payment/payment-dto.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import type { StageSettings } from '../../../shared/stage-settings.ts'
import { recordRowFinding } from '../../../shared/sync/provider-row.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { entriesIn } from '../../support/paid-builders.ts'
import {
  creditedPayment,
  expectFinding,
  expectPayment,
  findingAbout,
  notifyOf,
  type PaidUpstream,
  paymentOf,
  pendingOf,
  rowNow,
} from '../../support/synced-payment.ts'
import { memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { syncTest as it } from './sync-test.ts'

it.for<readonly [string, Partial<ProviderTransaction>, string, number]>([
  ['a negative fee', { keptMinor: minor(-1) }, 'row_contradicts', 100_000],
  ['a fee of 95 %', { keptMinor: minor(95_000) }, 'row_contradicts', 100_000],
  ['another amount', { amountMinor: minor(99_999) }, 'row_contradicts', 99_999],
  ['another currency', { currency: 'PHP' }, 'amount_differs', 100_000],
  ['a net of 12.15 USD', { isForeignNet: true, keptMinor: undefined }, 'amount_differs', 100_000],
])(
  'sync of a row with %s records one finding with an alert, and the fee stays the estimate',
  async ([, fields, cause, amountMinor], { deps, client, credited, sync, syncAfter }) => {
    await sync(rowNow(deps, credited, fields))
    await syncAfter(3_600)

    const { paymentId } = credited.payment
    const expectedFinding = {
      kind: 'finding',
      cause,
      amountMinor,
      status: 'open',
      paymentId,
      clientId: client.clientId,
      providerPaymentId: credited.providerPaymentId,
    }
    await expectFinding(deps, paymentId, cause, expectedFinding)
    const alerts = deps.published.map(({ kind, subject }) => `${kind} ${subject}`)
    expect(alerts).toStrictEqual([`suspense.finding ${paymentId}#${cause}`])
    const estimated = { status: 'succeeded', feeStatus: 'estimated', netMinor: 95_900 }
    await expectPayment(deps, credited, estimated)
    expect(await pendingOf(deps, client)).toBe(95_900)
  },
)

it('a refund that was only reported while it had failed still moves the money later', async ({
  deps,
  credited,
  sync,
}) => {
  const row = rowNow(deps, credited, { type: 'return', amountMinor: minor(40_000) })
  await recordRowFinding(deps, row, undefined)

  await sync(row)

  await expectPayment(deps, credited, { takenBackMinor: 40_000 })
})

function dispute(deps: TestDeps, paid: PaidUpstream) {
  return rowNow(deps, paid, {
    type: 'return',
    reversalKind: 'chargeback',
    keptMinor: undefined,
    amountMinor: minor(125_000),
    disputedMinor: minor(100_000),
  })
}

function wonRow(deps: TestDeps, paid: PaidUpstream, fields: Partial<ProviderTransaction> = {}) {
  return rowNow(deps, paid, {
    type: 'correction',
    isDisputeWon: true,
    keptMinor: undefined,
    ...fields,
  })
}

const MINUTES = 60
const DAYS = 86_400

describe('sync: a dispute that is won', () => {
  it.for([
    ['in one page with the chargeback', 0, 100_000, 95_900],
    ['long after the chargeback', 10 * DAYS, 100_000, 95_900],
    ['in part', 10 * DAYS, 60_000, 55_900],
  ] as const)(
    'undoes its chargeback: %s',
    async (example, { deps, client, rows, credited, sync, syncAfter }) => {
      const [, seconds, amount, pending] = example
      rows.push(dispute(deps, credited))
      if (seconds > 0) await sync()
      deps.clock.advance(seconds)

      await sync(wonRow(deps, credited, { amountMinor: minor(amount) }))
      await syncAfter(10 * MINUTES)

      expect(await pendingOf(deps, client)).toBe(pending)
      const { reversal } = toPaymentDto(await paymentOf(deps, credited))
      const remaining = 100_000 - amount
      expect([reversal?.amount_minor, reversal?.undone_at === undefined]).toStrictEqual([
        remaining,
        remaining > 0,
      ])
    },
  )

  it('waits for its chargeback when its row comes first', async ({
    deps,
    client,
    credited,
    sync,
    syncAfter,
  }) => {
    await sync(wonRow(deps, credited))
    const paymentBefore = await paymentOf(deps, credited)
    deps.clock.advance(30 * MINUTES)
    await sync(dispute(deps, credited))

    const summary = await syncAfter(90 * MINUTES)

    expect(paymentBefore.reversal).toBeUndefined()
    expect(summary).toMatchObject({ unanswered: 0, complete: true })
    expect(await pendingOf(deps, client)).toBe(95_900)
    const undoneDispute = { takenBackMinor: 0, reversal: { undoneAt: expect.any(String) } }
    await expectPayment(deps, credited, undoneDispute)
  })

  it('without a chargeback is a finding after two days', async ({
    deps,
    client,
    credited,
    sync,
    syncAfter,
  }) => {
    const row = wonRow(deps, credited)
    const finding = () => findingAbout(deps, `${row.transactionId}#dispute_won`, 'money_came_back')
    await sync(row)
    expect(await finding()).toBeUndefined()

    await syncAfter(2 * DAYS)

    expect(await finding()).toMatchObject({ amountMinor: 0 })
    expect(await pendingOf(deps, client)).toBe(95_900)
  })

  it('with an unknown disputed amount is a finding, and moves nothing', async ({
    deps,
    client,
    credited,
    sync,
  }) => {
    const { disputedMinor: _, ...unclearRow } = dispute(deps, credited)

    await sync(unclearRow)
    await sync()

    const finding = { status: 'open', amountMinor: 125_000, paymentId: credited.payment.paymentId }
    await expectFinding(deps, unclearRow.transactionId, 'disputed_amount_unknown', finding)
    expect(deps.published).toHaveLength(1)
    expect(await pendingOf(deps, client)).toBe(95_900)
  })

  it.for([
    ['shows the amount', {}],
    ['shows a void', { status: 'reversed' }],
  ] as const)(
    'stays a finding for a person when a later read %s',
    async ([, fields], { deps, client, credited, sync, syncAfter, showAnew }) => {
      const row = dispute(deps, credited)
      await sync({ ...row, disputedMinor: undefined })
      deps.clock.advance(30 * MINUTES)
      showAnew(row, fields)

      await syncAfter(5 * MINUTES)

      await expectPayment(deps, credited, { movements: [] })
      expect(await pendingOf(deps, client)).toBe(95_900)
      expect(deps.published.at(-1)).toMatchObject({
        subject: `${row.transactionId}#disputed_amount_unknown`,
      })
    },
  )
})

function withFees<Deps extends TestDeps>(deps: Deps, providerFees: StageSettings['providerFees']) {
  return { ...deps, stage: { ...deps.stage, providerFees } }
}

/** The `it` of a gateway whose contract with the provider has fees billed after the month. */
const invoiced = it.extend('deps', () => withFees(memoryDeps(), 'invoiced'))

const TARIFFS_FEE = { feeStatus: 'actual', providerFeeMinor: 4_000, netMinor: 95_900 }

describe('a contract that bills fees after the month (stage setting providerFees: invoiced)', () => {
  invoiced(
    'makes the tariff’s fee the actual fee in the transaction of the success, without asking ' +
      'the provider',
    async ({ deps, client, paid }) => {
      await notifyOf(deps, paid.providerPaymentId)

      const { finalFee, ...stored } = await paymentOf(deps, paid)
      expect(stored).toMatchObject(TARIFFS_FEE)
      expect(finalFee).toStrictEqual({
        status: 'actual',
        feeMinor: 4_000,
        at: deps.now(),
        invoiced: true,
      })
      expect(deps.provider.countOf('listTransactions')).toBe(0)
      expect(await pendingOf(deps, client)).toBe(95_900)
    },
  )

  invoiced.for([4_440, 4_000])(
    'only reports a row’s fee, which is a cost: %d',
    async (fee, { deps, client, credited, sync }) => {
      await sync(rowNow(deps, credited, { keptMinor: minor(fee) }))

      await expectFinding(deps, credited.payment.paymentId, 'fee_changed', { amountMinor: fee })
      await expectPayment(deps, credited, TARIFFS_FEE)
      expect(await pendingOf(deps, client)).toBe(95_900)
      // The tariff's fee is billed later: transit is below zero until then.
      expect(await entriesIn(deps, client)).toMatchObject([
        { providerMinor: 100_000 - fee, transitMinor: -4_000, costMinor: -fee, otherMinor: 0 },
      ])
    },
  )
})

const DEDUCTED_FEE = { feeStatus: 'actual', providerFeeMinor: 4_440, netMinor: 95_460 }

describe('a contract that changes', () => {
  invoiced.for([
    [0, TARIFFS_FEE],
    [4_440, DEDUCTED_FEE],
  ] as const)(
    'takes an earlier payment’s fee from its row: %d',
    async ([fee, expected], { deps, client, sync }) => {
      const paid = await creditedPayment(withFees(deps, 'deducted'), client)

      await sync(rowNow(deps, paid, { keptMinor: minor(fee) }))
      await sync()

      await expectPayment(deps, paid, expected)
      expect(deps.published).toStrictEqual([])
    },
  )

  invoiced(
    'reports nothing about fees that were final before',
    async ({ deps, client, rows, credited, sync }) => {
      const deductedDeps = withFees(deps, 'deducted')
      const deductedPayment = await creditedPayment(deductedDeps, client)
      const row = rowNow(deps, deductedPayment)
      rows.push(rowNow(deps, credited, { keptMinor: minor(0) }), row)
      await syncProviderTransactions(deductedDeps)

      await sync()

      expect(deps.published).toStrictEqual([])
      await expectPayment(deps, credited, TARIFFS_FEE)
      const ownRow = { transactionId: row.transactionId, providerMinor: 95_560 }
      const booked = { ...DEDUCTED_FEE, providerSettledAt: row.settledAt, ownRow }
      await expectPayment(deps, deductedPayment, booked)
      expect(await pendingOf(deps, client)).toBe(95_900 + 95_460)
    },
  )
})
