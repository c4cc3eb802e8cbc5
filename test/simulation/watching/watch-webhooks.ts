import type { TableChange } from '../../../infra/local/emulators/memory-table/table-view.ts'
import { type RawItem, text, wholeRow } from '../../support/recount/books.ts'
import { reportSituation } from '../sometimes/report-situation.ts'
import { type Process } from '../world/process.ts'
import { deliveryRow } from '../world/rows.ts'
import { isChanged, ms, onWrite, type States } from '../world/rules.ts'
import { NAMED_EVENTS } from '../world/tenants.ts'
import { namesOf, type World } from '../world/world.ts'

/** A commit keeps its time for tries of a minute, and its last try takes 17 s. */
const LATEST_COMMIT_MS = 77_000
/** The longest time between the read of the endpoints and the time of the commit. */
const READ_BEFORE_MS = 5_000
/**
 * Functions whose caller may be answered early: their environment then freezes, with the calls in
 * flight.
 */
const ANSWERS_HTTP = /^(api-|receive-provider-callback)/
const REDELIVERS = /^(redeliver|api-redeliver-webhook)$/

/**
 * Checked at every write: an event comes with its payment, and with a delivery to each endpoint
 * that wants it.
 */
export function watchAnnouncements(world: World, { of, since }: States) {
  onWrite(world, /^EVENT#/, ({ key, after, isNew, worker, nowMs }) => {
    const isOld = ms(after, 'listed_at') < nowMs - LATEST_COMMIT_MS - world.apartMs / 2
    if (isNew && isOld && worker && !ANSWERS_HTTP.test(worker.name))
      world.problems.push(`${key.pk} ${key.sk} is written with an old time`)
  })

  /** The endpoints that wanted it at every moment at which the worker may have read them. */
  const wanting = (event: RawItem) => {
    const [clientId = ''] = text(event, 'owner').split('#')
    const eventName = text(event, 'sk')
    const readFromMs = ms(event, 'listed_at') - READ_BEFORE_MS - world.apartMs / 2
    return [...of].flatMap(([id, [first]]) => {
      const isOlder = first?.row['client_id'] === clientId && first.sinceMs < readFromMs
      return isOlder && since(id, readFromMs).every((endpoint) => wants(endpoint, eventName))
        ? [id]
        : []
    })
  }

  world.onWritten.push((written) => {
    const deliveries = newRows(written, ({ sk }) => sk === 'DELIVERY').filter(
      ({ subject }) => subject !== undefined,
    )
    const events = newRows(written, ({ pk }) => pk.startsWith('EVENT#'))
    for (const event of events) {
      const announcedTo = deliveries
        .filter(({ event_id: id }) => id === event['id'])
        .map((row) => row['endpoint_id'])
      const missing = wanting(event).filter((id) => !announcedTo.includes(id))
      world.problems.push(
        ...missing.map((id) => `event ${text(event, 'id')} is written without a delivery to ${id}`),
      )
    }
    for (const row of deliveries) {
      const isAlone = !events.some((event) => event['id'] === row['event_id'])
      if (isAlone && !REDELIVERS.test(world.acting?.name ?? ''))
        world.problems.push(`delivery ${text(row, 'delivery_id')} is made without its event`)
    }
  })
}

/** Whether it subscribes to such events, enabled or not. */
function wants(endpoint: RawItem, eventName: string) {
  const types = endpoint['event_types'] as readonly string[]
  const [type = ''] = eventName.split('#')
  const isNamed = types.includes(type) || (types.includes('*') && !NAMED_EVENTS.includes(type))
  return endpoint['deleted_at'] === undefined && isNamed
}

function newRows(written: readonly TableChange[], isMeant: (key: TableChange['key']) => boolean) {
  return written.flatMap(({ key, before, after }) =>
    before === undefined && after && isMeant(key) ? [wholeRow(after)] : [],
  )
}

type Claim = { readonly token: unknown; readonly untilMs: number; hasPosted: boolean }

/**
 * Clocks differ by at most 20 s. A worker makes a few calls between its read of an endpoint and its
 * POST.
 */
const NEAR_MS = 60_000

