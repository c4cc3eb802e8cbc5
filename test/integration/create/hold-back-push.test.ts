/**
 * Goal: a push key is usable again as soon as its pushes are decided, and no second push is ever
 * sent while the first push may still be paid.
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
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { loseAnswer, ONE_PENDING, OVO_REQUEST, TIMED_OUT } from '../../support/payment-builders.ts'
import { expectSuspense } from '../../support/synced-payment.ts'
import { aCreate } from '../payment/payment-test.ts'

/** By default the customer's minute to pay is over. */
async function lostPush(waitedSeconds = 60) {
  const scene = await aCreate(OVO_REQUEST)
  const { deps, client, make, creates } = scene
  await loseAnswer(deps, client, OVO_REQUEST, 12)
  deps.clock.advance(waitedSeconds)
  const [{ paymentRequestId, reference } = deps.provider.requestOf('the first')] =
    deps.provider.requests.values()
  return {
    ...scene,
    reference,
    row: (status: ProviderTransaction['status'], fields: Partial<ProviderTransaction> = {}) => {
      const ids = { providerPaymentId: `py-${crypto.randomUUID()}`, reference }
      return settledRow(ids, deps.now(), { ...NOT_SETTLED, paymentRequestId, status, ...fields })
    },
    listRows: (
      transactions: readonly ProviderTransaction[],
      more: Partial<TransactionPage> = {},
    ) => {
      const value = { transactions, hasMore: false, ...more }
      deps.provider.answer('listTransactions', { kind: 'found', value })
    },
    report: (
      { providerPaymentId, reference: rowReference }: ProviderTransaction,
      status: ProviderPayment['status'],
      captured = 0,
      requestStatus: ProviderRequestStatus = 'open',
    ) => {
      const ids = { paymentRequestId, reference: rowReference }
      deps.provider.payments.set(providerPaymentId, {
        ...ids,
        providerPaymentId,
        currency: 'IDR',
        status,
        capturedMinor: minor(captured),
      })
      deps.provider.requests.set(paymentRequestId, {
        ...deps.provider.requestOf(paymentRequestId),
        ...ids,
        status: requestStatus,
        latestPaymentId: providerPaymentId,
      })
    },
    expectSecondPush: async () => {
      expect((await make()).payment).toMatchObject({ status: 'pending', attempt: 2 })
      expect(creates()).toBe(2)
    },
    expectHeldBack: async (words: string) => {
      await expect(make()).rejects.toThrow(words)
      expect(creates()).toBe(1)
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
    ['reversed', undefined, ', with a refund of no effect'],
  ] as const)(
    'can be used again when its row is %s and its request has %s%s',
    async (...[status, requestStatus, hasRefund]) => {
      const { row, listRows, report, expectSecondPush } = await lostPush()
      const pushRow = row(status)
      if (requestStatus)
        report(pushRow, requestStatus === 'expired' ? 'open' : 'failed', 0, requestStatus)
      listRows(hasRefund ? [pushRow, row('success', { type: 'return' })] : [pushRow])

      await expectSecondPush()
    },
  )

  it('can be used again when a wrong amount was paid, which is in suspense', async () => {
    const { deps, ledger, row, listRows, report, expectSecondPush } = await lostPush()
    const amountMinor = minor(99_999)
    const paidRow = row('success', { amountMinor })
    report(paidRow, 'captured', amountMinor)
    listRows([paidRow])

    await expectSecondPush()

    await expectSuspense(deps, paidRow.providerPaymentId, { cause: 'wrong_amount', amountMinor })
    expect(await ledger()).toStrictEqual(ONE_PENDING)
  })

  it.each(['before', 'after'])(
    'answers the payment without a second push if the push is paid %s the rows are read',
    async (when) => {
      const { deps, make, creates, ledger, row, report } = await lostPush()
      const paidRow = row('success')
      report(paidRow, 'captured', 100_000)
      deps.provider.script('listTransactions', async ({ reference }) => {
        if (reference && when === 'after') await applyProviderNews(deps, paidRow, 'callback')
        // The customer's first try was declined; the second try paid.
        const transactions = [row('failed'), paidRow].slice(0, when === 'after' ? 1 : 2)
        return {
          kind: 'found',
          value: { transactions: reference ? transactions : [], hasMore: false },
        }
      })

      const { payment, outcome } = await make()

      expect(payment).toMatchObject({
        status: 'succeeded',
        attempt: 1,
        capture: { providerPaymentId: paidRow.providerPaymentId },
      })
      expect(outcome).toBe('replayed')
      expect(creates()).toBe(1)
      expect(await ledger()).toStrictEqual({ pendingMinor: 97_900, succeeded: 1 })
    },
  )
})

