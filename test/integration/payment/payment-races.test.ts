/**
 * Goal: whoever is quicker, what is decided is decided on the payment as it is. Method: another writer comes between
 * the read and the write of the one under test, which then has to look again.
 */
import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { cancelPayment } from '../../../shared/payment/news/cancel-payment.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { beforeFirst, interceptTable } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aPaid, aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

it('a capture whose payment is closed between read and write is held, and not lost', async () => {
  const { deps, client, payment, providerPaymentId } = await aPaid()
  const raced = beforeFirst(deps, 'transact', () => closePayment(deps, payment, 'cancelled', 'cancel'))

  await applyProviderNews(raced, { providerPaymentId }, 'callback')

  expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'cancelled' })
  expect(await findSuspense(deps, providerPaymentId)).toMatchObject({ cause: 'payment_not_pending' })
  expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, cancelled: 1 })
})

it('a closing status whose payment is paid between read and write changes nothing any more', async () => {
  const { deps, client, payment, providerPaymentId } = await aPaid()
  const request = deps.provider.requests.get(payment.paymentRequestId)
  if (!request) throw new Error('the provider does not know the request')
  const value = { ...request, status: 'expired', latestPaymentId: undefined } as const
  deps.provider.script('getRequest', async () => ({ kind: 'found', value }))
  const raced = beforeFirst(deps, 'transact', () => applyProviderNews(deps, { providerPaymentId }, 'callback'))

  await applyProviderNews(raced, { paymentRequestId: payment.paymentRequestId }, 'callback')

  expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'succeeded' })
  expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
})

it('a wrong amount is held in the very transaction that fails the payment', async () => {
  const deps = testDeps()
  const payment = await aPendingPayment(deps, await aStoredClient(deps))
  const providerPaymentId = deps.provider.pay(payment.paymentRequestId, 99_999)
  let transactions = 0
  // The process dies as soon as its first transaction is through: nobody comes behind it to make up for it.
  const dying = interceptTable(deps, {
    after: ({ name }) => {
      if (name === 'transact' && transactions++ === 0) throw new Error('the process died')
    },
  })

  await expect(applyProviderNews(dying, { providerPaymentId }, 'callback')).rejects.toThrow('died')

  expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'failed' })
  expect(await findSuspense(deps, providerPaymentId)).toMatchObject({ amountMinor: minor(99_999), status: 'open' })
})

describe('a cancel whose payment is paid meanwhile', () => {
  it('answers by the status that is kept, and asks the provider for nothing when it is kept before its note', async () => {
    const { deps, client, payment, providerPaymentId } = await aPaid()
    const raced = beforeFirst(deps, 'update', () => applyProviderNews(deps, { providerPaymentId }, 'callback'))

    const cancel = cancelPayment(raced, { clientId: client.clientId, id: payment.paymentId })

    await expect(cancel).rejects.toThrow('payment cannot be cancelled in status=succeeded')
    expect(deps.provider.countOf('cancelRequest')).toBe(0)
  })

  it('answers so as well when it leaves pending only behind the provider', async () => {
    const { deps, client, payment, providerPaymentId } = await aPaid()
    deps.provider.script('cancelRequest', async () => ({ kind: 'not_cancellable' }))
    const raced = beforeFirst(deps, 'transact', () => applyProviderNews(deps, { providerPaymentId }, 'callback'))

    const cancel = cancelPayment(raced, { clientId: client.clientId, id: payment.paymentId })

    await expect(cancel).rejects.toThrow('payment cannot be cancelled in status=succeeded')
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
  })
})
