import { MINUTE_MS } from '../../../shared/time.ts'
import { startWallsWorld, type WallsWorld } from './measure-use.ts'

export type Load = {
  readonly callsPerMinute: number
  readonly perSecond: number
  /** Of all payments. */
  readonly paidPart: number
  readonly minutes: number
  /** Without callbacks the head alone hears of what was paid. */
  readonly callbacks: boolean
}

export type SinglesFigures = Load & {
  readonly payments: number
  readonly refused: number
  /** What was overdue or waited for longer than it may, minute by minute. */
  readonly backlog: readonly number[]
  /** Most calls of one operation in any minute, and which. */
  readonly mostCalls: readonly [string, number]
}

const PAYS_AFTER_MS = 5_000
/** Due work is looked at every minute and done within the next. */
const LATE_MS = 2 * MINUTE_MS
/** The head reads a payment within so long, with or without its callback. */
const UNHEARD_MS = 10 * MINUTE_MS

const lateWork = ({ world }: WallsWorld): number => {
  const before = new Date(world.scheduler.nowMs() - LATE_MS).toISOString()
  const isLate = (due: unknown, work: unknown) =>
    typeof due === 'string' && due < before && (work === 'payment' || work === 'event')
  return world.table.items().filter(({ due_at, work }) => isLate(due_at, work)).length
}

/** Paid for longer than the head may take, and still pending here. */
const unheard = ({ world }: WallsWorld, paid: Map<string, number>): number => {
  const before = world.scheduler.nowMs() - UNHEARD_MS
  for (const id of paid.keys()) {
    if (world.table.item({ pk: `PAYMENT#${id}`, sk: 'PAYMENT' })?.['status'] === 'succeeded') paid.delete(id)
  }
  return [...paid.values()].filter((at) => at < before).length
}

/** Payments one by one at a steady rate on the real handlers, with what waits too long at the end of every minute. */
export const runSingles = async (load: Load): Promise<SinglesFigures> => {
  const walls = await startWallsWorld(load.callsPerMinute)
  const { world, create, pay, pass } = walls
  if (!load.callbacks) world.provider.orderFault({ target: 'callback', fault: 'lost', times: Number.MAX_SAFE_INTEGER })
  const paid = new Map<string, number>()
  let [payments, refused] = [0, 0]
  const one = async (number: number): Promise<void> => {
    const id = await create()
    if (id === undefined) {
      refused++
      return
    }
    payments++
    // Paid and unpaid ones in turn, as evenly as the part allows.
    const isPaid = Math.floor((number + 1) * load.paidPart) > Math.floor(number * load.paidPart)
    if (!isPaid) return
    world.scheduler.after(PAYS_AFTER_MS, () => {
      pay(id)
      paid.set(id, world.scheduler.nowMs())
    })
  }
  const backlog: number[] = []
  let mostCalls: readonly [string, number] = ['', 0]
  let number = 0
  for (let minute = 0; minute < load.minutes; minute++) {
    world.provider.resetCalls()
    const due = Math.round((minute + 1) * load.perSecond * 60) - number
    for (let at = 0; at < due; at++) {
      const own = number++
      world.scheduler.after((at * MINUTE_MS) / due, () => void one(own))
    }
    await pass(MINUTE_MS)
    backlog.push(lateWork(walls) + unheard(walls, paid))
    for (const [name, calls] of Object.entries(world.provider.callCounts())) {
      if (!name.startsWith('rows') && calls > mostCalls[1]) mostCalls = [name, calls]
    }
  }
  return { ...load, payments, refused, backlog, mostCalls }
}
