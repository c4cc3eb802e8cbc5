import * as v from 'valibot'
import { readStageFile } from '../../infra/stack/stage-file.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../shared/time.ts'
import { NO_FAULTS } from '../simulation/world/faults.ts'
import { type HttpRequest, operate, requestAs } from '../simulation/world/lambda.ts'
import { addTenant } from '../simulation/world/tenants.ts'
import { runUntil } from '../simulation/world/world.ts'
import { ASSUMPTIONS, PAYMENT_BODY } from './assumptions.ts'
import { storedBytes } from './meter-table.ts'
import { type Flow, type MeteredWorld, startMeteredWorld } from './metered-world.ts'

/** Payments in a run that serves many. The run's use is divided by this number. */
const MANY = 250

export const PUSH_LIMIT = readStageFile('prod').pushLimit

export async function measureFlows() {
  const metered = await startMeteredWorld()
  const { measure, run } = metered
  // The second run is measured, because the first run looks back over a week.
  await syncRun(metered, 'sync, first run')
  const idleSync = await syncRun(metered, 'sync, one run')
  const dueWork = await measure('check-due-work', 'due work, one run', () =>
    run('check-due-work', {}),
  )
  const sweep = await measure('sweep-settlements', 'sweep, one run', () =>
    run('sweep-settlements', {}),
  )
  const walked = await startMerchant(metered)
  const paid = await measurePaid(walked, idleSync, { many: MANY })
  return {
    paid,
    /** For one payment that is not paid: created, expired, announced to one endpoint. */
    unpaid: await measureUnpaid(),
    /**
     * For one delivery to an endpoint that always fails: eight attempts and the hops between them.
     */
    abandoned: await abandonOne(walked),
    idleRuns: [dueWork, idleSync, sweep],
  }
}

export type Measured = Awaited<ReturnType<typeof measureFlows>>

/**
 * Payments that come in a burst, each with this body and a phone of its own, so that they share the
 * runs of the sync. Pushes to one phone are limited as in a new stage.
 */
export async function measurePaidBurst(body: string, many: number) {
  const metered = await startMeteredWorld()
  metered.world.pushLimit = PUSH_LIMIT
  await syncRun(metered, 'sync, first run')
  const idleSync = await syncRun(metered, 'sync, one run')
  return measurePaid(await startMerchant(metered), idleSync, { many, body })
}

/**
 * For one payment of many: created, paid, announced to one endpoint, fetched once, its fee made
 * final, settled.
 */
