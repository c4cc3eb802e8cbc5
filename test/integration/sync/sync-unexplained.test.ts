import { describe, expect } from 'vitest'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { settledRow } from '../../support/fake-provider.ts'
import { ledgerView, paidWhileCreating } from '../../support/payment-builders.ts'
import { findingAbout, paymentOf, rowNow, rowOfOtherAttempt } from '../../support/synced-payment.ts'
import { foreignIds, syncTest as it } from './sync-test.ts'

describe('sync: a transaction without a payment', () => {
  it('of another product becomes one finding after one provider call', async ({
    deps,
    sync,
    syncAfter,
  }) => {
    await sync(settledRow(foreignIds, deps.now()))

    expect(await syncAfter(3_600)).toMatchObject({ complete: true, unanswered: 0 })
    const finding = await findingAbout(
      deps,
      foreignIds.providerPaymentId,
      'transaction_unexplained',
    )
    expect(finding).toMatchObject({ amountMinor: 100_000, status: 'open' })
    expect(deps.published.map(({ kind }) => kind)).toStrictEqual(['suspense.finding'])
    expect(deps.provider.countOf('getPayment')).toBe(1)
  })

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

    expect(await findingAbout(deps, row.transactionId, 'transaction_unexplained')).toMatchObject({
      status: 'open',
    })
    expect(deps.stored.items('SUSPENSE#')).toHaveLength(3)
  })

  it('is credited when the provider shows its money an hour later', async ({
    deps,
    client,
    paid,
    sync,
    syncAfter,
  }) => {
    deps.provider.script('getPayment', async () => ({ kind: 'not_found' }))
    const row = rowOfOtherAttempt(deps, paid)
    // The row is outside the span that the next round reads again.
    deps.clock.advance(200)
    await sync(row)
    const firstFinding = await findingAbout(deps, paid.providerPaymentId, 'transaction_unexplained')

    deps.provider.heal('getPayment')
    await syncAfter(3_600)

    expect(firstFinding).toMatchObject({
      paymentId: paid.payment.paymentId,
      clientId: client.clientId,
    })
    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded', netMinor: 95_460 })
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

      expect(await paymentOf(deps, paid)).toMatchObject({
        status: 'succeeded',
        reversal: { amountMinor: 100_000 },
      })
      expect(await ledgerView(deps, client.clientId)).toStrictEqual({
        pendingMinor: 0,
        succeeded: 1,
      })
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
