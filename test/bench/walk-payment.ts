import * as v from 'valibot'
import { drive } from '../simulation/world/drive.ts'
import { type HttpRequest, request } from '../simulation/world/lambda.ts'
import { sqsEvent } from '../simulation/world/sim-queue.ts'
import type { Tenant } from '../simulation/world/tenants.ts'
import { PAYMENT_BODY } from './assumptions.ts'
import type { Flow, FunctionName, MeteredWorld } from './metered-world.ts'

const NoFailures = v.object({ batchItemFailures: v.strictTuple([]) })

/**
 * One payment: created, paid, delivered, fetched. Every step refuses an answer that is not the happy one:
 * figures of a failed flow would be too low.
 */
export const walkPayment = async (metered: MeteredWorld, { apiKey }: Tenant, key: string): Promise<readonly Flow[]> => {
  const { world, callbacks, measure, pass } = metered
  const authorization = `Bearer ${apiKey}`
  let id = ''
  const ask = async (functionName: FunctionName, asked: HttpRequest, expected: Readonly<Record<string, unknown>>) => {
    const reply = await drive(world, request(world, functionName, asked))
    for (const [field, value] of Object.entries(expected)) {
      if (reply?.body[field] !== value) throw new Error(`${functionName} answered ${reply?.text ?? 'nothing'}`)
    }
    return reply?.body ?? {}
  }

  const created = await measure('api-create-payment', 'created', async () => {
    const headers = { authorization, 'idempotency-key': key }
    const asked = { headers, body: PAYMENT_BODY }
    id = String((await ask('api-create-payment', asked, { status: 'pending' }))['id'])
  })
  const [upstream] = world.provider.findPaymentRequests(id)
  world.provider.simulatePayment(upstream?.payment_request_id ?? '')
  await pass(1_000)
  const paid = await measure('receive-provider-callback', 'paid, credited, announced', async () => {
    const asked = { ...callbacks.at(-1) }
    await ask('receive-provider-callback', asked, { outcome: 'applied' })
  })
  const delivered = await measure('deliver-webhook', 'delivered', () => deliverNext(metered))
  const fetched = await measure('api-get-payment', 'fetched once', () =>
    ask('api-get-payment', { headers: { authorization }, id }, { status: 'succeeded' }),
  )
  return [created, paid, delivered, fetched]
}

/** Waits for the next message of the webhooks' queue and hands it to its function. False when there is none. */
export const deliverNext = async ({ world, run }: MeteredWorld): Promise<boolean> => {
  const queue = world.queues.webhooks
  const dueMs = queue.nextDueMs()
  if (dueMs === undefined) return false
  await world.scheduler.runUntil(Math.max(dueMs, world.scheduler.nowMs()))
  const messages = queue.receive({ max: 1, nowMs: world.scheduler.nowMs() })
  v.parse(NoFailures, await run('deliver-webhook', sqsEvent(messages)))
  for (const { receipt } of messages) queue.remove(receipt)
  return true
}
