import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { cancelPayment } from '../../../shared/payment/news/cancel-payment.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { checkSuspenseAlert, heldMoney, recordSuspense } from '../../../shared/suspense/record-suspense.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { beforeFirst, interceptTable } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aPaid, eventOf } from '../../support/payment-builders.ts'
import { type TestDeps } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { paymentTest as it } from './payment-test.ts'

/** The provider has received money by a request that is not the payment's own. */
const captureUpstream = (deps: TestDeps, providerPaymentId: string, reference: string, amount: number) => {
  const captured = { currency: 'IDR', status: 'captured', capturedMinor: minor(amount) } as const
  deps.provider.payments.set(providerPaymentId, {
    ...captured,
    providerPaymentId,
    paymentRequestId: 'pr-orphan',
    reference,
  })
}

describe('money that may not be credited (design section 4)', () => {
  const ENDED = ['failed', 'expired', 'cancelled'] as const
  it.for(ENDED)('is held when the payment is %s already', async (status, { deps, client, payment }) => {
    if (status === 'cancelled') await cancelPayment(deps, { clientId: client.clientId, id: payment.paymentId })
    else deps.provider.close(payment.paymentRequestId, status)
    await applyProviderNews(deps, { paymentRequestId: payment.paymentRequestId }, 'callback')
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId)

    await applyProviderNews(deps, { providerPaymentId }, 'callback')
    await applyProviderNews(deps, { providerPaymentId }, 'callback')

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status })
    expect(await findSuspense(deps, providerPaymentId)).toMatchObject({
      kind: 'money',
      cause: 'payment_not_pending',
      amountMinor: 100_000,
      paymentId: payment.paymentId,
      status: 'open',
    })
    expect(deps.published).toHaveLength(1)
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, [status]: 1 })
  })

  it('is held when a reference is not one of ours, or of no payment', async ({ deps }) => {
    for (const reference of ['somebody-elses-order', `${crypto.randomUUID()}-1`]) {
      const providerPaymentId = `py-${crypto.randomUUID()}`
      captureUpstream(deps, providerPaymentId, reference, 5_000)

      await applyProviderNews(deps, { providerPaymentId }, 'callback')

      const held = { cause: 'unknown_reference', amountMinor: 5_000 }
      expect(await findSuspense(deps, providerPaymentId)).toMatchObject(held)
    }
    expect(deps.published.map(({ kind }) => kind)).toStrictEqual(['suspense.money', 'suspense.money'])
  })

  it('is held, and the payment fails with its event, when the amount is wrong', async ({ deps, client, payment }) => {
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId, 99_999)

    await Promise.all(Array.from({ length: 5 }, () => applyProviderNews(deps, { providerPaymentId }, 'callback')))

    const failed = { status: 'failed', failureReason: 'wrong_amount' }
    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject(failed)
    expect(await findSuspense(deps, providerPaymentId)).toMatchObject({ cause: 'wrong_amount', amountMinor: 99_999 })
    expect(await eventOf(deps, payment, 'payment.failed')).toBeDefined()
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, failed: 1 })
  })

  it('is held, and the payment fails without a reason of its own, when the currency is wrong', async ({
    deps,
    payment,
  }) => {
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
    const paid = deps.provider.payments.get(providerPaymentId)
    if (paid) deps.provider.payments.set(providerPaymentId, { ...paid, currency: 'PHP' })

    await applyProviderNews(deps, { providerPaymentId }, 'callback')

    const failed = { status: 'failed', failureReason: 'other' }
    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject(failed)
    expect(await findSuspense(deps, providerPaymentId)).toMatchObject({ cause: 'wrong_currency' })
  })

  it('keeps the alert due until it is published, also after a failing topic', async ({ deps }) => {
    const failing: TestDeps = { ...deps, alerts: { publish: () => Promise.reject(new Error('topic down')) } }
    const providerPaymentId = `py-${crypto.randomUUID()}`
    captureUpstream(deps, providerPaymentId, 'unknown', 5_000)

    await applyProviderNews(failing, { providerPaymentId }, 'callback')

    expect(deps.published).toHaveLength(0)
    deps.clock.advance(60)
    const due = { suspenseId: providerPaymentId, dueAt: deps.now() }
    expect(await checkSuspenseAlert(failing, due)).toBe(false)
    // One that cannot be published goes after the others, and comes back a minute later.
    expect(await checkSuspenseAlert(deps, due)).toBe(false)
    deps.clock.advance(60)
    const again = { ...due, dueAt: deps.now() }
    const done = await Promise.all([1, 2, 3].map(() => checkSuspenseAlert(deps, again)))
    expect(done.filter(Boolean)).toHaveLength(1)
    expect(deps.published.map(({ subject }) => subject)).toStrictEqual([providerPaymentId])
    expect(await checkSuspenseAlert(deps, again)).toBe(false)
  })
})

