import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-provider-transactions.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { settledRow } from '../../support/fake-provider.ts'
import {
  aSyncWorld,
  creditedPayment,
  findingAbout,
  paidUpstream,
  paymentOf,
  rowNow,
} from '../../support/synced-payment.ts'
import { aCreateInput } from '../../support/xendit-provider.ts'

const foreign = { providerPaymentId: 'inv-1 ?/', reference: 'order 17' }

describe('sync: a transaction without a payment', () => {
  it('holds money that the provider knows and that names no payment of ours', async () => {
    const { deps, rows } = await aSyncWorld()
    const input = aCreateInput({ reference: 'order 17', method: 'qris', amountMinor: minor(100_000) })
    const request = await deps.provider.createRequest(input, 1_000)
    if (request.kind !== 'created') throw new Error('not created')
    const providerPaymentId = deps.provider.pay(request.request.paymentRequestId)
    rows.push(settledRow({ providerPaymentId, reference: 'order 17' }, deps.now()))

    await syncProviderTransactions(deps)

    expect(await findSuspense(deps, providerPaymentId)).toMatchObject({ kind: 'money', cause: 'unknown_reference' })
  })

  it('notes a transaction of another product once, and asks about it once', async () => {
    const { deps, rows } = await aSyncWorld()
    rows.push(settledRow(foreign, deps.now()))

    await syncProviderTransactions(deps)
    deps.clock.advance(3_600)
    const second = await syncProviderTransactions(deps)

    expect(second).toMatchObject({ complete: true, unanswered: 0 })
    expect(await findingAbout(deps, foreign.providerPaymentId, 'transaction_unexplained')).toMatchObject({
      amountMinor: 100_000,
      status: 'open',
    })
    expect(deps.published.map(({ kind }) => kind)).toStrictEqual(['suspense.finding'])
    expect(deps.provider.countOf('getPayment')).toBe(1)
  })

  it('is asked about again, and no finding, while the provider calls it paid and does not show it', async () => {
    const { deps, client, rows } = await aSyncWorld()
    const paid = await paidUpstream(deps, client)
    const shown = deps.provider.payments.get(paid.providerPaymentId)
    if (!shown) throw new Error('nobody paid')
    deps.provider.payments.delete(paid.providerPaymentId)
    rows.push({ ...rowNow(deps, paid), paymentRequestId: paid.payment.paymentRequestId })

    const first = await syncProviderTransactions(deps)
    deps.provider.payments.set(paid.providerPaymentId, shown)
    deps.clock.advance(3_600)
    await syncProviderTransactions(deps)

    expect(first).toMatchObject({ complete: true, unanswered: 1 })
    expect(deps.published).toStrictEqual([])
    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded' })
  })

  it('names it by the transaction when it has no payment id at all', async () => {
    const { deps, rows } = await aSyncWorld()
    const row = settledRow({ providerPaymentId: '', reference: '' }, deps.now())
    rows.push(row, settledRow({ providerPaymentId: '', reference: '' }, deps.now()))

    await syncProviderTransactions(deps)

    expect(await findingAbout(deps, row.transactionId, 'transaction_unexplained')).toMatchObject({ status: 'open' })
    expect(deps.published).toHaveLength(2)
  })

  it('asks again about money for a payment of ours, which the provider can show an hour later', async () => {
    const { deps, client, rows } = await aSyncWorld()
    const paid = await paidUpstream(deps, client)
    const shown = deps.provider.payments.get(paid.providerPaymentId)
    if (!shown) throw new Error('the provider has no such payment')
    deps.provider.payments.delete(paid.providerPaymentId)
    rows.push(rowNow(deps, paid))
    await syncProviderTransactions(deps)
    const noted = await findingAbout(deps, paid.providerPaymentId, 'transaction_unexplained')

    deps.provider.payments.set(paid.providerPaymentId, shown)
    deps.clock.advance(3_600)
    await syncProviderTransactions(deps)

    expect(noted).toMatchObject({ paymentId: paid.payment.paymentId, clientId: client.clientId })
    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded', netMinor: 95_460 })
  })

  it('does not credit money that is gone again', async () => {
    const { deps, client, rows } = await aSyncWorld()
    const paid = await paidUpstream(deps, client)
    rows.push(rowNow(deps, paid, { status: 'reversed' }), settledRow(foreign, deps.now(), { status: 'reversed' }))

    await syncProviderTransactions(deps)

    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'pending' })
    expect(deps.published.map(({ subject }) => subject)).toStrictEqual([`${paid.payment.paymentId}#reversed_upstream`])
  })

  it.each(['pending', 'failed'] as const)('passes over a transaction that is %s', async (status) => {
    const { deps, client, rows } = await aSyncWorld()
    const paid = await paidUpstream(deps, client)
    rows.push(rowNow(deps, paid, { status }))

    await syncProviderTransactions(deps)

    expect(deps.provider.countOf('getPayment')).toBe(0)
    expect(deps.published).toStrictEqual([])
    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'pending' })
  })

  it.each(['pending', 'failed'] as const)('takes no fee from a transaction that is %s', async (status) => {
    const { deps, client, rows } = await aSyncWorld()
    const credited = await creditedPayment(deps, client)
    rows.push(rowNow(deps, credited, { status }))

    await syncProviderTransactions(deps)

    expect(await paymentOf(deps, credited)).toStrictEqual(credited.payment)
  })
})

describe('sync: money the provider cannot be asked about', () => {
  it('is asked about again in every round, and credited when the answer comes', async () => {
    const { deps, client, rows } = await aSyncWorld()
    const paid = await paidUpstream(deps, client)
    rows.push(rowNow(deps, paid))
    deps.clock.advance(90)
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'server_error' }))
    const first = await syncProviderTransactions(deps)

    deps.clock.advance(40 * 3_600)
    const later = await syncProviderTransactions(deps)
    deps.provider.script('getPayment', async (id) => {
      const value = deps.provider.payments.get(id)
      return value ? { kind: 'found', value } : { kind: 'not_found' }
    })
    await syncProviderTransactions(deps)

    expect(first).toMatchObject({ unanswered: 1, complete: true })
    expect(later).toMatchObject({ unanswered: 1, complete: true })
    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded' })
    expect(deps.published).toStrictEqual([])
  })

  it('is a finding after two days, and no longer holds the next round back', async () => {
    const { deps, client, rows } = await aSyncWorld()
    const paid = await paidUpstream(deps, client)
    rows.push(rowNow(deps, paid))
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'server_error' }))
    await syncProviderTransactions(deps)
    const before = await findingAbout(deps, paid.providerPaymentId, 'transaction_unexplained')

    deps.clock.set(addMs(deps.now(), 2 * DAY_MS))
    const later = await syncProviderTransactions(deps)
    const listed = deps.provider.countOf('listTransactions')
    await syncProviderTransactions(deps)

    expect(before).toBeUndefined()
    expect(later).toMatchObject({ unanswered: 0, complete: true })
    expect(await findingAbout(deps, paid.providerPaymentId, 'transaction_unexplained')).toMatchObject({
      status: 'open',
    })
    // Four spans of six hours: the overlap, and nothing older.
    expect(deps.provider.countOf('listTransactions') - listed).toBe(4)
  })
})
