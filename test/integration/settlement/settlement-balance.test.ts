/**
 * Goal: at every station of the money's way the balance is explained by its payments and settlements.
 * Method: one client is led through its whole life; at each station the figures of GET /v1/balance are written out and
 * recomputed from GET /v1/payments and GET /v1/settlements.
 */
import { describe, expect } from 'vitest'
import { getBalance } from '../../../shared/ledger/ledger-store.ts'
import { minor } from '../../../shared/money.ts'
import { succeedPayment } from '../../../shared/payment/news/succeed-payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { API, type ApiClient, anApiClient, call } from '../../support/api-event.ts'
import { recordTable } from '../../support/intercept-table.ts'
import { post } from '../../support/paid-builders.ts'
import { aPendingPayment } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { aDayLater, fail, payOut, recredit, sweep, sweptNow } from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest as it } from './client-test.ts'

type Listed = {
  readonly id: string
  readonly status: string
  readonly client_net_minor: number
  readonly net_minor: number
  readonly paid_at: string
}

const list = async (
  deps: TestDeps,
  caller: ApiClient,
  endpoint: typeof API.listPayments | typeof API.listSettlements,
) => (await call(deps, endpoint, { caller })).body['data'] as readonly Listed[]

const creditedSince = async (deps: TestDeps, caller: ApiClient, from: string) =>
  (await list(deps, caller, API.listPayments))
    .filter(({ status, paid_at }) => status === 'succeeded' && paid_at >= from)
    .reduce((total, { client_net_minor }) => total + client_net_minor, 0)

/** What is available, pending, in settlements and paid out. */
type Figures = readonly [number, number, number, number]

const expectBalance = async (
  deps: TestDeps,
  caller: ApiClient,
  [available, pending, inSettlement, paidOut]: Figures,
  updatedAt: string | null,
) => {
  const { status, body } = await call(deps, API.getBalance, { caller })
  const balance = {
    client_id: caller.clientId,
    currency: 'IDR',
    available_minor: available,
    pending_minor: pending,
    updated_at: updatedAt,
  }
  expect({ status, body }).toStrictEqual({ status: 200, body: balance })
  const whole = await call(deps, API.getBalance, { caller, query: { include: 'settlements' } })
  expect(whole.body).toStrictEqual({
    ...balance,
    in_settlement_minor: inSettlement,
    paid_out_minor: paidOut,
  })
  // Nothing is out of sight: all that was ever credited is in one of the four.
  expect(available + pending + inSettlement + paidOut).toBe(await creditedSince(deps, caller, ''))
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
  it('is explained by payments and settlements at every station', async ({ deps }) => {
    const caller = await anApiClient(deps, { settlementFloorMinor: minor(10_000) })
    const station = (figures: Figures, updatedAt: string | null) => expectBalance(deps, caller, figures, updatedAt)

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
    if (stored?.status === 'succeeded') await post(deps, stored, { feeMinor: 4_440 })
    await station([0, 45_510, 0, 0], deps.now())
    const corrected = deps.now()

    // Not a day old: a sweep changes nothing. A second payment joins, its fee still estimated.
    deps.clock.advance(600)
    expect(await sweep(deps, caller)).toBeUndefined()
    await station([0, 45_510, 0, 0], corrected)
    await pay(deps, caller, 20_000)
    const secondPaidAt = deps.now()
    await station([0, 45_510 + 15_980, 0, 0], secondPaidAt)

    // Swept: the first is in a settlement; the second waits for its actual fee.
    aDayLater(deps)
    const settlement = await sweptNow(deps, caller)
    expect(settlement).toMatchObject({ netMinor: 45_510, paymentCount: 1 })
    const { deps: recorded, calls } = recordTable(deps)
    await getBalance(recorded, caller.clientId)
    expect(calls.map(({ name }) => name)).toStrictEqual(['query'])
    const sweptAt = deps.now()
    await station([0, 15_980, 45_510, 0], sweptAt)

    // The transfer fails: no figure moves by itself.
    deps.clock.advance(60)
    await fail(deps, settlement)
    await station([0, 15_980, 45_510, 0], sweptAt)

    // Recredited: its net is available.
    deps.clock.advance(60)
    await recredit(deps, settlement)
    await station([45_510, 15_980, 0, 0], deps.now())

    // In the next settlement: drawn from available.
    deps.clock.advance(60)
    const again = await sweptNow(deps, caller)
    expect(again).toMatchObject({ previousId: settlement.settlementId, recreditedMinor: 45_510, netMinor: 45_510 })
    const redrawnAt = deps.now()
    await station([0, 15_980, 45_510, 0], redrawnAt)

    // Paid out: no figure of the spec moves.
    deps.clock.advance(60)
    await payOut(deps, again)
    await station([0, 15_980, 0, 45_510], redrawnAt)

    // A week later the provider has not settled the second: its fee is assumed, and the payment settled with it.
    deps.clock.set(addMs(deps.now(), 7 * DAY_MS))
    expect(await sweptNow(deps, caller)).toMatchObject({ netMinor: 15_980, unprovenMinor: 15_980 })
    await station([0, 0, 15_980, 45_510], deps.now())
  })
})
