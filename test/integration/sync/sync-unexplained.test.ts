import { describe, expect } from 'vitest'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { bookingsOf } from '../../../shared/journal/house-store.ts'
import { minor } from '../../../shared/money.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { houseRowOf } from '../../../shared/posting/house-journal.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { recordSuspense, transferCase } from '../../../shared/suspense/record-suspense.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { settledRow } from '../../support/fake-provider.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import { ledgerView, paidWhileCreating } from '../../support/payment-builders.ts'
import { expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import {
  expectFinding,
  expectPayment,
  expectUnexplained,
  findingAbout,
  paymentOf,
  rowNow,
  rowOfOtherAttempt,
} from '../../support/synced-payment.ts'
import { beforeCommit } from '../../support/test-deps.ts'
import { heldTest as it, refundFields, sumsOf, ZERO_SUMS } from './held-money.ts'
import { foreignIds } from './sync-test.ts'
import { rowOut } from './transfer-rows.ts'

describe('sync: a transaction without a payment', () => {
  it('of another product becomes one finding after one provider call', async ({
    deps,
    sync,
    syncAfter,
  }) => {
    await sync(settledRow(foreignIds, deps.now()))

    expect(await syncAfter(3_600)).toMatchObject({ complete: true, unanswered: 0 })
    await expectUnexplained(deps, foreignIds.providerPaymentId, {
      amountMinor: 100_000,
      status: 'open',
    })
    expect(deps.published.map(({ kind }) => kind)).toStrictEqual(['suspense.finding'])
    expect(deps.provider.countOf('getPayment')).toBe(1)
  })

  it.for([
    ['payment', { kind: 'unanswered', reason: 'server_error' }, 0],
    ['return', { kind: 'not_found' }, -100_000],
  ] as const)(
    'of another product ends after two days without its money: %s %o',
    async ([type, answer, otherMinor], { deps, paid, syncAfter }) => {
      deps.provider.answer('getPayment', answer)
      const { paymentRequestId } = paid.payment
      const row = settledRow(foreignIds, deps.now(), { type, paymentRequestId })

      expect(await syncAfter(3 * 86_400, row)).toMatchObject({ unanswered: 0 })
      expect(await sumsOf(deps, '2026-11-23')).toMatchObject({ otherMinor })
    },
  )

  it('without a payment id becomes a finding, and its id is not used as a payment id', async ({
    deps,
    sync,
    syncAfter,
  }) => {
    const aRow = (providerPaymentId: string) =>
      settledRow({ providerPaymentId, reference: '' }, deps.now())
    const row = aRow('')

    await sync(row, aRow(''))
    const providerPaymentId = `${row.transactionId}#transaction_unexplained`
    await sync({ ...aRow(providerPaymentId), type: 'return' })
    await syncAfter(3 * 86_400)

    await expectUnexplained(deps, row.transactionId)
    expect(deps.stored.items('SUSPENSE#')).toHaveLength(3)
  })

  it('is credited when the provider shows its money an hour later', async ({
    deps,
    paid,
    sync,
    syncAfter,
  }) => {
    deps.provider.answer('getPayment', { kind: 'not_found' })
    const row = rowOfOtherAttempt(deps, paid)
    // The row is outside the span that the next round reads again.
    deps.clock.advance(200)
    await sync(row)
    const { paymentId, clientId } = paid.payment
    const about = { paymentId, clientId }
    await expectFinding(deps, paid.providerPaymentId, 'transaction_unexplained', about)

    deps.provider.heal('getPayment')
    await syncAfter(3_600)

    await expectPayment(deps, paid, { status: 'succeeded', netMinor: 95_460 })
  })

  it.for<[string, Partial<ProviderTransaction>]>([
    ['reversal', { status: 'reversed' }],
    ['reversal', { status: 'reversed', reference: '' }],
    ['refund', { type: 'return' }],
  ])(
    'a %s of an undecided payment first credits the payment',
    async ([type, fields], { deps, client, paid, sync }) => {
      const row = rowNow(deps, paid, fields)

      await sync(row, settledRow(foreignIds, deps.now(), { status: 'reversed' }))

      await expectPayment(deps, paid, { status: 'succeeded', reversal: { amountMinor: 100_000 } })
      expect(await ledgerView(deps, client)).toStrictEqual({ pendingMinor: 0, succeeded: 1 })
      expect(deps.published).toMatchObject([
        { subject: `${row.transactionId}#${type}#money_went_back` },
      ])
    },
  )

  it('a reversal of a payment that is being created first credits the payment', async ({
    deps,
    client,
    syncAfter,
  }) => {
    const { creating, answer, reference, providerPaymentId } = await paidWhileCreating(deps, client)

    await syncAfter(
      60,
      settledRow({ providerPaymentId, reference }, deps.now(), { status: 'reversed' }),
    )

    const stored = await findStoredPayment(deps, paymentIdForKey(client.clientId, 'key-1'))
    expect(stored).toMatchObject({ status: 'succeeded', reversal: { amountMinor: 100_000 } })
    answer.resolve()
    await creating
  })
})

/**
 * Goal: the books hold rupiah alone. Method: rows of each type whose currency or whose net is not
 * rupiah. Each is one finding and moves nothing, also when it is read again.
 */

const OTHER_MONEY = [
  ['is in another currency', { currency: 'USD', amountMinor: minor(6), providerMinor: minor(-6) }],
  ['has a net in another currency', { isForeignNet: true }],
] as const
const TYPES: readonly (readonly [string, Partial<ProviderTransaction>])[] = [
  ['a refund', refundFields],
  ['a chargeback', { ...refundFields, reversalKind: 'chargeback' }],
  ['a won dispute', { type: 'correction', isDisputeWon: true }],
  ['a void refund', { ...refundFields, status: 'reversed' }],
  ['a row of an unknown type', { type: 'unknown' }],
]
const cases = TYPES.flatMap(([name, type]) =>
  OTHER_MONEY.map(([what, fields]) => [name, what, { ...type, ...fields }] as const),
)

describe('sync: rows that are not rupiah', () => {
  it.for(cases)(
    '%s of a payment that %s is one finding and no movement',
    async ([, , fields], { deps, credited, sync, syncAfter }) => {
      await sync(rowNow(deps, credited))
      const posted = await paymentOf(deps, credited)

      await sync(rowNow(deps, credited, { ...fields, keptMinor: undefined }))
      await syncAfter(3_600)

      expect(await paymentOf(deps, credited)).toStrictEqual(posted)
      expect(await sumsOf(deps)).toStrictEqual(ZERO_SUMS)
      expect(deps.stored.items('SUSPENSE#')).toMatchObject([
        { cause: 'transaction_unexplained', payment_id: posted.paymentId, status: 'open' },
      ])
      expect(deps.published).toHaveLength(1)
    },
  )

  it.for(['WITHDRAWAL', 'TOPUP', 'DISBURSEMENT'])(
    'a %s in dollars is one finding and no row of the house',
    async (type, { deps, sync, syncAfter }) => {
      const cashflow = type === 'TOPUP' ? 'MONEY_IN' : 'MONEY_OUT'
      const row = rowOut(deps, {
        type,
        cashflow,
        currency: 'USD',
        amount: 100.5,
        net_amount: 100.5,
        net_amount_currency: 'USD',
      })

      await sync(row)
      await syncAfter(3_600)

      expect(await sumsOf(deps)).toStrictEqual(ZERO_SUMS)
      await expectUnexplained(deps, row.transactionId)
      expect(deps.published).toHaveLength(1)
    },
  )

  it.for(OTHER_MONEY)(
    'a refund of held money that %s leaves the money held',
    async ([, fields], { deps, hold, sync }) => {
      const { heldRow, item } = await hold('unknown_reference')
      const [held, sums] = [await item(), await sumsOf(deps)]

      await sync(settledRow(heldRow, deps.now(), { ...refundFields, ...fields }))

      expect(await item()).toStrictEqual(held)
      expect(await sumsOf(deps)).toStrictEqual(sums)
      await expectUnexplained(deps, 'txn_back')
    },
  )

  it.for(['pending', 'failed'] as const)(
    'a row in dollars that is %s is passed over',
    async (status, { deps, sync }) => {
      await sync(settledRow(foreignIds, deps.now(), { type: 'return', currency: 'USD', status }))

      expect(deps.stored.items('SUSPENSE#')).toStrictEqual([])
    },
  )

  it('is booked back also if an operator takes it over at the same moment, with a finding', async ({
    deps,
    client,
    sync,
    showAnew,
  }) => {
    const row = settledRow(foreignIds, deps.now(), {
      type: 'account',
      transfer: 'withdrawal',
      providerMinor: minor(-100_000),
    })
    await sync(row)
    deps.clock.advance(600)
    showAnew(row, { status: 'reversed' })
    const takeOver = () =>
      adjustBalance(deps, client, 'correction', row.providerMinor, 'ROW-1', row.transactionId)

    await syncProviderTransactions(beforeCommit(deps, takeOver))

    expect(await bookingsOf(deps, houseRowOf(row))).toMatchObject({ correction: {}, reversal: {} })
    const subject = `${row.transactionId}#reversal`
    expect(await findingAbout(deps, subject, 'reversed_upstream')).toBeDefined()
    await expectHouseBalanced(deps)
  })
})

it('a contradiction is told although the case of its row is there already', async ({
  deps,
  credited,
  sync,
}) => {
  const { payment } = credited
  const { paymentId: reference_id } = payment
  const row = rowOut(deps, { type: 'WITHDRAWAL', reference_id, net_amount: 70_000 })
  await recordSuspense(deps, transferCase(payment, row, deps.now()))

  await sync(row)

  await expectFinding(deps, row.transactionId, 'row_contradicts', { status: 'open' })
})
