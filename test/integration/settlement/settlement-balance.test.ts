/**
 * Goal: at every station of the money's way the balance is explained by the payments and settlements behind it.
 * Method: one client is led through its whole life; at each station the figures of GET /v1/balance are written out and
 * recomputed from GET /v1/payments and GET /v1/settlements.
 */
import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { makeFeeFinal } from '../../../shared/payment/fee/fee-store.ts'
import { succeedPayment } from '../../../shared/payment/news/succeed-payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import {
  markSettlementFailed,
  markSettlementPaid,
  recreditSettlement,
} from '../../../shared/settlement/close-settlement.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { API, type ApiClient, anApiClient, call } from '../../support/api-event.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { aPendingPayment } from '../../support/payment-builders.ts'
import { aDayLater, sweep } from '../../support/settlement-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

type Listed = {
  readonly id: string
  readonly status: string
  readonly client_net_minor: number
  readonly net_minor: number
  readonly paid_at: string
  readonly period_end: string
}

const list = async (
  deps: TestDeps,
  caller: ApiClient,
  endpoint: typeof API.listPayments | typeof API.listSettlements,
) => (await call(deps, endpoint, { caller })).body['data'] as readonly Listed[]

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** Pending is the nets of the succeeded payments that no settlement's window has reached yet (spec 2.2). */
const pendingOf = async (deps: TestDeps, caller: ApiClient) => {
  const ends = (await list(deps, caller, API.listSettlements)).map(({ period_end }) => period_end)
  const settledUntil = ends.toSorted().at(-1) ?? ''
  return sum(
    (await list(deps, caller, API.listPayments))
      .filter(({ status, paid_at }) => status === 'succeeded' && paid_at >= settledUntil)
      .map(({ client_net_minor }) => client_net_minor),
  )
}

const expectBalance = async (
  deps: TestDeps,
  caller: ApiClient,
  expected: {
    readonly available: number
    readonly pending: number
    readonly inSettlement: number
    readonly paidOut: number
    readonly updatedAt: string | null
  },
) => {
  const { status, body } = await call(deps, API.getBalance, { caller })
  const balance = {
    client_id: caller.clientId,
    currency: 'IDR',
    available_minor: expected.available,
    pending_minor: expected.pending,
    updated_at: expected.updatedAt,
  }
  expect({ status, body }).toStrictEqual({ status: 200, body: balance })
  const whole = await call(deps, API.getBalance, { caller, query: { include: 'settlements' } })
  expect(whole.body).toStrictEqual({
    ...balance,
    in_settlement_minor: expected.inSettlement,
    paid_out_minor: expected.paidOut,
  })
  expect(expected.pending).toBe(await pendingOf(deps, caller))
  // Nothing is out of sight: all that was ever credited is in one of the four.
  expect(expected.available + expected.pending + expected.inSettlement + expected.paidOut).toBe(
    sum(
      (await list(deps, caller, API.listPayments))
        .filter(({ status: paid }) => paid === 'succeeded')
        .map(({ client_net_minor }) => client_net_minor),
    ),
  )
  await expectBalanced(deps, caller.clientId)
}

const pay = async (deps: TestDeps, caller: ApiClient, amount: number) => {
  const payment = await aPendingPayment(deps, caller, { notionalMinor: minor(amount) })
  const paymentId = deps.provider.pay(payment.paymentRequestId)
  const capture = deps.provider.payments.get(paymentId)
  if (capture) await succeedPayment(deps, payment, capture, 'callback')
  return payment
}

describe('GET /v1/balance through the life of a client (spec 2.2, 4.5)', () => {
  it('is explained by payments and settlements at every station', async () => {
    const deps = testDeps()
    const caller = await anApiClient(deps, { settlementFloorMinor: minor(10_000) })
    const sweepCaller = async () => (await sweep(deps, caller))[0]
    const operator = { operator: 'sari@gateway.example', notes: 'as told by the bank' }
    const station = (
      [available, pending, inSettlement, paidOut]: readonly [number, number, number, number],
      updatedAt: string | null,
    ) => expectBalance(deps, caller, { available, pending, inSettlement, paidOut, updatedAt })

    // Nothing yet; a payment that is not paid changes nothing.
    await station([0, 0, 0, 0], null)
    await aPendingPayment(deps, caller)
    await station([0, 0, 0, 0], null)

    // Paid: the net of the estimate is pending.
    const first = await pay(deps, caller, 50_000)
    const firstPaidAt = deps.now()
    await station([0, 45_950, 0, 0], firstPaidAt)

    // The actual fee arrives: pending moves by the difference.
    deps.clock.advance(600)
    const stored = await findStoredPayment(deps, first.paymentId)
    if (stored?.status === 'succeeded') await makeFeeFinal(deps, stored, { status: 'actual', feeMinor: minor(4_440) })
    await station([0, 45_510, 0, 0], deps.now())
    const corrected = deps.now()

    // Not a day old: a sweep changes nothing. A second payment joins, its fee still estimated.
    deps.clock.advance(600)
    expect(await sweepCaller()).toBeUndefined()
    await station([0, 45_510, 0, 0], corrected)
    const second = await pay(deps, caller, 20_000)
    const secondPaidAt = deps.now()
    await station([0, 45_510 + 15_980, 0, 0], secondPaidAt)

    // Swept: the first is in a settlement; the second waits for its actual fee.
    aDayLater(deps)
    const settlement = await sweepCaller()
    expect(settlement).toMatchObject({ netMinor: 45_510, paymentCount: 1, periodEnd: secondPaidAt })
    const sweptAt = deps.now()
    await station([0, 15_980, 45_510, 0], sweptAt)

    // The transfer fails: no figure moves by itself.
    deps.clock.advance(60)
    const settlementId = settlement?.settlementId ?? ''
    await markSettlementFailed(deps, { settlementId, ...operator })
    await station([0, 15_980, 45_510, 0], sweptAt)

    // Recredited: its net is available.
    deps.clock.advance(60)
    await recreditSettlement(deps, { settlementId, ...operator })
    await station([45_510, 15_980, 0, 0], deps.now())

    // Recorded again: drawn from available.
    deps.clock.advance(60)
    const again = await sweepCaller()
    expect(again).toMatchObject({ replaces: settlementId, netMinor: 45_510 })
    const redrawnAt = deps.now()
    await station([0, 15_980, 45_510, 0], redrawnAt)

    // Paid out: no figure of the spec moves.
    deps.clock.advance(60)
    await markSettlementPaid(deps, { settlementId: again?.settlementId ?? '', ...operator, confirmUnfunded: true })
    await station([0, 15_980, 0, 45_510], redrawnAt)

    // A week later nobody knows the second fee: it is assumed, and the payment settled with it.
    deps.clock.set(addMs(deps.now(), 7 * DAY_MS))
    expect(await sweepCaller()).toMatchObject({ netMinor: 15_980, periodStart: second.createdAt })
    await station([0, 0, 15_980, 45_510], deps.now())
  })
})