/**
 * Checked at every POST, and at the end of every worker: an attempt is posted once, by its claimer,
 * under a valid claim, to an enabled endpoint.
 */
export function watchAttempts(world: World, { since }: States) {
  /** The last claim that each worker made, by delivery. For others it may have expired. */
  const owned = new WeakMap<Process, Map<string, Claim>>()
  const troubled = new WeakSet<Process>()
  const report = (id: string, what: string) => void world.problems.push(`delivery ${id} ${what}`)

  onWrite(world, / DELIVERY$/, (write) => {
    const { after, worker } = write
    const { claim_token: token, delivery_id: id } = after
    if (worker === undefined || token === undefined || !isChanged(write, 'claim_token')) return
    const claims = owned.get(worker) ?? new Map<string, Claim>()
    owned.set(
      worker,
      claims.set(String(id), { token, untilMs: ms(after, 'claimed_until'), hasPosted: false }),
    )
  })

  world.onPost.push(({ headers }, worker) => {
    const id = headers['X-Gateway-Delivery-Id'] ?? ''
    const [row, nowMs] = [deliveryRow(world, id), world.scheduler.nowMs()]
    if (!since(text(row ?? {}, 'endpoint_id'), nowMs - NEAR_MS).some(isOn))
      report(id, 'is posted to an endpoint that was disabled or deleted a while ago')
    const claim = owned.get(worker)?.get(id)
    if (claim === undefined) return report(id, 'is posted by a worker without a claim')
    if (claim.token !== row?.['claim_token'] && nowMs < claim.untilMs - world.apartMs)
      report(id, 'is posted under a claim that another worker has replaced')
    if (claim.hasPosted) report(id, 'is posted twice under one claim')
    if (claim.untilMs < nowMs - world.apartMs) report(id, 'is posted after the end of its claim')
    claim.hasPosted = true
  })

  world.onError.push((process) => troubled.add(process))
  world.onEnded.push((process, how) => {
    if (how !== 'done' || troubled.has(process)) return
    for (const [id, { token }] of owned.get(process) ?? [])
      if (deliveryRow(world, id)?.['claim_token'] === token)
        report(id, 'stays claimed after its worker ended')
  })
}

function isOn(endpoint: RawItem) {
  return endpoint['enabled'] === true && endpoint['deleted_at'] === undefined
}

/** The least time between two alerts about one endpoint. */
const QUARTER_MS = 15 * 60_000

/**
 * Checked at every alert about an endpoint: its worker has claimed it, a quarter of an hour after
 * the one before.
 */
export function watchClaimedAlerts(world: World) {
  /** Endpoints whose next alert a worker has claimed and not published yet. */
  const claimed = new WeakMap<Process, string[]>()

  onWrite(world, /^ENDPOINTS#/, ({ key: { sk }, before, after, worker, isNew, nowMs }) => {
    // A worker claims the next alert before it publishes it. If it cannot, it puts the earlier time
    // back.
    if (
      isNew ||
      worker === undefined ||
      text(after, 'last_alert_at') <= text(before, 'last_alert_at')
    )
      return
    const id = sk.slice(sk.indexOf('#') + 1)
    if (
      worker.name === 'check-due-alerts' &&
      nowMs - ms(before, 'last_alert_at') < QUARTER_MS - world.apartMs
    )
      world.problems.push(`endpoint ${id} has an alert too soon after the last one`)
    claimed.set(worker, [...(claimed.get(worker) ?? []), id])
  })

  world.onAlerted.push(({ kind, subject }, worker) => {
    if (kind !== 'delivery.abandoned') return
    // A frozen worker's alert goes out under the name of the worker that thawed its environment.
    const own = namesOf(world, worker).map((run) => claimed.get(run) ?? [])
    const holder = own.find((ids) => ids.includes(subject))
    if (holder === undefined)
      world.problems.push(`endpoint ${subject} has an alert from a worker that has not claimed it`)
    else holder.splice(holder.indexOf(subject), 1)
  })
}

type AtTime = { readonly id: string; readonly atMs: number }
type AlertSent = { readonly message: string; readonly atMs: number; readonly startedMs: number }

