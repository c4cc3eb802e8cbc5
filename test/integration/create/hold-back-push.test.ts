/**
 * Goal: a push key is usable again as soon as its last push is decided, and no second push is ever sent beside a first
 * one that may still be paid.
 * Method: an OVO create whose answer never came, and every kind of row the provider may then have for its reference.
 */
import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { again, expectHeldBack, expectSecondPush, lostPush, showRows } from '../../support/lost-push.ts'

describe('a push key whose last push is decided (design section 4, Create)', () => {
  it.each(['failed', 'reversed'] as const)('can be used again when its row is %s', async (status) => {
    const { deps, client, row } = await lostPush()
    showRows(deps, { transactions: [row(status)] })

    await expectSecondPush(deps, client)
  })

  it.each([
    ['pending', 'failed'],
    ['pending', 'expired'],
    ['pending', 'cancelled'],
    ['unknown', 'failed'],
  ] as const)('can be used again when its row is %s and its request has %s', async (status, requestStatus) => {
    const { deps, client, row, upstream } = await lostPush()
    const pending = row(status)
    upstream(pending, { status: 'failed' }, requestStatus)
    showRows(deps, { transactions: [pending] })

    await expectSecondPush(deps, client)
  })

  it('can be used again when a wrong amount was paid, which is held in suspense', async () => {
    const { deps, client, row, upstream } = await lostPush()
    const paid = row('success', { amountMinor: minor(99_999) })
    upstream(paid, { status: 'captured', capturedMinor: 99_999 })
    showRows(deps, { transactions: [paid] })

    await expectSecondPush(deps, client)

    expect(await findSuspense(deps, paid.providerPaymentId)).toMatchObject({
      cause: 'wrong_amount',
      amountMinor: 99_999,
    })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it('answers the payment that it paid for, and sends no second push', async () => {
    const { deps, client, row, upstream } = await lostPush()
    const paid = row('success')
    upstream(paid, { status: 'captured', capturedMinor: 100_000 })
    // A first try of the customer's was declined, the second one paid.
    showRows(deps, { transactions: [row('failed'), paid] })

    const { payment, replayed } = await again(deps, client)

    expect(payment).toMatchObject({
      status: 'succeeded',
      attempt: 1,
      creditedProviderPaymentId: paid.providerPaymentId,
    })
    expect(replayed).toBe(true)
    expect(deps.provider.countOf('createRequest')).toBe(1)
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 97_900, succeeded: 1 })
  })

  it('is used again by one of two callers; the other one gets its payment', async () => {
    const { deps, client, row } = await lostPush()
    showRows(deps, { transactions: [row('failed')] })

    const [one, two] = await Promise.all([again(deps, client), again(deps, client)])

    expect(one.payment).toEqual(two.payment)
    expect(deps.provider.countOf('createRequest')).toBe(2)
  })

  it('is paid all the same by a capture that comes between the look at its rows and the take-over', async () => {
    const { deps, client, row, upstream } = await lostPush()
    const paid = row('success')
    upstream(paid, { status: 'captured', capturedMinor: 100_000 })
    deps.provider.script('listTransactions', async ({ reference }) => {
      if (reference) await applyProviderNews(deps, paid, 'callback')
      return { kind: 'found', value: { transactions: reference ? [row('failed')] : [], hasMore: false } }
    })

    const { payment, replayed } = await again(deps, client)

    expect(payment).toMatchObject({ status: 'succeeded', creditedProviderPaymentId: paid.providerPaymentId })
    expect(replayed).toBe(true)
    expect(deps.provider.countOf('createRequest')).toBe(1)
  })
})

describe('rows found by reference', () => {
  it('are compared exactly: what happened to -10 says nothing about -1', async () => {
    const { deps, client, row, upstream, reference } = await lostPush()
    const other = row('success', { reference: `${reference}0` })
    upstream(other, { status: 'captured', capturedMinor: 100_000 })
    showRows(deps, { transactions: [other] })

    await expectSecondPush(deps, client)

    expect(deps.provider.countOf('getPayment')).toBe(0)
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it('are payments: a refund of one that was reversed holds nothing up', async () => {
    const { deps, client, row } = await lostPush()
    showRows(deps, { transactions: [row('reversed'), row('success', { type: 'return' })] })

    await expectSecondPush(deps, client)
  })

  it('are looked at behind those of other references', async () => {
    const { deps, client, row, reference } = await lostPush()
    showRows(deps, { transactions: [row('failed', { reference: `${reference}0` }), row('pending')] })

    await expectHeldBack(deps, client, 'not decided yet')
  })

  it('are looked at on the pages behind, too', async () => {
    const { deps, client, row, reference } = await lostPush()
    const others = [row('failed', { reference: `${reference}0` })]
    deps.provider.script('listTransactions', async ({ afterId }) => ({
      kind: 'found',
      value:
        afterId === undefined
          ? { transactions: others, hasMore: true }
          : { transactions: afterId === others[0]?.transactionId ? [row('pending')] : [], hasMore: false },
    }))

    await expectHeldBack(deps, client, 'not decided yet')
  })

  it.each([
    ['there are more of them than five pages', { hasMore: true, afterId: 'txn-0' }],
    ['one of them cannot be read', { unreadableIds: ['txn-1'] }],
  ])('prove nothing when %s', async (_, page) => {
    const { deps, client } = await lostPush()
    showRows(deps, page)

    await expectHeldBack(deps, client, 'could not say')
  })
})
