import { describe, expect } from 'vitest'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-provider-transactions.ts'
import { settledRow } from '../../support/fake-provider.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { checkWhenDue, paidWhileCreating } from '../../support/payment-builders.ts'
import { paymentOf, rowNow } from '../../support/synced-payment.ts'
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
})
