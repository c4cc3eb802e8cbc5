import { drive } from '../simulation/world/drive.ts'
import { type HttpRequest, request } from '../simulation/world/lambda.ts'
import type { Tenant } from '../simulation/world/tenants.ts'
import { PAYMENT_BODY } from './assumptions.ts'
import type { Flow, FunctionName, MeteredWorld } from './metered-world.ts'

type Answer = Readonly<Record<string, unknown>>

/** The body of an answer that has these fields. Any other answer is refused: figures of a failed flow would be too low. */
const ask = async (
  { world }: MeteredWorld,
  functionName: FunctionName,
  asked: HttpRequest,
  expected: Answer,
): Promise<Answer> => {
  const reply = await drive(world, request(world, functionName, asked))
  for (const [field, value] of Object.entries(expected)) {
    if (reply?.body[field] !== value) throw new Error(`${functionName} answered ${reply?.text ?? 'nothing'}`)
  }
  return reply?.body ?? {}
}

/** One payment as its merchant creates it. */
export const createPayment = async (
  metered: MeteredWorld,
  { apiKey }: Tenant,
  key: string,
): Promise<{ readonly id: string; readonly flow: Flow }> => {
  let id = ''
  const flow = await metered.measure('api-create-payment', 'created', async () => {
    const headers = { authorization: `Bearer ${apiKey}`, 'idempotency-key': key }
    const body = await ask(metered, 'api-create-payment', { headers, body: PAYMENT_BODY }, { status: 'pending' })
    id = String(body['id'])
  })
  return { id, flow }
}

/** One payment: created, paid, delivered, fetched. */
export const walkPayment = async (metered: MeteredWorld, merchant: Tenant, key: string): Promise<readonly Flow[]> => {
  const { world, callbacks, measure, pass } = metered
  const { id, flow: created } = await createPayment(metered, merchant, key)
  const [upstream] = world.provider.findPaymentRequests(id)
  world.provider.simulatePayment(upstream?.payment_request_id ?? '')
  await pass(1_000)
  const paid = await measure('receive-provider-callback', 'paid, credited, announced', () =>
    ask(metered, 'receive-provider-callback', { ...callbacks.at(-1) }, { outcome: 'applied' }),
  )
  const delivered = await measure('deliver-webhook', 'delivered', () => deliverNext(metered))
  const headers = { authorization: `Bearer ${merchant.apiKey}` }
  const fetched = await measure('api-get-payment', 'fetched once', () =>
    ask(metered, 'api-get-payment', { headers, id }, { status: 'succeeded' }),
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
