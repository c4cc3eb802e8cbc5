import type { Key } from '../../../shared/table/keys.ts'
import { type RawItem, text } from '../../support/recount/books.ts'
import { reportSituation } from '../sometimes/report-situation.ts'
import { namesOf, type Process } from '../world/process.ts'
import {
  broken,
  isChanged,
  ms,
  onWorkersWrite,
  type Rules,
  rewrites,
  type WorkersWrite,
  watchStarts,
} from '../world/rules.ts'
import type { World } from '../world/world.ts'

export const isOn = (endpoint: RawItem): boolean => endpoint['enabled'] === true && endpoint['deleted_at'] === undefined

/** Whether it subscribes to such events, enabled or not. */
export const wants = (endpoint: RawItem, eventName: string): boolean => {
  const types = endpoint['event_types'] as readonly string[]
  const [type = ''] = eventName.split('#')
  const isNamed = types.includes(type) || (types.includes('*') && type !== 'payment.reversed')
  return endpoint['deleted_at'] === undefined && isNamed
}

/** Attributes that only operators change. */
const SETTINGS = ['enabled', 'event_types', 'deleted_at']

const changesSettings = (write: WorkersWrite): boolean => SETTINGS.some((name) => isChanged(write, name))

const OPERATORS = ['update-endpoint', 'delete-endpoint']

/** The least time between two alerts about one endpoint. */
const QUARTER_MS = 15 * 60_000

/** A worker takes the next alert before it publishes it. If it cannot, it puts the earlier time back. */
const isTaken = ({ before, after }: Pick<WorkersWrite, 'before' | 'after'>): boolean =>
  text(after, 'last_alert_at') > text(before, 'last_alert_at')

const whenChanged: Rules<WorkersWrite> = {
  'changes what it is': rewrites('endpoint_id client_id url secret_name created_at deleted_at'),
  'is changed after its deletion': (write) => write.before['deleted_at'] !== undefined && changesSettings(write),
  'stays although it is deleted': ({ after, worker }) =>
    worker.name === 'delete-endpoint' && after['deleted_at'] === undefined,
  'is deleted and still enabled': ({ after }) => after['deleted_at'] !== undefined && after['enabled'] === true,
  'is deleted, and its secret is kept': ({ after }) =>
    after['deleted_at'] !== undefined && after['sealed_secret'] !== undefined,
  "is changed by another function than an operator's": (write) =>
    !OPERATORS.includes(write.worker.name) && changesSettings(write),
  'has an alert too soon after the last one': (write) =>
    write.worker.name === 'check-due-alerts' &&
    isTaken(write) &&
    write.nowMs - ms(write.before, 'last_alert_at') < QUARTER_MS - write.apartMs,
  'is marked as slow a second time': (write) =>
    write.after['slow_since'] !== undefined && rewrites('slow_since')(write),
}

/** The id in the sort key of an endpoint, deleted or not. */
const idOf = ({ sk }: Key): string => sk.slice(sk.indexOf('#') + 1)

/** Checked at every write to an endpoint: it is registered once, only operators change it, and its deletion leaves a row. */
export const watchEndpointRows = (world: World): void => {
  /** Endpoints whose next alert a worker has taken and not published yet. */
  const taken = new WeakMap<Process, string[]>()
  const report = (id: string, what: string) => void world.problems.push(`endpoint ${id} ${what}`)

  world.onWritten.push((written) => {
    for (const { key, before, after } of written) {
      if (!key.sk.startsWith('ENDPOINT#') || before === undefined || after !== undefined) continue
      const isKept = world.table.item({ pk: key.pk, sk: `GONE#${idOf(key)}` }) !== undefined
      if (!isKept) report(idOf(key), 'is deleted and leaves no row')
    }
  })

  onWorkersWrite(world, /^ENDPOINTS#/, (row) => {
    const { key, after, worker } = row
    const id = idOf(key)
    // A deletion moves the endpoint to another row.
    const before = row.isNew ? row.written.find((one) => one.key.sk === `ENDPOINT#${id}`)?.before : row.before
    if (before === undefined) {
      if (after['url'] === undefined || !isOn(after) || worker.name !== 'register-endpoint')
        report(id, 'is made without its registration')
      return
    }
    const write = { ...row, before }
    for (const what of broken(whenChanged, write)) report(id, what)
    if (isTaken(write)) taken.set(worker, [...(taken.get(worker) ?? []), id])
  })

  world.onAlerted.push(({ kind, subject }, worker) => {
    if (kind !== 'delivery.abandoned') return
    // A frozen worker's alert goes out under the name of the worker that thawed its environment.
    const own = namesOf(world, worker).map((one) => taken.get(one) ?? [])
    const holder = own.find((ids) => ids.includes(subject))
    if (holder === undefined) report(subject, 'has an alert from a worker that has not taken it')
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
  const told: AlertSent[] = []
  const startedMs = watchStarts(world)
  const atMs = () => world.scheduler.nowMs()
  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'DELIVERY' || after?.['status'] !== 'abandoned') return
    const id = text(after, 'delivery_id')
    if (before?.['attempts'] !== after['attempts']) abandoned.push({ id, atMs: atMs() })
    else if (before?.['work'] === 'alert' && after['work'] === undefined) noted.push({ id, atMs: atMs() })
  })
  world.onAlerted.push(({ kind, message }, process) => {
    if (kind === 'delivery.abandoned') told.push({ message, atMs: atMs(), startedMs: startedMs(process) })
  })

  return () =>
    abandoned.flatMap(({ id, atMs: fromMs }, at) => {
      const untilMs = abandoned.find((other, index) => index > at && other.id === id)?.atMs ?? Number.POSITIVE_INFINITY
      const isOfIt = (one: AtTime | AlertSent) => one.atMs >= fromMs && one.atMs < untilMs
      const naming = told.filter((one) => one.message.includes(id) && isOfIt(one))
      if (naming.length === 0) return [`delivery ${id} was abandoned, and no alert names it`]
      if (naming.length > 1) reportSituation(world, 'an alert is repeated after a crash')
      const note = noted.find((one) => one.id === id && isOfIt(one))
      return naming.some(({ startedMs: begunMs }) => note !== undefined && note.atMs < begunMs)
        ? [`delivery ${id} was abandoned once, and an alert names it although it was noted before`]
        : []
    })
}