it('a capture whose payment is closed between read and write is held, and not lost', async () => {
  const { deps, client, payment, providerPaymentId } = await aPaid()
  const raced = beforeFirst(deps, 'transact', () =>
    closePayment(deps, payment, { status: 'cancelled', source: 'cancel' }),
  )

  await applyProviderNews(raced, { providerPaymentId }, 'callback')

  expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'cancelled' })
  expect(await findSuspense(deps, providerPaymentId)).toMatchObject({ cause: 'payment_not_pending' })
  expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, cancelled: 1 })
})

it('a closing status whose payment is paid between read and write changes nothing any more', async () => {
  const { deps, client, payment, providerPaymentId } = await aPaid()
  const request = deps.provider.requestOf(payment.paymentRequestId)
  const value = { ...request, status: 'expired', latestPaymentId: undefined } as const
  deps.provider.script('getRequest', async () => ({ kind: 'found', value }))
  const raced = beforeFirst(deps, 'transact', () => applyProviderNews(deps, { providerPaymentId }, 'callback'))

  await applyProviderNews(raced, { paymentRequestId: payment.paymentRequestId }, 'callback')

  expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'succeeded' })
  expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
})

it('a wrong amount is held in the very transaction that fails the payment', async ({ deps, payment }) => {
  const providerPaymentId = deps.provider.pay(payment.paymentRequestId, 99_999)
  let transactions = 0
  // The process dies as soon as its first transaction is through: nobody comes after it to make up for it.
  const dying = interceptTable(deps, {
    after: ({ name }) => {
      if (name === 'transact' && transactions++ === 0) throw new Error('the process died')
    },
  })

  await expect(applyProviderNews(dying, { providerPaymentId }, 'callback')).rejects.toThrow('died')

  expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'failed' })
  expect(await findSuspense(deps, providerPaymentId)).toMatchObject({ amountMinor: minor(99_999), status: 'open' })
})

it('money that is held and told already fails the payment, and is not told again', async () => {
  const { deps, payment, providerPaymentId } = await aPaid()
  const capture = { providerPaymentId, capturedMinor: minor(99_999) }
  const held = heldMoney({ capture, cause: 'wrong_amount', payment, now: deps.now() })
  await recordSuspense(deps, held)

  await closePayment(deps, payment, { status: 'failed', source: 'callback', held })

  expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'failed' })
  expect(deps.published).toHaveLength(1)
  expect(await dueAtOf(deps, 'alert', providerPaymentId)).toBeUndefined()
})

describe('a cancel whose payment is paid meanwhile', () => {
  it('answers by the status that is kept, and asks the provider for nothing when it is kept before its note', async () => {
    const { deps, client, payment, providerPaymentId } = await aPaid()
    const raced = beforeFirst(deps, 'update', () => applyProviderNews(deps, { providerPaymentId }, 'callback'))

    const cancel = cancelPayment(raced, { clientId: client.clientId, id: payment.paymentId })

    await expect(cancel).rejects.toThrow('payment cannot be cancelled in status=succeeded')
    expect(deps.provider.countOf('cancelRequest')).toBe(0)
  })

  it('answers so as well when it leaves pending only after the provider', async () => {
    const { deps, client, payment, providerPaymentId } = await aPaid()
    deps.provider.script('cancelRequest', async () => ({ kind: 'not_cancellable' }))
    const raced = beforeFirst(deps, 'transact', () => applyProviderNews(deps, { providerPaymentId }, 'callback'))

    const cancel = cancelPayment(raced, { clientId: client.clientId, id: payment.paymentId })

    await expect(cancel).rejects.toThrow('payment cannot be cancelled in status=succeeded')
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
  })
})
