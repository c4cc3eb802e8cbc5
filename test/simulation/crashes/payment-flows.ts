import type { QueueName } from '../../../shared/queues.ts'
import type { Play } from '../histories/play.ts'
import { createAs, http } from '../scenes/http.ts'
import { type Faults, NO_FAULTS } from '../world/faults.ts'
import { type InvokeOptions, invoke, request } from '../world/lambda.ts'
import { sqsEvent } from '../world/sim-queue.ts'
import { CALLBACK_TOKEN, runUntil, waitFor } from '../world/world.ts'

/** Brings the world to just before a flow, without faults, and stops what would start it. */
export type Prepare = (play: Play) => Promise<unknown>
type Run = (play: Play, prepared: unknown, options: InvokeOptions) => Promise<unknown>
/** What the caller of a flow does afterwards; time passes until it has its answer. */
type Retry = (play: Play, prepared: unknown) => Promise<unknown>

/** `awaits`: how many calls the flow's run awaits. */
export type Flow = readonly [
  name: string,
  awaits: number,
  prepare: Prepare,
  run: Run,
  retry?: Retry,
]

export function run(
  name: string,
  eventOf: (play: Play, prepared: unknown) => unknown = (_, prepared) => prepared,
): Run {
  return (play, prepared, options) => invoke(play.world, name, eventOf(play, prepared), options)
}

export function scheduledRun(name: string) {
  return run(name, () => ({}))
}

export function thenWait(prepare: Prepare, ms: number): Prepare {
  return async (play) => {
    const prepared = await prepare(play)
    await passTime(play, ms)
    return prepared
  }
}

export const HOUR_MS = 3_600_000

export function passTime({ world }: Play, ms: number) {
  return world.scheduler.runFor(ms)
}

/** Only messages start a function. */
export function stopTriggers({ world }: Play, more: Partial<Faults> = {}) {
  world.faults = { ...NO_FAULTS, callbackLost: 1, scheduleMissed: 1, ...more }
}

const QRIS = JSON.stringify({
  method: 'qris',
  amount: 300_000,
  currency: 'IDR',
  expires_in_seconds: 600,
})

export function tenantOf({ tenants: [, tenant] }: Play) {
  if (!tenant) throw new Error('the play has no second tenant')
  return tenant
}

export function forClient(play: Play) {
  return { operator: 'sim', client_id: tenantOf(play).clientId }
}

export function onSettlement(settlement_id: unknown) {
  return { operator: 'sim', notes: 'simulated', settlement_id }
}

const VA = JSON.stringify({
  method: 'virtual_account',
  channel_code: 'BNI',
  amount: 300_000,
  currency: 'IDR',
})

export async function createPayment(play: Play, body = VA, key?: string) {
  stopTriggers(play)
  const reply = await runUntil(play.world, create(play, body, {}, key))
  if (reply?.status !== 201) throw new Error(`the create failed: ${reply?.text ?? 'no answer'}`)
  return String(reply.body['id'])
}

function create(play: Play, body = VA, options: InvokeOptions = {}, key = 'flow-key') {
  return createAs(play, tenantOf(play), key, body, options)
}

export function upstreamOf({ world }: Play, paymentId: string) {
  const [found] = world.provider.findPaymentRequests(paymentId)
  if (!found) throw new Error('the provider does not know the payment')
  return found
}

/** The provider's callback does not get through. */
export async function payUpstream(play: Play, amount?: number, key?: string) {
  const id = await createPayment(play, VA, key)
  const { payment_request_id: requestId } = upstreamOf(play, id)
  play.world.provider.simulatePayment(requestId, amount === undefined ? {} : { amount })
  await passTime(play, 1_000)
  return id
}

export function callback(play: Play, paymentId: unknown, options: InvokeOptions = {}) {
  const { latest_payment_id, payment_request_id, reference_id } = upstreamOf(
    play,
    String(paymentId),
  )
  const data = { payment_id: latest_payment_id, payment_request_id, reference_id }
  const body = JSON.stringify({ event: 'payment.capture', data })
  const headers = { 'x-callback-token': CALLBACK_TOKEN }
  return request(play.world, 'receive-provider-callback', { headers, body }, options)
}

export async function creditPayment(play: Play, key?: string) {
  const id = await payUpstream(play, undefined, key)
  await runUntil(play.world, callback(play, id))
  return id
}

/** The first message of due work, which is in `slots` slots. Its workers are stopped meanwhile. */
export function handOut(queue: QueueName, prepare: (play: Play) => Promise<unknown>, slots = 1) {
  return async (play: Play) => {
    await prepare(play)
    const { world } = play
    world.paused.add(queue)
    await runUntil(world, invoke(world, 'check-due-work', {}))
    const messages = world.queues[queue].receive({ max: 10, nowMs: world.scheduler.nowMs() })
    if (messages.length !== slots) throw new Error(`${messages.length} slots were handed out`)
    world.paused.delete(queue)
    return sqsEvent(messages.slice(0, 1))
  }
}

function cancel(play: Play, id: unknown, options: InvokeOptions = {}) {
  return http(play, tenantOf(play), 'api-cancel-payment', { id: String(id) }, options)
}

const createExpired = thenWait((play) => createPayment(play, QRIS), 601_000)

function sendCreate(play: Play, _: unknown, options: InvokeOptions) {
  return create(play, undefined, options)
}

async function retryCreate(play: Play) {
  await waitFor(play.world, 31_000)
  await create(play)
}

async function loseAnswer(play: Play) {
  stopTriggers(play, { providerAnswerLost: 1 })
  await runUntil(play.world, create(play))
  stopTriggers(play)
}

const failCancel = thenWait(async (play) => {
  const id = await createPayment(play, QRIS)
  stopTriggers(play, { providerUnreachable: 1 })
  await runUntil(play.world, cancel(play, id))
  stopTriggers(play)
  return id
}, 601_000)

const duePayments = run('check-due-payments')

export const PAYMENT_FLOWS: readonly Flow[] = [
  ['create', 6, async () => undefined, sendCreate, retryCreate],
  ['create, taking over', 7, loseAnswer, sendCreate, retryCreate],
  ['callback', 8, payUpstream, callback],
  ['callback, wrong amount', 14, (play) => payUpstream(play, 299_999), callback],
  ['cancel', 5, createPayment, cancel, cancel],
  ['due work, handed out', 34, createExpired, scheduledRun('check-due-work')],
  ['expiry', 10, handOut('due-payments', createExpired), duePayments],
  ['cancel, past its time', 9, createExpired, cancel, cancel],
  ['expiry, after a cancel that failed', 13, handOut('due-payments', failCancel), duePayments],
  ['lost callback', 14, handOut('due-payments', thenWait(payUpstream, 86_401_000)), duePayments],
]
