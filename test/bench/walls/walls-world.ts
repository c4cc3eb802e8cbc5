import { WORK_SLOTS } from '../../../shared/table/schema.ts'
import { HOUR_MS, MINUTE_MS } from '../../../shared/time.ts'
import { connectCallbacks, requestAs } from '../../simulation/world/lambda.ts'
import { sqsEvent } from '../../simulation/world/sim-queue.ts'
import { addTenant } from '../../simulation/world/tenants.ts'
import { connectSources } from '../../simulation/world/triggers.ts'
import { runUntil } from '../../simulation/world/world.ts'
import { faultlessWorld, runHandler } from '../metered-world.ts'

/**
 * When an unpaid virtual account expires. A whole day would need too many payments, made one by
 * one.
 */
const EXPIRES_IN_SECONDS = 600
const ACCOUNT = {
  method: 'virtual_account',
  channel_code: 'BCA',
  expires_in_seconds: EXPIRES_IN_SECONDS,
}
const body = JSON.stringify({ ...ACCOUNT, amount: 150_000, currency: 'IDR' })

const NO_QUOTA = 10_000_000
const PAYMENTS = 120
const LISTING = 'GET /transactions'

/** Counts the whole life of a payment, on many payments, because some runs serve many of them. */
export async function measureUse({
  paid,
  callbacks,
}: {
  readonly paid: boolean
  readonly callbacks: boolean
}) {
  const { world, create, pay, passTime } = await startWallsWorld(NO_QUOTA)
  if (!callbacks) world.provider.orderFault({ target: 'callback', fault: 'lost', times: PAYMENTS })
  world.provider.resetCalls()
  for (let made = 0; made < PAYMENTS; made++) {
    const [id = ''] = await Promise.all([create(), passTime(5_000)])
    if (paid) pay(id)
  }
  const rowsSoFar = () => (world.provider.callCounts()[`rows ${LISTING}`] ?? 0) / PAYMENTS
  await passTime(HOUR_MS)
  const earlyRows = rowsSoFar()
  // Until the provider has settled, and the tail has read for the last time.
  await passTime(5 * 24 * HOUR_MS)
  const unfinished = statusesIn(world).filter(
    (status) => status !== (paid ? 'succeeded' : 'expired'),
  ).length
  if (unfinished > 0) throw new Error(`${unfinished} payments have not ended as they should`)
  const counts = Object.entries(world.provider.callCounts()).filter(
    ([name]) => !name.endsWith(LISTING),
  )
  return {
    /** Calls of each operation, without listing. */
    calls: Object.fromEntries(counts.map(([name, count]) => [name, count / PAYMENTS])),
    /**
     * Rows of transactions that the sync reads for one payment, in all and within its first hour.
     */
    rows: rowsSoFar(),
    earlyRows,
  }
}

/**
 * The real handlers with everything that starts them, a provider that takes 200 ms a call, and no
 * faults.
 */
async function startWallsWorld(callsPerMinute: number) {
  const world = faultlessWorld()
  Object.assign(world, { callsPerMinute, providerMs: 200 })
  connectSources(world)
  connectCallbacks(world)
  const merchant = await runUntil(world, addTenant(world, 0, 1))
  let keys = 0
  const create = async () => {
    const headers = { 'idempotency-key': `walls-${++keys}` }
    const reply = await requestAs(world, merchant, 'api-create-payment', { headers, body })
    return reply?.status === 201 ? String(reply.body['id']) : undefined
  }
  const pay = (id: string) => {
    const [request] = world.provider.findPaymentRequests(id)
    world.provider.simulatePayment(request?.payment_request_id ?? '')
  }
  const passTime = (ms: number) => world.scheduler.runUntil(world.scheduler.nowMs() + ms)
  return { world, create, pay, passTime }
}

type WallsWorld = Awaited<ReturnType<typeof startWallsWorld>>

function statusesIn({ table }: WallsWorld['world']) {
  return table.items('PAYMENT#').flatMap(({ sk, status }) => (sk === 'PAYMENT' ? [status] : []))
}

/**
 * What one worker does in a second of work, without a quota and with a provider that takes 200 ms a
 * call.
 */
export async function measureWorkers() {
  return {
    /** Unpaid payments brought to their end. */
    dueItems: await measureDue(),
    /** Pages of transactions that are known already. */
    pages: await measurePages(),
  }
}

export type Use = Awaited<ReturnType<typeof measureUse>>

const MANY = 800

