/**
 * Goal: what operators say of money that no row of a payment shows is booked once, with equal
 * sides, within its bounds. Method: real stores; each action alone, repeated, raced and beyond its
 * bounds; the audits of client and gateway find nothing afterwards.
 */
import { describe, expect, it } from 'vitest'
import { raiseFence } from '../../../shared/ledger/fence-store.ts'
import { getBalance } from '../../../shared/ledger/ledger-store.ts'
import { minor } from '../../../shared/money.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { bookUnmatchedRow } from '../../../shared/posting/house-journal.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { aHouseRow, bookRefund, entryKeyOf } from '../../support/money-rows.ts'
import {
  auditRecordsOf,
  invokeAdmin,
  invokeWhole,
  OPERATOR,
} from '../../support/operator-actions.ts'
import {
  anOpenPayment,
  aSucceededPayment,
  aTransaction,
  entriesIn,
  post,
} from '../../support/paid-builders.ts'
import { aPendingPayment } from '../../support/payment-builders.ts'
import { expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import { aLonePayment, payOut, sweptNow } from '../../support/settlement-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { alterSettlement, erase } from '../../support/tampering.ts'
import { beforeCommit, memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { recount } from '../recount/torn-world.ts'
import { clientTest } from '../settlement/client-test.ts'
import { approvedFor } from './approved-for.ts'

describe('return-payout (design sections 7 and 12)', () => {
  const RETURN = { bank_reference: 'BCARET1', value_date: '2026-11-23', notes: 'account closed' }

  clientTest(
    'books the net again, once, and the next settlement pays it',
    async ({ deps, client, settlement }) => {
      await payOut(deps, settlement)
      const input = { operator: OPERATOR, settlement_id: settlement.settlementId, ...RETURN }

      const reply = await invokeAdmin('return-payout', deps, input)

      expect(reply).toMatchObject({
        status: 200,
        body: {
          type: 'returned',
          returned_settlement_id: input.settlement_id,
          client_net_minor: 95_900,
          bank_minor: 95_900,
          ...RETURN,
        },
      })
      expect(await getBalance(deps, client.clientId)).toMatchObject({
        pendingMinor: 95_900,
        paidOutMinor: 95_900,
        inSettlementMinor: 0,
      })
      expect(await findAnySettlement(deps, settlement.settlementId)).toMatchObject({
        status: 'manual_paid',
        returnedAt: deps.now(),
      })
      const after = expect.objectContaining(RETURN)
      expect(await auditRecordsOf(deps, settlement.settlementId)).toContainEqual(
        expect.objectContaining({ action: 'return-payout', after }),
      )
      expect(await invokeAdmin('return-payout', deps, input)).toMatchObject({
        status: 422,
        body: { message: 'this payout was returned already' },
      })
      const next = await sweptNow(deps, client)
      expect(next).toMatchObject({ netMinor: 95_900, paymentCount: 0, unprovenMinor: 0 })
      expect(await entriesIn(deps, client)).toMatchObject([
        { type: 'payment' },
        { type: 'returned', returnedSettlementId: settlement.settlementId },
      ])
    },
  )

  clientTest.for(['before', 'after'])(
    'books once what a restore tore from its row, %s the recount',
    async (when, { deps, client, settlement }) => {
      await payOut(deps, settlement)
      const { settlementId } = settlement
      const input = { operator: OPERATOR, settlement_id: settlementId, ...RETURN }
      await invokeAdmin('return-payout', deps, input)
      const { returnedAt } = await findAnySettlement(deps, settlementId)
      await alterSettlement(deps, settlement, { returned_at: undefined })
      deps.clock.advance(3_600)
      if (when === 'after') await recount(deps, client)

      const again = { ...input, bank_reference: 'BCA19' }
      const status = when === 'after' ? 422 : 409
      expect(await invokeAdmin('return-payout', deps, again)).toMatchObject({ status })

      await recount(deps, client)
      expect(await findAnySettlement(deps, settlementId)).toMatchObject({ returnedAt })
    },
  )

  clientTest('refuses a settlement that is not paid', async ({ deps, settlement }) => {
    const input = { operator: OPERATOR, settlement_id: settlement.settlementId, ...RETURN }

    expect(await invokeAdmin('return-payout', deps, input)).toMatchObject({
      status: 422,
      body: { message: 'settlement cannot be returned in status=recorded' },
    })
  })

  clientTest(
    'is computed again after a fence was raised, and two operators at once book it once',
    async ({ deps, client, settlement }) => {
      await payOut(deps, settlement)
      const input = { settlement_id: settlement.settlementId, ...RETURN }
      const act = await approvedFor(deps, 'return-payout', input)
      const fence = addMs(deps.now(), MINUTE_MS)
      const raced = beforeCommit(deps, () => raiseFence(deps, client.clientId, fence))
      const overtaken = beforeCommit(deps, async () => {
        expect(await act(raced)).toMatchObject({ status: 200, body: { posted_at: fence } })
      })

      expect(await act(overtaken)).toMatchObject({ status: 422 })
      expect(await entriesIn(deps, client)).toHaveLength(2)
    },
  )
})

function refund(deps: TestDeps, input: object) {
  return invokeAdmin('refund-payment', deps, { operator: OPERATOR, ...input })
}

function refundOf({ paymentId: payment_id }: Payment, amount_minor: number) {
  return { payment_id, amount_minor, bank_reference: payment_id.toUpperCase() }
}

describe('refund-payment (design sections 7, 10 and 12)', () => {
  clientTest(
    'books a transfer from our bank as a refund, once, with its event',
    async ({ deps, client }) => {
      const payment = await aSucceededPayment(deps, client)
      const input = refundOf(payment, 60_000)

      const reply = await refund(deps, input)

      expect(reply).toMatchObject({
        status: 200,
        body: {
          type: 'refund',
          payment_id: input.payment_id,
          bank_reference: input.bank_reference,
          client_net_minor: -60_000,
          bank_minor: -60_000,
          provider_minor: 0,
        },
      })
      expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({
        takenBackMinor: 60_000,
        reversal: { kind: 'refund', amountMinor: 60_000 },
      })
      expect(await refund(deps, input)).toStrictEqual(reply)
      const ofOne = { ...input, amount_minor: 1 }
      expect(await refund(deps, ofOne)).toMatchObject({ status: 409 })
      const again = { ...input, bank_reference: 'BCA 8' }
      expect(await refund(deps, again)).toMatchObject({
        status: 422,
        body: { message: 'amount_minor: only 40000 IDR of this payment did not go back yet' },
      })
      await erase(deps, entryKeyOf(await paymentOf(deps, { payment }), 'refund'))
      expect(await refund(deps, input)).toMatchObject({ status: 409 })
      deps.clock.advance(60)
      await recount(deps, client)
      const ofPending = { ...input, payment_id: (await aPendingPayment(deps, client)).paymentId }
      expect(await refund(deps, ofPending)).toMatchObject({ status: 422 })
      const { paymentId: payment_id } = await aSucceededPayment(deps, client)
      expect(await refund(deps, { ...input, payment_id })).toMatchObject({
        status: 409,
        body: { message: `bank:${input.bank_reference} has refunded another payment` },
      })
    },
  )

  clientTest.for([
    ['is void', 'reversed', 409],
    ['has failed', 'failed', 409],
    ['stands beside an unread refund', 'success', 409],
    ['stands beside a refund that goes out', 'pending', 409],
    ['the provider does not name', undefined, 502],
  ] as const)('books no transfer for a payment whose own row %s', async ([, rowStatus, status]) => {
    const { deps, payment } = await aLonePayment()
    const { transactions } = deps.provider
    const row = aTransaction(payment)
    if (rowStatus === 'success' || rowStatus === 'pending')
      transactions.push({ ...row, type: 'return', transactionId: 'txn_back', status: rowStatus })
    else if (rowStatus) transactions.splice(0, transactions.length, { ...row, status: rowStatus })
    else deps.provider.silence('listTransactions', 'server_error')

    const reply = await refund(deps, refundOf(payment, 60_000))

    expect(reply).toMatchObject({ status })
    expect(await findStoredPayment(deps, payment.paymentId)).toEqual(payment)
  })

  clientTest('takes over a row of the provider with exactly its amount', async () => {
    const { deps, payment } = await aLonePayment()
    const row = {
      ...aHouseRow(deps, 'txn_out', -62_000),
      amountMinor: minor(60_000),
      feeMinor: minor(2_000),
    }
    const act = (amount_minor: number, provider_transaction_id = 'txn_out') =>
      invokeWhole('refund-payment', deps, {
        operator: OPERATOR,
        payment_id: payment.paymentId,
        amount_minor,
        provider_transaction_id,
      })

    expect(await act(60_000)).toMatchObject({ status: 404 })
    for (const one of [row, aHouseRow(deps, 'txn_in', 60_000)]) await bookUnmatchedRow(deps, one)
    expect(await act(60_000, 'txn_in')).toMatchObject({ status: 422 })
    expect(await act(59_999)).toMatchObject({
      status: 422,
      body: { message: "amount_minor: the row's own amount is 60000, out" },
    })
    expect(await act(60_000)).toMatchObject({
      status: 200,
      body: {
        client_net_minor: -60_000,
        provider_minor: -62_000,
        bank_minor: 0,
        cost_minor: -2_000,
      },
    })
    const after = { amount_minor: 60_000, provider_transaction_id: 'txn_out' }
    expect(await auditRecordsOf(deps, payment.paymentId)).toMatchObject([{ after }])
    await expectHouseBalanced(deps)
  })

  clientTest(
    'of an open payment is noted, and its posting writes the entry',
    async ({ deps, client }) => {
      const payment = await anOpenPayment(deps, client)
      const input = refundOf(payment, 10_000)

      expect(await refund(deps, input)).toMatchObject({
        status: 200,
        body: { id: null, posted_at: null },
      })

      const stored = await findStoredPayment(deps, payment.paymentId)
      if (stored?.status === 'succeeded') await post(deps, stored)
      const entries = await entriesIn(deps, client)
      expect(entries.find(({ type }) => type === 'refund')).toMatchObject({
        bankMinor: -10_000,
        netMinor: -10_000,
      })
    },
  )

  clientTest(
    'is refused when another row took the rest meanwhile, and writes nothing',
    async ({ deps, client }) => {
      const payment = await aSucceededPayment(deps, client)
      const act = await approvedFor(deps, 'refund-payment', refundOf(payment, 60_000))
      const raced = beforeCommit(deps, () => bookRefund(deps, payment, 50_000))

      expect(await act(raced)).toMatchObject({ status: 422 })
      const types = (await entriesIn(deps, client)).map(({ type }) => type)
      expect(types.toSorted()).toStrictEqual(['payment', 'refund'])
    },
  )

  it.for([
    {},
    { provider_transaction_id: 'x', bank_reference: 'y' },
    { amount_minor: 0, bank_reference: 'y' },
  ])('needs an amount and one of the two ids: %o', async (ids) => {
    const input = { payment_id: 'x', amount_minor: 1, ...ids }

    expect(await refund(memoryDeps(), input)).toMatchObject({ status: 422 })
  })
})
