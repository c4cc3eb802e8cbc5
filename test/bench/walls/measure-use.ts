import { WORK_SLOTS } from '../../../shared/table/schema.ts'
import { HOUR_MS } from '../../../shared/time.ts'
import { connectCallbacks, invoke, requestAs } from '../../simulation/world/lambda.ts'
import { sqsEvent } from '../../simulation/world/sim-queue.ts'
import { addTenant } from '../../simulation/world/tenants.ts'
import { connectSources } from '../../simulation/world/triggers.ts'
import { drive } from '../../simulation/world/world.ts'
import { faultlessWorld } from '../metered-world.ts'

/** An unpaid virtual account is over so soon here: a day would be too many payments to make one by one. */
const EXPIRES_IN_SECONDS = 600
const PROVIDER_MS = 200

const BODY = { method: 'virtual_account', channel_code: 'BCA', amount: 150_000, currency: 'IDR' }

/** The real handlers with everything that starts them, a provider that takes 200 ms a call, and no faults. */
export const startWallsWorld = async (callsPerMinute: number) => {
  const world = await faultlessWorld()
  Object.assign(world, { callsPerMinute, providerMs: PROVIDER_MS })
  connectSources(world)
  connectCallbacks(world)
  const merchant = await drive(world, addTenant(world, 0, 1))
  let keys = 0
  /** Makes a payment; undefined when it was refused. */
  const create = async (): Promise<string | undefined> => {
    const body = JSON.stringify({ ...BODY, expires_in_seconds: EXPIRES_IN_SECONDS })
    const asked = { headers: { 'idempotency-key': `walls-${++keys}` }, body }
    const reply = await requestAs(world, merchant, 'api-create-payment', asked)
    return reply?.status === 201 ? String(reply.body['id']) : undefined
  }
  const pay = (id: string): void => {
    const [request] = world.provider.findPaymentRequests(id)
    world.provider.simulatePayment(request?.payment_request_id ?? '')
  }
  const pass = (ms: number) => world.scheduler.runUntil(world.scheduler.nowMs() + ms)
  return { world, create, pay, pass }
}

export type WallsWorld = Awaited<ReturnType<typeof startWallsWorld>>

/** The statuses of all payments. */
export const statusesIn = ({ table }: WallsWorld['world']): readonly unknown[] =>
  table.items('PAYMENT#').flatMap(({ sk, status }) => (sk === 'PAYMENT' ? [status] : []))

/** What one payment costs of the provider in its whole life. */
export type Use = {
  /** Calls of each operation, listing apart. */
  readonly calls: Readonly<Record<string, number>>
  /** Rows of transactions that are read of it, in all and within its first hour. */
  readonly rows: number
  readonly earlyRows: number
}

export type Kind = { readonly paid: boolean; readonly callbacks: boolean }

const NO_QUOTA = 10_000_000
const PAYMENTS = 120
/** Until the provider has settled, and the tail has read for the last time. */
const LIFE_MS = 5 * 24 * HOUR_MS
const LISTING = 'GET /transactions'

/** A payment's whole life, counted on so many that runs which serve many are shared. */
export const measureUse = async ({ paid, callbacks }: Kind): Promise<Use> => {
  const { world, create, pay, pass } = await startWallsWorld(NO_QUOTA)
  if (!callbacks) world.provider.orderFault({ target: 'callback', fault: 'lost', times: PAYMENTS })
  world.provider.resetCalls()
  for (let made = 0; made < PAYMENTS; made++) {
    const [id = ''] = await Promise.all([create(), pass(5_000)])
    if (paid) pay(id)
  }
  const rowsSoFar = () => (world.provider.callCounts()[`rows ${LISTING}`] ?? 0) / PAYMENTS
  await pass(HOUR_MS)
  const earlyRows = rowsSoFar()
  await pass(LIFE_MS)
  const unfinished = statusesIn(world).filter((status) => status !== (paid ? 'succeeded' : 'expired')).length
  if (unfinished > 0) throw new Error(`${unfinished} payments have not ended as they should`)
  const counts = Object.entries(world.provider.callCounts())
  const calls = counts.filter(([name]) => !name.endsWith(LISTING)).map(([name, count]) => [name, count / PAYMENTS])
  return { calls: Object.fromEntries(calls), rows: rowsSoFar(), earlyRows }
}

/** What one worker does in a second of its time, with a quota that never ends and a provider of 200 ms. */
export type WorkerSpeeds = {
  /** Unpaid payments brought to their end. */
  readonly dueItems: number
  /** Pages of transactions that are known already. */
  readonly pages: number
}

/** Of a worker's speed. */
const MANY = 800
const ROWS_A_PAGE = 50

const measureDue = async (): Promise<number> => {
  const { world, create, pass } = await startWallsWorld(NO_QUOTA)
  // Nothing is handed out but by this measurement.
  world.paused.add('due-payments')
  world.provider.orderFault({ target: 'callback', fault: 'lost', times: MANY })
  for (let made = 0; made < MANY; made++) void create()
  await pass(EXPIRES_IN_SECONDS * 1_000 + 30_000)
  let busyMs = 0
  for (let slot = 0; slot < WORK_SLOTS.payment; slot++) {
    const from = world.scheduler.nowMs()
    const body = JSON.stringify({ slot, part: 0, parts: 1 })
    const message = { messageId: `m-${slot}`, body, receipt: `r-${slot}` }
    const run = await drive(world, invoke(world, 'check-due-payments', sqsEvent([message])))
    if (run.kind !== 'done') throw new Error(`check-due-payments ${run.kind}`)
    busyMs += world.scheduler.nowMs() - from
  }
  const ended = statusesIn(world).filter((status) => status === 'expired').length
  if (ended !== MANY) throw new Error(`${ended} of ${MANY} have ended`)
  return (ended / busyMs) * 1_000
}

const measurePages = async (): Promise<number> => {
  const { world, create, pay, pass } = await startWallsWorld(NO_QUOTA)
  const ids = Array.from({ length: MANY }, () => create())
  await pass(10_000)
  for (const id of ids) pay((await id) ?? '')
  // Their callbacks are answered; what the schedule reads of them meanwhile is not what is measured.
  await pass(30_000)
  world.provider.resetCalls()
  const from = world.scheduler.nowMs()
  const run = await drive(world, invoke(world, 'sync-provider-transactions', {}))
  if (run.kind !== 'done') throw new Error(`the sync ${run.kind}`)
  const ms = world.scheduler.nowMs() - from
  const rows = world.provider.callCounts()['rows GET /transactions'] ?? 0
  if (rows < MANY) throw new Error(`the sync read ${rows} rows of ${MANY}`)
  return (rows / ROWS_A_PAGE / ms) * 1_000
}

export const measureWorkers = async (): Promise<WorkerSpeeds> => ({
  dueItems: await measureDue(),
  pages: await measurePages(),
})
