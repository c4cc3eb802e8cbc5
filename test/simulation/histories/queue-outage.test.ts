/**
 * Goal: a message that was not sent costs minutes, and an outage of the queues no more than ten after its end.
 * Method: payments succeed on the simulation's clock while nothing can be sent, or no queue can be reached for an hour.
 * Nothing else goes wrong; the watchers of the simulation look at every write and POST.
 */
import { describe, expect, it } from 'vitest'
import { drive } from '../world/drive.ts'
import { NO_FAULTS } from '../world/faults.ts'
import { loadFunctions } from '../world/handlers.ts'
import { requestAs } from '../world/lambda.ts'
import { rowsOf } from '../world/rows.ts'
import { QUEUES_DOWN } from '../world/world.ts'
import { startPlay } from './history.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const BODY = JSON.stringify({ method: 'virtual_account', channel_code: 'BNI', amount: 300_000, currency: 'IDR' })
const PAYMENTS = 12

const functions = await loadFunctions()

/** Payments of a client with two endpoints, which wait for their customers. */
const startShop = async () => {
  const play = await startPlay({ seed: 5, functions })
  const { world, tenants } = play
  const [tenant] = tenants.slice(1)
  if (!tenant) throw new Error('there is no merchant')
  const waiting: string[] = []
  const pass = (ms: number) => world.scheduler.runFor(ms)
  for (let made = 0; made < PAYMENTS; made++) {
    const asked = { headers: { 'idempotency-key': `key-${made}` }, body: BODY }
    const reply = await drive(world, requestAs(world, tenant, 'api-create-payment', asked))
    waiting.push(String(reply?.body['id']))
    await pass(1_000)
  }
  /** The customers of the next payments pay, and the provider tells of it. */
  const pay = async (count: number) => {
    for (const id of waiting.splice(0, count)) {
      const [request] = world.provider.findPaymentRequests(id)
      world.provider.simulatePayment(request?.payment_request_id ?? '')
    }
    await pass(10_000)
  }
  const deliveries = () => rowsOf(world, 'DELIVERY')
  const stateOf = (row: Readonly<Record<string, unknown>>) => row['status'] ?? row['state']
  const states = () => [...new Set(deliveries().map(stateOf))]
  return { play, world, pass, pay, deliveries, states }
}

describe('a message that was not sent', () => {
  it('is sent by due work within two minutes', async () => {
    const { play, world, pass, pay, deliveries, states } = await startShop()

    world.faults = { ...NO_FAULTS, queueSendFails: 1 }
    await pay(PAYMENTS)
    world.faults = NO_FAULTS

    expect([deliveries().length, states()]).toStrictEqual([2 * PAYMENTS, ['scheduled']])
    await pass(2 * MINUTE_MS)
    expect([states(), play.seen.problems]).toStrictEqual([['succeeded'], []])
    expect(world.merchants.received).toHaveLength(2 * PAYMENTS)
  })
})

describe('queues that take one message in ten for an hour', () => {
  it('have everything told within ten minutes of their recovery', async () => {
    const { play, world, pass, pay, states } = await startShop()

    world.faults = { ...NO_FAULTS, queueSendFails: 0.9 }
    await pay(PAYMENTS)
    await pass(HOUR_MS)
    expect(states()).toContain('scheduled')
    world.faults = NO_FAULTS
    await pass(10 * MINUTE_MS)

    expect([states(), play.seen.problems]).toStrictEqual([['succeeded'], []])
  })
})

describe('queues that cannot be reached for an hour', () => {
  it('have everything told within ten minutes of their return, each once', async () => {
    const { play, world, pass, pay, deliveries, states } = await startShop()
    const backMs = world.scheduler.nowMs() + HOUR_MS
    world.stretches.set(QUEUES_DOWN, { isOn: true, untilMs: backMs })
    world.faults = { ...NO_FAULTS, queuesDown: Number.MIN_VALUE }

    for (const share of [1, 2, 3]) {
      await pay(PAYMENTS / 3)
      await pass(share * 5 * MINUTE_MS)
    }
    await world.scheduler.runUntil(backMs)
    expect([deliveries().length, states()]).toStrictEqual([2 * PAYMENTS, ['scheduled']])
    world.faults = NO_FAULTS
    await pass(10 * MINUTE_MS)

    expect([states(), play.seen.problems]).toStrictEqual([['succeeded'], []])
    expect(deliveries().map(({ attempts }) => attempts)).toStrictEqual(deliveries().map(() => 1))
    expect(world.merchants.received).toHaveLength(2 * PAYMENTS)
  })
})
