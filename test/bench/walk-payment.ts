import { type HttpRequest, requestAs } from '../simulation/world/lambda.ts'
import { addTenant } from '../simulation/world/tenants.ts'
import { drive } from '../simulation/world/world.ts'
import { PAYMENT_BODY } from './assumptions.ts'
import { type Flow, type MeteredWorld, startMeteredWorld } from './metered-world.ts'

type Body = Readonly<Record<string, unknown>>

/** A metered world with a merchant, and what the merchant asks. */
export const startMerchant = async (metered?: MeteredWorld) => {
  const started = metered ?? (await startMeteredWorld())
  const { world } = started
  const merchant = await drive(world, addTenant(world, 0, 1))
  /** The body of an answer with this status and these fields. Any other is refused: a failed flow costs too little. */
  const ask = async (name: string, asked: HttpRequest, status = 200, says: Body = {}): Promise<Body> => {
    const reply = await drive(world, requestAs(world, merchant, name, asked))
    const isOther = Object.entries(says).some(([field, value]) => reply?.body[field] !== value)
    if (reply?.status !== status || isOther) throw new Error(`${name} answered ${reply?.text ?? 'nothing'}`)
    return reply.body
  }
  /** Answers the payment's id. */
  const create = async (key: string, body: string = PAYMENT_BODY, status = 201): Promise<string> => {
    const asked = { headers: { 'idempotency-key': key }, body }
    return String((await ask('api-create-payment', asked, status, { status: 'pending' }))['id'])
  }
  return { ...started, merchant, ask, create }
}

export type MeteredMerchant = Awaited<ReturnType<typeof startMerchant>>

/** One payment: created, paid, delivered, fetched. */
export const walkPayment = async (walked: MeteredMerchant, key: string): Promise<readonly Flow[]> => {
  const { world, callbacks, measure, pass, ask, create } = walked
  let id = ''
  const created = await measure('api-create-payment', 'created', async () => {
    id = await create(key)
  })
  const [upstream] = world.provider.findPaymentRequests(id)
  world.provider.simulatePayment(upstream?.payment_request_id ?? '')
  await pass(1_000)
  const paid = await measure('receive-provider-callback', 'paid, credited, announced', () =>
    ask('receive-provider-callback', { ...callbacks.at(-1) }, 200, { outcome: 'applied' }),
  )
  const delivered = await measure('deliver-webhook', 'delivered', () => deliverNext(walked))
  const fetched = await measure('api-get-payment', 'fetched once', () =>
    ask('api-get-payment', { id }, 200, { status: 'succeeded' }),
  )
  return [created, paid, delivered, fetched]
}

/** Waits for the next message of the webhooks' queue and hands it to its function. False when there is none. */
export const deliverNext = async ({ world, serve }: MeteredWorld): Promise<boolean> => {
  const dueMs = world.queues.webhooks.nextDueMs()
  if (dueMs === undefined) return false
  await world.scheduler.runUntil(Math.max(dueMs, world.scheduler.nowMs()))
  return serve('webhooks', 1)
}
