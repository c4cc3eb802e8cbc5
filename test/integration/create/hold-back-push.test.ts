/**
 * Goal: a push key is usable again as soon as its pushes are decided, and no second push is ever sent beside a first
 * one that may still be paid.
 * Method: an OVO create whose answer never came, and every kind of row the provider may then have for its reference.
 */
import { describe, expect, it } from 'vitest'
import { eraseCustomers } from '../../../shared/inquiry/erase-customers.ts'
import { minor } from '../../../shared/money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import type {
  ProviderPayment,
  ProviderRequestStatus,
  ProviderTransaction,
  TransactionPage,
} from '../../../shared/provider/provider.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { OVO_REQUEST } from '../../support/payment-builders.ts'
import { aCreate } from '../payment/payment-test.ts'

/** A push whose answer was lost twelve seconds after the claim. By default its minute is over. */
async function lostPush(waitedSeconds = 60) {
  const scene = await aCreate(OVO_REQUEST)
  const { deps, make, asked } = scene
  deps.provider.script('createRequest', async (input, timeoutMs) => {
    await deps.provider.healthy.createRequest(input, timeoutMs)
    deps.clock.advance(12)
    return { kind: 'unknown', reason: 'timeout' }
  })
  await make().catch(() => undefined)
  deps.provider.heal('createRequest')
  deps.clock.advance(waitedSeconds)
  const [{ paymentRequestId, reference } = deps.provider.requestOf('the first')] =
    deps.provider.requests.values()
  return {
    ...scene,
    reference,
    row: (status: ProviderTransaction['status'], fields: Partial<ProviderTransaction> = {}) => {
      const of = { providerPaymentId: `py-${crypto.randomUUID()}`, reference }
      return settledRow(of, deps.now(), { ...NOT_SETTLED, paymentRequestId, status, ...fields })
    },
    /** The provider lists these rows, for any filter. */
    show: (transactions: readonly ProviderTransaction[], more: Partial<TransactionPage> = {}) => {
      const value = { transactions, hasMore: false, ...more }
      deps.provider.script('listTransactions', async () => ({ kind: 'found', value }))
    },
    report: (
      { providerPaymentId, reference: of }: ProviderTransaction,
      status: ProviderPayment['status'],
      captured = 0,
      requestStatus: ProviderRequestStatus = 'open',
    ) => {
      const known = { providerPaymentId, paymentRequestId, reference: of, currency: 'IDR', status }
      deps.provider.payments.set(providerPaymentId, { ...known, capturedMinor: minor(captured) })
      const now = { reference: of, status: requestStatus, latestPaymentId: providerPaymentId }
      deps.provider.requests.set(paymentRequestId, {
        ...deps.provider.requestOf(paymentRequestId),
        ...now,
      })
    },
    expectSecondPush: async () => {
      expect((await make()).payment).toMatchObject({ status: 'pending', attempt: 2 })
      expect(asked()).toBe(2)
    },
    expectHeldBack: async (words: string) => {
      await expect(make()).rejects.toThrow(words)
      expect(asked()).toBe(1)
    },
  }
}

const UNDECIDED = 'has not decided an earlier push'

