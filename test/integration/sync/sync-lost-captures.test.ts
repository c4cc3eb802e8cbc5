import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { paymentIdOf } from '../../../shared/payment/provider-attempts.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-provider-transactions.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { checkWhenDue, create, paidUnheard, paidWhileCreating } from '../../support/payment-builders.ts'
import { findingAbout, paymentOf, rowNow } from '../../support/synced-payment.ts'
import { syncTest as it } from './sync-test.ts'

describe('sync: a capture whose callback was lost (design section 4, Sync)', () => {
  it('credits a pending payment, with its fee, in one run', async ({ deps, client, rows, paid }) => {
    rows.push(rowNow(deps, paid))

    await syncProviderTransactions(deps)

    const payment = await paymentOf(deps, paid)
    expect(payment).toMatchObject({ status: 'succeeded', feeStatus: 'actual', netMinor: 95_460 })
    expect(payment.transitions.at(-1)).toMatchObject({ status: 'succeeded', source: 'sync' })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_460, succeeded: 1 })
  })

  it('credits it once when 20 runs find it at the same time, in two rows', async ({ deps, client, rows, paid }) => {
    rows.push(rowNow(deps, paid), rowNow(deps, paid))

    await Promise.all(Array.from({ length: 20 }, () => syncProviderTransactions(deps)))

    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_460, succeeded: 1 })
  })

  it('credits it with the estimate when the provider has not settled yet', async ({ deps, rows, paid }) => {
    rows.push(rowNow(deps, paid, NOT_SETTLED))

    await syncProviderTransactions(deps)

    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded', feeStatus: 'estimated', netMinor: 95_900 })
    expect(await findingAbout(deps, paid.payment.paymentId, 'transaction_unexplained')).toBeUndefined()
  })

  it.for(['failed', 'expired', 'cancelled'] as const)(
    'holds it, with an alert, when the payment is %s',
    async (status, { deps, rows, paid }) => {
      await closePayment(deps, paid.payment, status, 'due_work')
      rows.push(rowNow(deps, paid))

      await syncProviderTransactions(deps)
      deps.clock.advance(3_600)
      await syncProviderTransactions(deps)

      expect(await paymentOf(deps, paid)).toMatchObject({ status })
      expect(await findSuspense(deps, paid.providerPaymentId)).toMatchObject({
        kind: 'money',
        cause: 'payment_not_pending',
        amountMinor: 100_000,
        paymentId: paid.payment.paymentId,
      })
      expect(deps.published.map(({ kind }) => kind)).toStrictEqual(['suspense.money'])
      expect(deps.provider.countOf('getPayment')).toBe(1)
    },
  )

  it('holds a second capture of a payment that was credited with another one', async ({
    deps,
    client,
    rows,
    credited,
  }) => {
    const second = { ...credited, providerPaymentId: deps.provider.pay(credited.payment.paymentRequestId) }
    rows.push(rowNow(deps, credited), rowNow(deps, second))

    await syncProviderTransactions(deps)

    expect(await findSuspense(deps, second.providerPaymentId)).toMatchObject({ cause: 'second_capture' })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_460, succeeded: 1 })
  })

  it('fails a payment that was paid with another amount, and holds the money', async ({ deps, client, rows }) => {
    const { payment } = await create(deps, client)
    const reference = deps.provider.requestOf(payment.paymentRequestId).reference
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId, 90_000)
    rows.push(rowNow(deps, { payment, providerPaymentId, reference }, { amountMinor: minor(90_000) }))

    await syncProviderTransactions(deps)

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'failed' })
    expect(await findSuspense(deps, providerPaymentId)).toMatchObject({ cause: 'wrong_amount', amountMinor: 90_000 })
  })

  it('remembers it while the payment is being created, and reconciles its fee in the next run', async ({
    deps,
    client,
    rows,
  }) => {
    const { creating, answer, reference, providerPaymentId } = await paidWhileCreating(deps, client)
    const row = settledRow({ providerPaymentId, reference }, deps.now())
    rows.push(row)

    const first = await syncProviderTransactions(deps)
    answer.resolve()
    const { payment } = await creating
    await checkWhenDue(deps, payment)
    deps.clock.advance(3_600)
    const second = await syncProviderTransactions(deps)

    expect(first).toMatchObject({ unanswered: 1, complete: true })
    expect(second).toMatchObject({ unanswered: 0, complete: true })
    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({
      status: 'succeeded',
      feeStatus: 'actual',
      providerSettledAt: row.settledAt,
    })
    expect(deps.published).toStrictEqual([])
  })

  it('credits it from the stored request when the attempt died under its lease', async ({ deps, client, rows }) => {
    const { creating, reference, providerPaymentId } = await paidWhileCreating(deps, client)
    void creating.catch(() => undefined)
    deps.clock.advance(31)
    rows.push(settledRow({ providerPaymentId, reference }, deps.now()))

    await syncProviderTransactions(deps)

    const paymentId = paymentIdOf(reference) as Payment['paymentId']
    expect(await findStoredPayment(deps, paymentId)).toMatchObject({
      status: 'succeeded',
      creditedProviderPaymentId: providerPaymentId,
      feeStatus: 'actual',
    })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_460, succeeded: 1 })
  })

  it('credits money that came on an attempt nobody heard of, and cancels the request shown', async ({
    deps,
    client,
    rows,
  }) => {
    const paid = await paidUnheard(deps, client)
    rows.push(rowNow(deps, paid))

    await syncProviderTransactions(deps)

    expect(await findStoredPayment(deps, paid.payment.paymentId)).toMatchObject({
      status: 'succeeded',
      netMinor: 95_460,
    })
    expect(deps.provider.requests.get(paid.payment.paymentRequestId)?.status).toBe('cancelled')
  })
})