describe('a push that may still be paid', () => {
  it.each([
    ['pending, and its request is open', 'pending', 'open', 'open'],
    ['successful although the provider shows no money yet', 'success', 'open', 'open'],
    ['successful although its request has failed', 'success', 'failed', 'failed'],
    [
      'pending, and the payment that its failed request names is not found',
      'pending',
      '',
      'failed',
    ],
    ['pending, and its payment is not found', 'pending', 'failed', 'failed', 'py-unseen'],
  ] as const)(
    'is not sent again while its row is %s',
    async (_, rowStatus, status, requestStatus, providerPaymentId?) => {
      const { deps, row, listRows, report, expectHeldBack } = await lostPush()
      const pushRow = row(rowStatus)
      report(pushRow, status || 'open', 0, requestStatus)
      if (status === '') deps.provider.payments.clear()
      listRows([{ ...pushRow, ...(providerPaymentId && { providerPaymentId }) }])

      await expectHeldBack(UNDECIDED)
    },
  )

  it.each([
    ['success', {}],
    ['success', { providerPaymentId: '' }],
    ['success', { type: 'unknown' }],
    ['pending', {}],
  ] as const)(
    'is not sent again while the payment of its row (%s %j) is not shown, although a wrong amount was paid',
    async (status, fields) => {
      const { deps, row, listRows, report, expectHeldBack } = await lostPush()
      const [unseenRow, wrongRow] = [
        row(status, fields),
        row('success', { amountMinor: minor(99_999) }),
      ]
      report(wrongRow, 'captured', 99_999)
      listRows([wrongRow, unseenRow])

      await expectHeldBack(UNDECIDED)

      await expectSuspense(deps, wrongRow.providerPaymentId, { cause: 'wrong_amount' })
    },
  )
})

describe('rows found by reference', () => {
  it('are compared exactly: attempt 1 has no row of attempt 10', async () => {
    const { deps, ledger, reference, row, listRows, report, expectSecondPush } = await lostPush()
    const otherRow = row('success', { reference: `${reference}0` })
    report(otherRow, 'captured', 100_000)
    listRows([otherRow])

    await expectSecondPush()

    expect(deps.provider.countOf('getPayment')).toBe(0)
    expect(await ledger()).toStrictEqual(ONE_PENDING)
  })

  it('prove nothing when the payment of one is of another reference', async () => {
    const { reference, row, listRows, report, expectHeldBack } = await lostPush()
    const paidRow = row('success')
    report({ ...paidRow, reference: `${reference}0` }, 'captured', 100_000)
    listRows([paidRow])

    await expectHeldBack(UNDECIDED)
  })

  it.each([
    ['the provider has more rows than it shows', { hasMore: true }],
    ['one row cannot be read', { unreadableIds: ['txn-1'] }],
  ])('prove nothing when %s', async (_, page) => {
    const { listRows, expectHeldBack } = await lostPush()
    listRows([], page)

    await expectHeldBack('could not say')
  })
})

it('every earlier push must be decided, not only the last one', async () => {
  const { deps, make, creates, row, listRows, report } = await lostPush()
  deps.provider.answer('createRequest', TIMED_OUT)
  await make().catch(() => undefined)
  deps.clock.advance(60)
  const pushRow = row('pending')
  report(pushRow, 'open')
  listRows([pushRow])

  await expect(make()).rejects.toThrow(UNDECIDED)
  expect(creates()).toBe(2)
})

it("a push's lifetime counts from the end of the call, not from the claim", async () => {
  const { deps, expectHeldBack, expectSecondPush } = await lostPush(59)

  await expectHeldBack('may still answer')
  deps.clock.advance(1)
  await expectSecondPush()
})

it('a push whose customer was erased is not sent again, and a retry with its key says so', async () => {
  const { deps, paymentId, reread, expectHeldBack } = await lostPush()
  await eraseCustomers(deps, { paymentId }, 'ayu')
  const paymentBefore = await reread()

  await expectHeldBack('was erased')
  expect(await reread()).toEqual(paymentBefore)
})
