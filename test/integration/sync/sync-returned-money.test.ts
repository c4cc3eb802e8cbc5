/**
 * Goal: a row that takes money back or returns it reaches its payment, whatever ids it carries; no
 * document says which. Method: rows as the adapter reads them, in each form that may come.
 */
import { describe, expect } from 'vitest'
import { holdMoney } from '../../../shared/payment/held-money.ts'
import { someHeldMoney } from '../../support/money-rows.ts'
import { aPendingPayment } from '../../support/payment-builders.ts'
import { sweptADayLater } from '../../support/settlement-builders.ts'
import {
  expectFinding,
  expectPayment,
  expectSuspense,
  expire,
  findingAbout,
  notifyOf,
  type PaidUpstream,
  paymentOf,
  pendingOf,
  rowNow,
} from '../../support/synced-payment.ts'
import { syncTest as it } from './sync-test.ts'
import { rowOut } from './transfer-rows.ts'

const REFUND = { type: 'REFUND', reference_id: 'refund-17', product_id: 'rfd-17' }

type Form = readonly [string, (paid: PaidUpstream) => object]

const FORMS: readonly Form[] = [
  ['its payment', ({ providerPaymentId: product_id }) => ({ ...REFUND, product_id })],
  [
    'its payment, without a reference',
    ({ providerPaymentId: product_id }) => ({ ...REFUND, product_id, reference_id: null }),
  ],
  [
    'its request',
    ({ payment: { paymentRequestId: payment_request_id } }) => ({
      ...REFUND,
      product_data: { payment_request_id },
    }),
  ],
  ['its attempt', ({ reference: reference_id }) => ({ ...REFUND, reference_id })],
]