/**
 * At rest one alert names each abandonment. Two alerts may name it if the first could not be noted
 * on its row, as after a crash, and if they went out at the same time.
 */
export function watchAlerts(world: World) {
  const abandoned: AtTime[] = []
  const noted: AtTime[] = []
  const sent: AlertSent[] = []
  const startsMs = new WeakMap<Process, number>()
  const atMs = () => world.scheduler.nowMs()
  world.onStarted.push((process) => startsMs.set(process, atMs()))
  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'DELIVERY' || after?.['status'] !== 'abandoned') return
    const id = text(wholeRow(after), 'delivery_id')
    if (before?.['attempts'] !== after['attempts']) abandoned.push({ id, atMs: atMs() })
    else if (before?.['work'] === 'alert' && after['work'] === undefined)
      noted.push({ id, atMs: atMs() })
  })
  world.onAlerted.push(({ kind, message }, process) => {
    // The alert may be the unfinished work of an earlier process.
    const startedMs = Math.min(...namesOf(world, process).map((run) => startsMs.get(run) ?? 0))
    if (kind === 'delivery.abandoned') sent.push({ message, atMs: atMs(), startedMs })
  })

  return () =>
    abandoned.flatMap(({ id, atMs: fromMs }, at) => {
      const untilMs =
        abandoned.find((other, index) => index > at && other.id === id)?.atMs ??
        Number.POSITIVE_INFINITY
      const isOfIt = (alert: AtTime | AlertSent) => alert.atMs >= fromMs && alert.atMs < untilMs
      const naming = sent.filter((alert) => alert.message.includes(id) && isOfIt(alert))
      if (naming.length === 0) return [`delivery ${id} was abandoned, and no alert names it`]
      if (naming.length > 1) reportSituation(world, 'an alert is repeated after a crash')
      const note = noted.find((alert) => alert.id === id && isOfIt(alert))
      return naming.some(({ startedMs }) => note !== undefined && note.atMs < startedMs)
        ? [`delivery ${id} was abandoned once, and an alert names it although it was noted before`]
        : []
    })
}

/**
 * Checked at every POST: no worker of the common lane posts to an endpoint that was already marked
 * as slow.
 */
export function watchLanes(world: World) {
  /**
   * When endpoints were marked, in the world's time: the clock that wrote the mark may be wrong.
   */
  const markedAtMs = new Map<string, number>()
  const handedOut = new Map<string, { readonly firstMs: number; readonly slow: boolean }>()

  world.onChange.push(({ key, before, after }) => {
    if (!key.sk.startsWith('ENDPOINT#') || before?.['slow_since'] === after?.['slow_since']) return
    const endpointId = String(after?.['endpoint_id'])
    if (after?.['slow_since'] === undefined) markedAtMs.delete(endpointId)
    else markedAtMs.set(endpointId, world.scheduler.nowMs())
  })

  world.onHandedOut.push((queue, messages) => {
    if (queue !== 'webhooks' && queue !== 'webhooks-slow') return
    for (const { body } of messages) {
      const { delivery_id: id, attempt } = Object(JSON.parse(body))
      const known = handedOut.get(`${id} ${attempt}`) ?? {
        firstMs: world.scheduler.nowMs(),
        slow: false,
      }
      handedOut.set(`${id} ${attempt}`, { ...known, slow: known.slow || queue === 'webhooks-slow' })
    }
  })

  world.onPost.push(({ headers }) => {
    const deliveryId = headers['X-Gateway-Delivery-Id']
    const row = deliveryRow(world, deliveryId)
    // A late POST of an attempt that was recorded as lost is not the next attempt.
    if (row?.['claim_token'] === undefined) return
    const attempt = `${deliveryId} ${Number(row['attempts']) + 1}`
    const handed = handedOut.get(attempt)
    const marked = markedAtMs.get(String(row['endpoint_id']))
    if (handed?.slow === true) reportSituation(world, 'an attempt goes through the slow lane')
    if (handed && !handed.slow && marked !== undefined && handed.firstMs > marked)
      world.problems.push(`attempt ${attempt} of a slow endpoint held a worker of the common lane`)
  })
}
