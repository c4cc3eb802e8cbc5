import { text } from '../../../support/recount/books.ts'
import { meet } from '../../sometimes/situations.ts'
import { namesOf, type Process } from '../../world/process.ts'
import type { World } from '../../world/world.ts'
import type { Observations } from '../observations.ts'
import { isChanged, ms, onGoodEnd, onWorkersWrite, watchClocks, watchStarts } from '../rules.ts'

const QUARTER_MS = 15 * 60_000

/** Checked at every alert about an endpoint: its worker has taken it before, tells once, and not too soon. */
export const watchAbandonments = (world: World, seen: Observations): void => {
  const apartMs = watchClocks(world)
  /** How many messages of each endpoint a worker has taken and not published: it may tell of several deliveries at once. */
  const taken = new WeakMap<Process, Map<string, number>>()
  /** What each worker found in its place. */
  const earlier = new WeakMap<Process, Map<string, unknown>>()
  const count = (worker: Process, id: string, change: 1 | -1): boolean => {
    const of = taken.get(worker) ?? new Map<string, number>()
    const now = (of.get(id) ?? 0) + change
    if (now >= 0) taken.set(worker, of.set(id, now))
    return now >= 0
  }

  onWorkersWrite(world, /^ENDPOINTS#/, (write) => {
    const { before, after, worker, nowMs } = write
    if (write.isNew || !isChanged(write, 'last_alert_at')) return
    const id = text(after, 'endpoint_id')
    const own = earlier.get(worker) ?? new Map<string, unknown>()
    // Its message could not be published, as far as its worker knows.
    if (own.has(id) && own.get(id) === after['last_alert_at']) return void count(worker, id, -1)
    earlier.set(worker, own.set(id, before['last_alert_at']))
    count(worker, id, 1)
    const waitedMs = nowMs - ms(before, 'last_alert_at')
    if (worker.name === 'check-due-alerts' && waitedMs < QUARTER_MS - apartMs())
      seen.problems.push(`endpoint ${id} is told of too soon after the last message`)
  })

  world.onTold.push(({ kind, subject }, worker) => {
    if (kind !== 'delivery.abandoned') return
    // A frozen worker's message goes out under the name of the one that thawed its environment.
    if (!namesOf(world, worker).some((one) => count(one, subject, -1)))
      seen.problems.push(`endpoint ${subject} is told of by a worker that has not taken the message`)
  })
}

type Abandoned = { readonly id: string; readonly atMs: number }
type Told = { readonly message: string; readonly process: Process; readonly atMs: number; readonly startedMs: number }

/** At rest, every abandonment is named in one alert: in two only where a worker had no time to note the first. */
export const watchAlerts = (world: World): (() => readonly string[]) => {
  const abandoned: Abandoned[] = []
  const told: Told[] = []
  const endedMs = new WeakMap<Process, number>()
  const startedMs = watchStarts(world)
  const now = () => world.scheduler.nowMs()
  world.onChange.push(({ key, before, after }) => {
    const isNew = after?.['status'] === 'abandoned' && before?.['attempts'] !== after['attempts']
    if (key.sk === 'DELIVERY' && isNew) abandoned.push({ id: text(after, 'delivery_id'), atMs: now() })
  })
  world.onTold.push(({ kind, message }, process) => {
    if (kind === 'delivery.abandoned') told.push({ message, process, atMs: now(), startedMs: startedMs(process) })
  })
  onGoodEnd(world, (process) => {
    // What an earlier invocation left told under this one's name, and ends with neither of them.
    if (!world.sharing.has(process)) endedMs.set(process, now())
  })

  return () =>
    abandoned.flatMap(({ id, atMs }, at) => {
      const untilMs = abandoned.find((other, index) => index > at && other.id === id)?.atMs ?? Number.POSITIVE_INFINITY
      const naming = told.filter((one) => one.message.includes(id) && one.atMs >= atMs && one.atMs < untilMs)
      const isNoted = (one: Told, sinceMs: number) =>
        one.startedMs >= atMs && (endedMs.get(one.process) ?? Number.POSITIVE_INFINITY) < sinceMs
      if (naming.length === 0) return [`delivery ${id} was abandoned, and no alert names it`]
      if (naming.length > 1) meet(world, 'an alert is repeated after a crash')
      return naming.some(({ startedMs: begunMs }) => naming.some((one) => isNoted(one, begunMs)))
        ? [`delivery ${id} was abandoned once, and named again when that was noted`]
        : []
    })
}