describe('an idempotency key whose pushes have ended (design section 4, Create)', () => {
  it.each([
    ['failed', undefined],
    ['reversed', undefined],
    ['pending', 'failed'],
    ['pending', 'expired'],
    ['pending', 'cancelled'],
    ['unknown', 'failed'],
    ['reversed', undefined, ', beside a refund that does not count'],
  ] as const)(
    'can be used again when its row is %s and its request has %s%s',
    async (...[status, requestStatus, beside]) => {
      const { row, show, report, expectSecondPush } = await lostPush()
      const known = row(status)
      if (requestStatus) report(known, 'failed', 0, requestStatus)
      show(beside ? [known, row('success', { type: 'return' })] : [known])

      await expectSecondPush()
    },
  )

  it('can be used again when a wrong amount was paid, which is in suspense', async () => {
    const { deps, ledger, row, show, report, expectSecondPush } = await lostPush()
    const amountMinor = minor(99_999)
    const paid = row('success', { amountMinor })
    report(paid, 'captured', amountMinor)
    show([paid])

    await expectSecondPush()

    expect(await findSuspense(deps, paid.providerPaymentId)).toMatchObject({
      cause: 'wrong_amount',
      amountMinor,
    })
    expect(await ledger()).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it.each(['before', 'after'])(
    'answers the payment, without a second push, if paid %s the read of rows',
    async (when) => {
      const { deps, make, asked, ledger, row, report } = await lostPush()
      const paid = row('success')
      report(paid, 'captured', 100_000)
      deps.provider.script('listTransactions', async ({ reference }) => {
        if (reference && when === 'after') await applyProviderNews(deps, paid, 'callback')
        // A first try of the customer's was declined, the second one paid.
        const transactions = [row('failed'), paid].slice(0, when === 'after' ? 1 : 2)
        return {
          kind: 'found',
          value: { transactions: reference ? transactions : [], hasMore: false },
        }
      })

      const { payment, replayed } = await make()

      const credited = { creditedProviderPaymentId: paid.providerPaymentId }
      expect(payment).toMatchObject({ status: 'succeeded', attempt: 1, ...credited })
      expect(replayed).toBe(true)
      expect(asked()).toBe(1)
      expect(await ledger()).toStrictEqual({ pendingMinor: 97_900, succeeded: 1 })
    },
  )
})

describe('a push that may still be paid', () => {
  it.each([
    ['pending, and its request is open', 'pending', 'open', 'open'],
    ['there although the money cannot be seen yet', 'success', 'open', 'open'],
    ['there although its request has failed', 'success', 'failed', 'failed'],
  ] as const)(
    'is not sent again while its row is %s',
    async (_, rowStatus, status, requestStatus) => {
      const { row, show, report, expectHeldBack } = await lostPush()
      const known = row(rowStatus)
      report(known, status, 0, requestStatus)
      show([known])

      await expectHeldBack(UNDECIDED)
    },
  )

  it.each([
    ['success', {}],
    ['success', { providerPaymentId: '' }],
    ['pending', {}],
  ] as const)(
    'is not sent again while its row (%s %j) is unseen and another amount was paid',
    async (status, of) => {
      const { deps, row, show, report, expectHeldBack } = await lostPush()
      const [unseen, other] = [row(status, of), row('success', { amountMinor: minor(99_999) })]
      report(other, 'captured', 99_999)
      show([other, unseen])

      await expectHeldBack(UNDECIDED)

      expect(await findSuspense(deps, other.providerPaymentId)).toMatchObject({
        cause: 'wrong_amount',
      })
    },
  )
})

describe('rows found by reference', () => {
  it('are compared exactly: attempt 1 has no row of attempt 10', async () => {
    const { deps, ledger, reference, row, show, report, expectSecondPush } = await lostPush()
    const other = row('success', { reference: `${reference}0` })
    report(other, 'captured', 100_000)
    show([other])

    await expectSecondPush()

    expect(deps.provider.countOf('getPayment')).toBe(0)
    expect(await ledger()).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it.each([
    ['the provider has more of them than it shows', { hasMore: true }],
    ['one of them cannot be read', { unreadableIds: ['txn-1'] }],
  ])('prove nothing when %s', async (_, page) => {
    const { show, expectHeldBack } = await lostPush()
    show([], page)

    await expectHeldBack('could not say')
  })
})

it("a push's lifetime counts from the end of the call, not from the claim", async () => {
  const { deps, expectHeldBack, expectSecondPush } = await lostPush(59)

  await expectHeldBack('may still answer')
  deps.clock.advance(1)
  await expectSecondPush()
})

it('a push whose customer was erased is not sent again, and its key says so', async () => {
  const { deps, paymentId, stored, expectHeldBack } = await lostPush()
  await eraseCustomers(deps, { paymentId }, 'ayu')
  const before = await stored()

  await expectHeldBack('was erased')
  expect(await stored()).toEqual(before)
})