async function measurePaid(
  walked: MeteredMerchant,
  idleSync: Flow,
  { many, body }: { readonly many: number; readonly body?: string },
) {
  const { world, passTime } = walked
  const before = storedBytes(world.table)
  const bodyOf = (number: number) => body?.replace(/(?<="\+\d+)\d{4}"/, `${1_000 + number}"`)
  // Only the last payment is measured, so that the others take less time.
  const unmeasured = {
    ...walked,
    measure: (_: string, __: string, run: () => Promise<unknown>) => run(),
  }
  for (let number = 1; number < many; number++)
    await walkPayment(unmeasured, `payment-${number}`, bodyOf(number))
  // The environments have the provider's figures, but must read the caller again.
  await passTime(16 * SECOND_MS)
  const steps = await walkPayment(walked, `payment-${many}`, bodyOf(many))
  const stored = Math.round((storedBytes(world.table) - before) / many)

  const looked = await syncRun(walked, 'looked at by the sync')
  // Bank channels report their final fee a business day later; funds are settled once they are 24
  // hours old.
  await passTime(FINAL_MS)
  const sync = await syncRun(walked, 'fee made final')
  const settle = await measureSettle(walked)
  const share = (flow: Flow) => times(flow, 1 / many)
  return {
    flows: [
      ...steps,
      times(share(withoutIdle(idleSync, looked)), ASSUMPTIONS.syncLooks),
      share(withoutIdle(await idleSyncAfter(FINAL_MS), sync)),
      share(settle),
    ],
    storedBytes: stored,
  }
}

const FINAL_MS = 4 * DAY_MS

/** A run that finds nothing to settle writes nothing, and would measure nothing. */
export async function measureSettle({ measure, run, merchant }: MeteredMerchant) {
  const Records = [{ messageId: 'm', body: JSON.stringify({ client_id: merchant.clientId }) }]
  const settle = await measure('settle-client', 'settled', () => run('settle-client', { Records }))
  if (settle.writes === 0) throw new Error('nothing was settled')
  return settle
}

/** A run after a pause reads the days of the pause in the second net, with or without payments. */
async function idleSyncAfter(pauseMs: number) {
  const metered = await startMeteredWorld()
  await syncRun(metered, 'sync, first run')
  await metered.passTime(pauseMs)
  return syncRun(metered, 'sync after a pause')
}

function syncRun({ measure, run }: MeteredWorld, name: string) {
  return measure('sync-provider-transactions', name, async () => {
    v.parse(v.object({ complete: v.literal(true) }), await run('sync-provider-transactions', {}))
  })
}

/** `named`: the events that its endpoint names besides `*`. */
export async function startMerchant(metered?: MeteredWorld, named: readonly string[] = []) {
  const started = metered ?? (await startMeteredWorld())
  const { world } = started
  const merchant = await runUntil(world, addTenant(world, 0, 1, named))
  /**
   * The body of an answer with this status and these fields. Throws for any other answer: a failed
   * flow costs too little.
   */
  const ask = async (name: string, asked: HttpRequest, status = 200, says: object = {}) => {
    const reply = await runUntil(world, requestAs(world, merchant, name, asked))
    const isOther = Object.entries(says).some(([field, value]) => reply?.body[field] !== value)
    if (reply?.status !== status || isOther)
      throw new Error(`${name} answered ${reply?.text ?? 'nothing'}`)
    return reply.body
  }
  const create = async (key: string, body = PAYMENT_BODY, status = 201) => {
    const asked = { headers: { 'idempotency-key': key }, body }
    return String((await ask('api-create-payment', asked, status, { status: 'pending' }))['id'])
  }
  return { ...started, merchant, ask, create }
}

type MeteredMerchant = Awaited<ReturnType<typeof startMerchant>>

type Measure<Result> = (...measured: Parameters<MeteredWorld['measure']>) => Promise<Result>

export async function walkPayment<Result>(
  walked: Omit<MeteredMerchant, 'measure'> & { readonly measure: Measure<Result> },
  key: string,
  body?: string,
) {
  const { world, callbacks, measure, passTime, ask, create } = walked
  let id = ''
  const created = await measure('api-create-payment', 'created', async () => {
    id = await create(key, body)
  })
  const [upstream] = world.provider.findPaymentRequests(id)
  world.provider.simulatePayment(upstream?.payment_request_id ?? '')
  await passTime(1_000)
  const paid = await measure('receive-provider-callback', 'paid, credited, announced', () =>
    ask('receive-provider-callback', { ...callbacks.at(-1) }, 200, { outcome: 'applied' }),
  )
  const delivered = await measure('deliver-webhook', 'delivered', () => deliverNext(walked))
  const fetched = await measure('api-get-payment', 'fetched once', () =>
    ask('api-get-payment', { id }, 200, { status: 'succeeded' }),
  )
  return [created, paid, delivered, fetched]
}

/**
 * Waits for the next message of the webhooks' queue and hands it to its function. False when there
 * is none.
 */
async function deliverNext({ world, handleBatch }: Omit<MeteredWorld, 'measure'>) {
  const dueMs = world.queues.webhooks.nextDueMs()
  if (dueMs === undefined) return false
  await world.scheduler.runUntil(Math.max(dueMs, world.scheduler.nowMs()))
  return handleBatch('webhooks', 1)
}

function times(flow: Flow, factor: number) {
  return mapCounts(flow, (count) => count * factor)
}

/** The flow with each of its counts changed, also the counts of its detail. */
function mapCounts(flow: Flow, change: (count: number, name: string) => number) {
  return JSON.parse(JSON.stringify(flow), (name, value: unknown) =>
    typeof value === 'number' ? change(value, name) : value,
  )
}

/** What a scheduled run uses for the payments it checks, beyond its fixed use in an hour. */
function withoutIdle(idle: Flow, flow: Flow) {
  return mapCounts(flow, (count, name) =>
    Math.max(0, count - Number(Reflect.get({ ...idle.detail, ...idle }, name) ?? 0)),
  )
}

/**
 * Many unpaid payments until they expire: the create of the first payment, all expiries, and a
 * delivery.
 */
async function measureUnpaid() {
  const started = await startMerchant()
  const { world, measure, run, handleBatch, passTime, create } = started
  const before = storedBytes(world.table)
  const created = await measure('api-create-payment', 'created', () => create('payment-1'))
  for (let number = 2; number <= MANY; number++) await create(`payment-${number}`)
  await passTime(DAY_MS)
  const isPending = () =>
    world.table.items().some(({ sk, status }) => sk === 'PAYMENT' && status === 'pending')
  let invocations = 0
  const expired = await measure('check-due-payments', 'expired, announced', async () => {
    for (let rounds = 0; isPending(); rounds++) {
      if (rounds > 60) throw new Error('unpaid payments never end')
      await passTime(MINUTE_MS)
      await run('check-due-work', {})
      while (await handleBatch('due-payments', 1)) invocations++
    }
  })
  const delivered = await measure('deliver-webhook', 'delivered', () => deliverNext(started))
  while (await deliverNext(started));
  const flows = [created, times({ ...expired, invocations }, 1 / MANY), delivered]
  return { flows, storedBytes: Math.round((storedBytes(world.table) - before) / MANY) }
}

async function abandonOne(walked: MeteredMerchant) {
  const { world, measure, merchant } = walked
  world.faults = { ...NO_FAULTS, merchantFails: 1 }
  const target = {
    operator: 'bench',
    client_id: merchant.clientId,
    endpoint_id: merchant.endpoints[0]?.endpointId,
  }
  const sent = await runUntil(world, operate(world, 'send-test-event', target))
  if (sent?.status !== 200) throw new Error(`no test event was sent: ${JSON.stringify(sent)}`)
  let invocations = 0
  const flow = await measure('deliver-webhook', 'a delivery given up', async () => {
    while (await deliverNext(walked)) {
      // More hops than eight attempts can need.
      if (++invocations > 40) throw new Error('the delivery never ends')
    }
  })
  return { ...flow, invocations, messages: flow.messages + 1 }
}