async function measureDue() {
  const { world, create, passTime } = await startWallsWorld(NO_QUOTA)
  // Only this measurement takes messages from the queue.
  world.paused.add('due-payments')
  world.provider.orderFault({ target: 'callback', fault: 'lost', times: MANY })
  for (let made = 0; made < MANY; made++) void create()
  await passTime(EXPIRES_IN_SECONDS * 1_000 + 30_000)
  let busyMs = 0
  for (let slot = 0; slot < WORK_SLOTS.payment; slot++) {
    const from = world.scheduler.nowMs()
    const message = { messageId: `m-${slot}`, body: JSON.stringify({ slot, part: 0, parts: 1 }) }
    await runHandler(world, 'check-due-payments', sqsEvent([message]))
    busyMs += world.scheduler.nowMs() - from
  }
  const ended = statusesIn(world).filter((status) => status === 'expired').length
  if (ended !== MANY) throw new Error(`${ended} of ${MANY} have ended`)
  return (ended / busyMs) * 1_000
}

export const ROWS_A_PAGE = 50

async function measurePages() {
  const { world, create, pay, passTime } = await startWallsWorld(NO_QUOTA)
  const ids = Array.from({ length: MANY }, () => create())
  await passTime(10_000)
  for (const id of ids) pay((await id) ?? '')
  // The callbacks are answered first. What the schedule reads meanwhile is not measured.
  await passTime(30_000)
  world.provider.resetCalls()
  const from = world.scheduler.nowMs()
  await runHandler(world, 'sync-provider-transactions', {})
  const ms = world.scheduler.nowMs() - from
  const rows = world.provider.callCounts()[`rows ${LISTING}`] ?? 0
  if (rows < MANY) throw new Error(`the sync read ${rows} rows of ${MANY}`)
  return (rows / ROWS_A_PAGE / ms) * 1_000
}

export type Load = {
  readonly callsPerMinute: number
  readonly perSecond: number
  readonly paidPart: number
  readonly minutes: number
  /** Without callbacks, only the head of the sync learns what was paid. */
  readonly callbacks: boolean
}

/**
 * Payments at a steady rate on the real handlers, and how much work waits too long at the end of
 * every minute.
 */
export async function runSingles(load: Load) {
  const walls = await startWallsWorld(load.callsPerMinute)
  const { world, create, pay, passTime } = walls
  if (!load.callbacks)
    world.provider.orderFault({ target: 'callback', fault: 'lost', times: Number.MAX_SAFE_INTEGER })
  const paid = new Map<string, number>()
  let payments = 0
  const one = async (number: number) => {
    const id = await create()
    if (id === undefined) return
    payments++
    // Paid and unpaid payments alternate, as evenly as the part allows.
    const isPaid = Math.floor((number + 1) * load.paidPart) > Math.floor(number * load.paidPart)
    if (!isPaid) return
    world.scheduler.after(5_000, () => {
      pay(id)
      paid.set(id, world.scheduler.nowMs())
    })
  }
  const backlog: number[] = []
  let number = 0
  for (let minute = 0; minute < load.minutes; minute++) {
    const due = Math.round((minute + 1) * load.perSecond * 60) - number
    for (let at = 0; at < due; at++) {
      const own = number++
      world.scheduler.after((at * MINUTE_MS) / due, () => void one(own))
    }
    await passTime(MINUTE_MS)
    backlog.push(lateWork(walls) + unnoticed(walls, paid))
  }
  return { ...load, payments, backlog }
}

export type WorkerSpeeds = Awaited<ReturnType<typeof measureWorkers>>

/** Workers look for due work every minute and do it within the next minute. */
function lateWork({ world }: WallsWorld) {
  const before = new Date(world.scheduler.nowMs() - 2 * MINUTE_MS).toISOString()
  const isLate = (due: unknown, work: unknown) =>
    typeof due === 'string' && due < before && (work === 'payment' || work === 'delivery')
  return world.table.items().filter(({ due_at, work }) => isLate(due_at, work)).length
}

/** The head reads a payment within ten minutes, with or without its callback. */
function unnoticed({ world }: WallsWorld, paid: Map<string, number>) {
  const before = world.scheduler.nowMs() - 10 * MINUTE_MS
  for (const id of paid.keys()) {
    if (world.table.item({ pk: `PAYMENT#${id}`, sk: 'PAYMENT' })?.['status'] === 'succeeded')
      paid.delete(id)
  }
  return [...paid.values()].filter((at) => at < before).length
}

export type SinglesFigures = Awaited<ReturnType<typeof runSingles>>
