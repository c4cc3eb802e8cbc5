/** Two attempts of one payment are paid: one is credited, the other is held. */
import { expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { settledRow } from '../../support/fake-provider.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { CASE, send } from '../payment/dispute-news.ts'
import { refundFields } from './held-money.ts'
import { syncTest } from './sync-test.ts'

const it = syncTest.extend('pay', ({ deps, paid }) => async (isOwnCredited: boolean) => {
  const { paymentId, paymentRequestId } = paid.payment
  const { input } = deps.provider.requestOf(paymentRequestId)
  const other = { ...input, reference: `${paymentId}-9` }
  const answer = await deps.provider.healthy.createRequest(other, 1_000)
  if (answer.kind !== 'created') throw new Error('no other attempt')
  const { request } = answer
  const second = { ...request, providerPaymentId: deps.provider.pay(request.paymentRequestId) }
  const own = { ...paid, paymentRequestId }
  const [credited, held] = isOwnCredited ? ([own, second] as const) : ([second, own] as const)
  for (const { providerPaymentId } of [credited, held])
    await applyProviderNews(deps, { providerPaymentId }, 'callback')
  return { credited, held }
})

it.for([
  ['own', 'reference'],
  ['own', 'request'],
  ['other', 'reference'],
  ['other', 'request'],
])(
  'with the %s one credited, the %s of a refund or dispute says whose money goes back',
  async ([attempt, by], { deps, paid, pay, sync, syncAfter }) => {
    const { credited, held } = await pay(attempt === 'own')
    await sync(settledRow(credited, deps.now()), settledRow(held, deps.now()))
    deps.clock.advance(600)
    const refundOf = ({ reference, paymentRequestId }: typeof held, transactionId: string) => {
      const ids = { providerPaymentId: '', reference }
      const named = by === 'request' ? { paymentRequestId } : {}
      return settledRow(ids, deps.now(), { ...refundFields, ...named, transactionId })
    }
    const chargeback = { reversalKind: 'chargeback', disputedMinor: minor(60_000) } as const

    await sync(
      { ...refundOf(held, 'txn_held'), amountMinor: minor(40_000), providerMinor: minor(-40_000) },
      { ...refundOf(held, 'txn_disputed'), ...chargeback, providerMinor: minor(-60_000) },
      refundOf(credited, 'txn_credited'),
    )
    await syncAfter(600)
    await send(deps, { reference_id: held.reference })

    const { movements, dispute } = await paymentOf(deps, paid)
    expect(movements).toMatchObject([{ transactionId: 'txn_credited' }])
    expect(dispute).toBeUndefined()
    expect(await findSuspense(deps, CASE)).toMatchObject({ status: 'open' })
    expect(await findSuspense(deps, held.providerPaymentId)).toMatchObject({
      cause: 'second_capture',
      resolution: 'refunded',
    })
  },
)