describe('sync: a row that returns money, and has a reference or a product of its own', () => {
  it.for(FORMS)(
    'is applied once to the payment of a refund that names %s',
    async ([, named], { deps, client, credited, sync, syncAfter }) => {
      await sync(rowNow(deps, credited))

      await sync(rowOut(deps, named(credited)))
      const asked = deps.provider.countOf('getPayment')
      await syncAfter(86_400)

      await expectPayment(deps, credited, { movements: [{ type: 'refund', amountMinor: 60_000 }] })
      expect(await pendingOf(deps, client)).toBe(35_460)
      expect(deps.published.map(({ subject }) => subject)).toStrictEqual([
        expect.stringMatching(/#refund#money_went_back$/),
      ])
      // The second net reads the row again, and knows its payment.
      expect(deps.provider.countOf('getPayment')).toBe(asked)
    },
  )

  it.for(['VOIDED', 'FAILED'])(
    'is undone or told when the refund is %s',
    async (status, { deps, credited, rows, sync, syncAfter }) => {
      await sync(rowNow(deps, credited))
      const shown = { ...REFUND, product_id: credited.providerPaymentId }
      const row = rowOut(deps, shown)
      await sync(row)
      deps.clock.advance(600)
      rows.splice(1, 1, rowOut(deps, { ...shown, id: row.transactionId, status }))

      await syncAfter(60)

      const { movements } = await paymentOf(deps, credited)
      expect(movements.map(({ type }) => type)).toStrictEqual(
        status === 'VOIDED' ? ['refund', 'reversal'] : ['refund'],
      )
      expect(deps.published).toHaveLength(2)
    },
  )

  it('is applied to its payment when it is a chargeback and its reversal', async ({
    deps,
    client,
    credited,
    sync,
    syncAfter,
  }) => {
    await sync(rowNow(deps, credited))
    const ids = { reference_id: null, product_id: credited.providerPaymentId }
    const amounts = { amount: 100_000, net_amount: 100_000 }

    await sync(rowOut(deps, { ...ids, ...amounts, type: 'CHARGEBACK' }))
    await expect(sweptADayLater(deps, client)).rejects.toThrow('nothing was settled')
    const won = { type: 'CHARGEBACK_REVERSAL', cashflow: 'MONEY_IN' }
    await syncAfter(600, rowOut(deps, { ...ids, ...amounts, ...won }))

    expect(await pendingOf(deps, client)).toBe(95_460)
  })

  it.for([...FORMS.slice(2), ['its payment', FORMS[0]?.[1]] as Form])(
    'gives back held money when a refund names %s',
    async ([, named], { deps, paid, sync }) => {
      await expire(deps, paid.payment)
      await sync(rowNow(deps, paid))

      await sync(rowOut(deps, { ...named(paid), amount: 100_000, net_amount: 100_000 }))

      await expectSuspense(deps, paid.providerPaymentId, {
        status: 'resolved',
        resolution: 'refunded',
      })
    },
  )

  it('gives back held money once, although its payment is credited later', async ({
    deps,
    client,
    sync,
    syncAfter,
  }) => {
    const payment = await aPendingPayment(deps, client)
    const { reference } = deps.provider.requestOf(payment.paymentRequestId)
    const cause = 'wrong_amount'
    await holdMoney(deps, someHeldMoney(deps, 'py-wrong', 60_000, { cause, payment }))
    await sync(rowOut(deps, { ...REFUND, reference_id: reference }))
    await syncAfter(3 * 86_400)
    await expectSuspense(deps, 'py-wrong', { resolution: 'refunded' })
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
    await notifyOf(deps, providerPaymentId)
    const paid = { payment, providerPaymentId, reference }

    await sync(rowNow(deps, paid))
    await syncAfter(2 * 86_400)

    await expectPayment(deps, paid, { status: 'succeeded', movements: [] })
    expect(await pendingOf(deps, client)).toBe(95_460)
  })

  it('waits while the provider does not answer, however old it is', async ({
    deps,
    credited,
    sync,
    syncAfter,
  }) => {
    await sync(rowNow(deps, credited))
    deps.provider.silence('getPayment', 'server_error')
    await sync(rowOut(deps, { ...REFUND, product_id: credited.providerPaymentId }))
    for (let hours = 0; hours < 50; hours++) await syncAfter(3_600)
    await expectPayment(deps, credited, { movements: [] })
    deps.provider.heal('getPayment')

    await syncAfter(3_600)

    expect((await paymentOf(deps, credited)).movements).toHaveLength(1)
  })

  it('belongs to the house if the provider knows no such payment for two days', async ({
    deps,
    sync,
    syncAfter,
  }) => {
    const row = rowOut(deps, { ...REFUND, product_id: 'py-unknown' })

    await sync(row)
    expect(await findingAbout(deps, row.transactionId, 'reversed_upstream')).toBeUndefined()
    await syncAfter(3 * 86_400)

    await expectFinding(deps, row.transactionId, 'reversed_upstream', { status: 'open' })
  })

  it('is told for each of two captures that came and went before they were read', async ({
    deps,
    paid,
    sync,
  }) => {
    await expire(deps, paid.payment)
    const rowIds = ['txn-1', 'txn-2']

    for (const transactionId of rowIds) {
      const capture = { ...paid, providerPaymentId: `py-of-${transactionId}` }
      await sync(rowNow(deps, capture, { transactionId, status: 'reversed' }))
    }

    for (const transactionId of rowIds) {
      await expectFinding(deps, transactionId, 'reversed_upstream', {
        providerPaymentId: `py-of-${transactionId}`,
        paymentId: paid.payment.paymentId,
      })
    }
  })

  it('is asked about no more when it is void, undoes nothing, and is told', async ({
    deps,
    sync,
    syncAfter,
    syncDays,
  }) => {
    const row = rowOut(deps, { ...REFUND, product_id: 'py-unknown', status: 'VOIDED' })
    await sync(row)
    await syncAfter(3 * 86_400)
    const subject = `${row.transactionId}#reversal`
    expect(await findingAbout(deps, subject, 'reversed_upstream')).toBeDefined()
    const asked = deps.provider.countOf('getPayment')

    await syncDays(3)

    expect(deps.provider.countOf('getPayment')).toBe(asked)
  })
})
