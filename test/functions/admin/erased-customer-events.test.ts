import { expect, it } from 'vitest'
import type { ClientId } from '../../../shared/ids.ts'
import { redeliverOwn, redeliverOwnSince } from '../../../shared/webhook/delivery/redeliver.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { creditedPayment } from '../../support/synced-payment.ts'
import {
  type MemoryDeps,
  memoryDeps,
  type TestDeps,
  withRequests,
} from '../../support/test-deps.ts'
import { drainQueue, storedEndpoint } from '../../support/webhook-builders.ts'
import { CUSTOMER } from './paid-customer.ts'

/*
 * Goal: after an erasure is answered, no webhook has the customer. Method: an event is delivered,
 * its customer is erased, and the event is sent again, though an eventual read shows it as before.
 */

async function anErasedCustomer() {
  const deps = memoryDeps()
  const { clientId, ...client } = await aStoredClient(deps)
  await storedEndpoint(deps, { clientId })
  const { payment } = await creditedPayment(deps, { clientId, ...client }, { customer: CUSTOMER })
  await drainQueue(deps)
  const [staleEvent] = deps.stored.items('EVENT#')
  deps.clock.advance(2)
  const payload = { operator: 'ayu', payment_id: payment.paymentId }
  expect(await invokeAdmin('erase-customer', deps, payload)).toMatchObject({ status: 200 })
  deps.clock.advance(2)
  const bodies = () => deps.webhooks.map(({ body }) => body.toString())
  return { deps, clientId, staleEvent, bodies }
}

/** An eventually consistent read of the event shows it as it was before the erasure. */
function withStaleReads(deps: TestDeps, stale: object | undefined) {
  const { requests, memory } = deps
  const get: typeof requests.get = async (key, some) =>
    key.pk.startsWith('EVENT#') && some?.consistent === false
      ? { ...stale }
      : requests.get(key, some)
  return { ...withRequests(deps, { ...requests, get }), memory }
}

async function sendAgain(deps: MemoryDeps, clientId: ClientId) {
  const [delivery] = deps.stored.items('DELIVERY#')
  await redeliverOwn(deps, clientId, String(delivery?.['id']))
}

async function sendToLaterEndpoint(deps: MemoryDeps, clientId: ClientId) {
  const { endpointId: id } = await storedEndpoint(deps, { clientId })
  const rawBody = Buffer.from(JSON.stringify({ since: deps.now().slice(0, 11) + '00:00:00Z' }))
  await redeliverOwnSince(deps, { clientId, id, rawBody })
}

it.each([
  ['its endpoint', sendAgain],
  ['an endpoint that was registered later', sendToLaterEndpoint],
])(
  'an event that is sent again after its customer was erased goes to %s without the customer',
  async (_, redeliver) => {
    const { deps, clientId, staleEvent, bodies } = await anErasedCustomer()
    await redeliver(deps, clientId)

    await drainQueue(withStaleReads(deps, staleEvent))

    expect(bodies()).toStrictEqual([
      expect.stringContaining(CUSTOMER.email),
      expect.not.stringContaining(CUSTOMER.email),
    ])
  },
)
