import { describe, expect, it } from 'vitest'
import { insertClient } from '../../../shared/client/client-store.ts'
import { minor } from '../../../shared/money.ts'
import { createPayment } from '../../../shared/payment/create/create-payment.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { listSuspense } from '../../../shared/suspense/list-suspense.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { timestampOf } from '../../../shared/time.ts'
import { aClient } from '../../support/client-builders.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aRequest } from '../../support/payment-builders.ts'
import { aSimulator } from '../../support/provider-simulator-harness.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { adapter } from '../../support/scripted-provider.ts'

/** The whole way by the provider's own API: real adapter, real simulator, one clock. Callbacks are not delivered here. */
const gatewayOn = async (simulator: Awaited<ReturnType<typeof aSimulator>>) => {
  const now = () => timestampOf(simulator.clock.nowMs())
  const sleep = async (ms: number) => simulator.clock.advance(ms / 1_000)
  const own = memoryDeps({ now, sleep, monotonicMs: () => simulator.clock.nowMs() })
  const deps = { ...own, provider: adapter(simulator) }
  const client = aClient({ createdAt: now() })
  await insertClient(deps, client, 'tester')
  const make = async (channelCode = 'BNI', notional = 100_000): Promise<Payment> => {
    const request = aRequest({ channelCode, notionalMinor: minor(notional) })
    return (await createPayment(deps, { client, idempotencyKey: undefined, parsed: { ok: true, request } })).payment
  }
  const pay = ({ paymentRequestId }: Payment) =>
    simulator.call('POST', `/v3/payment_requests/${paymentRequestId}/simulate`, {})
  return { deps, client, make, pay }
}

describe('sync against the provider simulator', () => {
  it('reads a transaction four times on average from paid to final fee, and asks about none by itself', async () => {
    await using simulator = await aSimulator()
    const { deps, client, make, pay } = await gatewayOn(simulator)
    const payments = await Promise.all(Array.from({ length: 30 }, () => make('BCA')))
    const fiveMinutes = async () => {
      simulator.clock.advance(300)
      await syncProviderTransactions(deps)
    }
    await simulator.call('DELETE', '/_simulator/calls')

    for (const payment of payments) {
      await simulator.order('transactions', 'fee_late', 3_600)
      await pay(payment)
      simulator.clock.advance(60)
      if (payments.indexOf(payment) % 5 === 4) await fiveMinutes()
    }
    for (let run = 0; run < 40; run++) await fiveMinutes()

    const { body: calls } = await simulator.call('GET', '/_simulator/calls')
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 30 * 95_460, succeeded: 30 })
    expect(calls).not.toHaveProperty('GET /v3/payments/{id}')
    expect(Reflect.get(Object(calls), 'rows GET /transactions') / 30).toBeLessThanOrEqual(4)
    expect(await listSuspense(deps, undefined, { page: 1, perPage: 10 })).toStrictEqual([])
    await expectBalanced(deps, client.clientId)
  })
})
