import type { Key } from '../../../shared/table/keys.ts'
import { type RawItem, text } from '../../support/recount/books.ts'
import { reportSituation } from '../sometimes/report-situation.ts'
import { namesOf, type Process } from '../world/process.ts'
import { ms, onWorkersWrite, watchStarts } from '../world/rules.ts'
import type { World } from '../world/world.ts'

export const isOn = (endpoint: RawItem): boolean => endpoint['enabled'] === true && endpoint['deleted_at'] === undefined

/** Whether it subscribes to such events, enabled or not. */
export const wants = (endpoint: RawItem, eventName: string): boolean => {
  const types = endpoint['event_types'] as readonly string[]
  const [type = ''] = eventName.split('#')
  const isNamed = types.includes(type) || (types.includes('*') && type !== 'payment.reversed')
  return endpoint['deleted_at'] === undefined && isNamed
}

/** The least time between two alerts about one endpoint. */
const QUARTER_MS = 15 * 60_000

/** The id in the sort key of an endpoint, deleted or not. */
const idOf = ({ sk }: Key): string => sk.slice(sk.indexOf('#') + 1)

/** Checked at every alert about an endpoint: its worker has claimed it, a quarter of an hour after the one before. */
export const watchClaimedAlerts = (world: World): void => {
  /** Endpoints whose next alert a worker has claimed and not published yet. */
  const claimed = new WeakMap<Process, string[]>()
  const report = (id: string, what: string) => void world.problems.push(`endpoint ${id} ${what}`)

  onWorkersWrite(world, /^ENDPOINTS#/, ({ key, before, after, worker, isNew, nowMs, apartMs }) => {
    // A worker claims the next alert before it publishes it. If it cannot, it puts the earlier time back.
    if (isNew || text(after, 'last_alert_at') <= text(before, 'last_alert_at')) return
    if (worker.name === 'check-due-alerts' && nowMs - ms(before, 'last_alert_at') < QUARTER_MS - apartMs)
      report(idOf(key), 'has an alert too soon after the last one')
    claimed.set(worker, [...(claimed.get(worker) ?? []), idOf(key)])
  })

  world.onAlerted.push(({ kind, subject }, worker) => {
    if (kind !== 'delivery.abandoned') return
    // A frozen worker's alert goes out under the name of the worker that thawed its environment.
    const own = namesOf(world, worker).map((one) => claimed.get(one) ?? [])
    const holder = own.find((ids) => ids.includes(subject))
    if (holder === undefined) report(subject, 'has an alert from a worker that has not claimed it')
    else holder.splice(holder.indexOf(subject), 1)
  })
}

type AtTime = { readonly id: string; readonly atMs: number }
type AlertSent = { readonly message: string; readonly atMs: number; readonly startedMs: number }

/**
 * At rest one alert names each abandonment. Two may name it if the first could not be noted on its row, as after a
 * crash, and if they went out at the same time.
 */
export const watchAlerts = (world: World): (() => readonly string[]) => {
  const abandoned: AtTime[] = []
  const noted: AtTime[] = []
  const sent: AlertSent[] = []
  const startedMs = watchStarts(world)
  const atMs = () => world.scheduler.nowMs()
  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'DELIVERY' || after?.['status'] !== 'abandoned') return
    const id = text(after, 'delivery_id')
    if (before?.['attempts'] !== after['attempts']) abandoned.push({ id, atMs: atMs() })
    else if (before?.['work'] === 'alert' && after['work'] === undefined) noted.push({ id, atMs: atMs() })
  })
  world.onAlerted.push(({ kind, message }, process) => {
    if (kind === 'delivery.abandoned') sent.push({ message, atMs: atMs(), startedMs: startedMs(process) })
  })

  return () =>
    abandoned.flatMap(({ id, atMs: fromMs }, at) => {
      const untilMs = abandoned.find((other, index) => index > at && other.id === id)?.atMs ?? Number.POSITIVE_INFINITY
      const isOfIt = (one: AtTime | AlertSent) => one.atMs >= fromMs && one.atMs < untilMs
      const naming = sent.filter((one) => one.message.includes(id) && isOfIt(one))
      if (naming.length === 0) return [`delivery ${id} was abandoned, and no alert names it`]
      if (naming.length > 1) reportSituation(world, 'an alert is repeated after a crash')
      const note = noted.find((one) => one.id === id && isOfIt(one))
      return naming.some(({ startedMs: begunMs }) => note !== undefined && note.atMs < begunMs)
        ? [`delivery ${id} was abandoned once, and an alert names it although it was noted before`]
        : []
    })
}
