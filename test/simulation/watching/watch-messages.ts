import { type RawItem, text } from '../../support/recount/books.ts'
import { meet } from '../sometimes/situations.ts'
import type { Process } from '../world/process.ts'
import { deliveryRow, deliveryStatus } from '../world/rows.ts'
import { addTo, type World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { isChanged, ms, onGoodEnd, onWorkersWrite, type States, watchClocks, watchStarts } from './rules.ts'
import { isOn } from './watch-endpoints.ts'

const MOST_SECONDS = 900

/** A message about a delivery that a worker received, and the delivery's row at that moment. */
type Received = { readonly id: string; readonly attempt: number; readonly row: RawItem | undefined }

const isScheduled = (row: RawItem | undefined): row is RawItem => deliveryStatus(row) === 'scheduled'

/** Until when it waits: for its next attempt, or for the end of its claim. */
const waitsUntilMs = (row: RawItem): number =>
  ms(row, row['claim_token'] === undefined ? 'next_attempt_at' : 'claimed_until')

/** The messages of one invocation, by delivery. */
const receivedIn = (world: World, event: unknown): ReadonlyMap<string, readonly Received[]> => {
  const records = Object(event).Records as readonly { readonly body: string }[]
  const received = records.map(({ body }): Received => {
    const { delivery_id: id, attempt } = Object(JSON.parse(body))
    return { id: String(id), attempt: Number(attempt), row: deliveryRow(world, id) }
  })
  return Map.groupBy(received, ({ id }) => id)
}

const attemptOf = (deliveryId: unknown, attempt: unknown): string => `${String(deliveryId)} ${String(attempt)}`

/** Checked at every message, and when its worker ends: a delivery under way has a message, and none comes too early. */
export const watchMessages = (world: World, seen: Observations): void => {
  const apartMs = watchClocks(world)
  const startedMs = watchStarts(world)
  const received = new WeakMap<Process, ReadonlyMap<string, readonly Received[]>>()
  /** Attempts about which a process has sent a message. */
  const sent = new WeakMap<Process, Set<string>>()
  /** Deliveries whose due time a process of due work could not move, because the table refused that. */
  const refused = new WeakMap<Process, Set<string>>()
  /** Failed attempts that a process has recorded, except the last of a round. */
  const recordedBy = new WeakMap<Process, Set<string>>()
  const report = (id: string, what: string) => void seen.problems.push(`delivery ${id} ${what}`)

  onWorkersWrite(world, / DELIVERY$/, (write) => {
    const { after, worker } = write
    if (isChanged(write, 'attempts') && isScheduled(after))
      addTo(recordedBy, worker, attemptOf(after['delivery_id'], after['attempts']))
  })

  world.onRefused.push(({ key, kind, ...step }) => {
    const { acting } = world
    const isMove = kind === 'update' && 'changes' in step && step.changes.set?.['dueAt'] !== undefined
    if (acting?.name === 'check-due-deliveries' && isMove) addTo(refused, acting, key.pk)
  })

  world.onStarted.push((process, event) => {
    if (process.name === 'deliver-webhook') received.set(process, receivedIn(world, event))
  })

  /** No other process has changed the row since this one received its message or recorded its attempt. */
  const isKnown = (process: Process, id: string, row: RawItem): boolean => {
    const messages = received.get(process)?.get(id) ?? []
    const isRecorded = recordedBy.get(process)?.has(attemptOf(id, row['attempts'])) === true
    return isRecorded || messages.some(({ row: was }) => was === row)
  }

  world.onSent.push((queue, { body, delaySeconds }, process) => {
    if (!queue.startsWith('webhooks')) return
    const { delivery_id: id, attempt } = Object(body)
    const row = deliveryRow(world, id)
    addTo(sent, process, attemptOf(id, attempt))
    if (refused.get(process)?.has(`DELIVERY#${id}`))
      report(id, 'gets a message from due work that could not move its due time')
    if (row === undefined) return report(id, 'gets a message before it is stored')
    const next = Number(row['attempts']) + 1
    if (attempt > next) report(id, 'gets a message about a later attempt than its next one')
    const arrivesMs = world.scheduler.nowMs() + delaySeconds * 1_000
    // For a longer wait the message comes early, and the worker sends the next one.
    const isDelayed = delaySeconds > 0 && delaySeconds < MOST_SECONDS
    const isEarly = isDelayed && attempt === next && arrivesMs < waitsUntilMs(row) - apartMs()
    if (isEarly && isScheduled(row) && isKnown(process, id, row))
      report(id, 'gets a message that comes before its time')
  })

  onGoodEnd(world, (process) => {
    for (const [id, messages] of received.get(process) ?? []) {
      const row = deliveryRow(world, id)
      const next = Number(row?.['attempts']) + 1
      if (!isScheduled(row) || sent.get(process)?.has(attemptOf(id, next))) continue
      // The row did not change since this worker received it, so no other worker follows it.
      const wasMeant = messages.some(({ attempt, row: was }) => attempt === next && was === row)
      const isLater = waitsUntilMs(row) > startedMs(process) + apartMs()
      if (wasMeant && (isLater || row['claim_token'] !== undefined)) report(id, 'waits without a message')
      const made = messages.some(
        ({ attempt, row: was }) => attempt === next - 1 && Number(was?.['attempts']) === next - 2,
      )
      if (made && recordedBy.get(process)?.has(attemptOf(id, next - 1)))
        report(id, 'has a failed attempt without a message for the next one')
    }
  })
}

/** Clocks differ by twenty seconds at most, and a worker makes a few calls between its read of an endpoint and its POST. */
const NEAR_MS = 60_000

/** Checked at every POST: it names its own event and the present time (design section 8), and its endpoint is enabled. */
export const watchPosts = (world: World, seen: Observations, { since }: States): void => {
  const apartMs = watchClocks(world)

  world.onPost.push(({ headers }) => {
    const id = headers['X-Gateway-Delivery-Id'] ?? ''
    const report = (what: string) => void seen.problems.push(`delivery ${id} ${what}`)
    const row = deliveryRow(world, id)
    const [type] = text(row ?? {}, 'event_name').split('#')
    if (headers['webhook-id'] !== row?.['event_id'] || headers['X-Gateway-Event'] !== type)
      report('is posted as another event')
    if (Math.abs(Number(headers['webhook-timestamp']) * 1_000 - world.scheduler.nowMs()) > apartMs() + 1_000)
      report('is posted with another time than the present one')
    if (!since(text(row ?? {}, 'endpoint_id'), world.scheduler.nowMs() - NEAR_MS).some(isOn))
      report('is posted to an endpoint that was disabled or deleted a while ago')
  })

  watchLanes(world, seen)
}

type HandedOut = { readonly firstMs: number; slow: boolean }

/** Checked at every POST: no worker of the common lane posts to an endpoint that was already marked as slow. */
const watchLanes = (world: World, seen: Observations): void => {
  /** When endpoints were marked, in the world's time: the clock that wrote the mark may be wrong. */
  const markedAtMs = new Map<string, number>()
  const handedOut = new Map<string, HandedOut>()

  world.onChange.push(({ key, before, after }) => {
    if (!key.sk.startsWith('ENDPOINT#') || before?.['slow_since'] === after?.['slow_since']) return
    const endpointId = String(after?.['endpoint_id'])
    if (after?.['slow_since'] === undefined) markedAtMs.delete(endpointId)
    else markedAtMs.set(endpointId, world.scheduler.nowMs())
  })

  world.onHandedOut.push((queue, messages) => {
    if (queue !== 'webhooks' && queue !== 'webhooks-slow') return
    for (const { body } of messages) {
      const message = JSON.parse(body) as Readonly<Record<string, unknown>>
      const attempt = attemptOf(message['delivery_id'], message['attempt'])
      const known = handedOut.get(attempt) ?? { firstMs: world.scheduler.nowMs(), slow: false }
      handedOut.set(attempt, { ...known, slow: known.slow || queue === 'webhooks-slow' })
    }
  })

  world.onPost.push(({ headers }) => {
    const deliveryId = headers['X-Gateway-Delivery-Id']
    const row = deliveryRow(world, deliveryId)
    // A late POST of an attempt that was recorded as lost is not the next attempt.
    if (row?.['claim_token'] === undefined) return
    const attempt = attemptOf(deliveryId, Number(row?.['attempts']) + 1)
    const handed = handedOut.get(attempt)
    const marked = markedAtMs.get(String(row?.['endpoint_id']))
    if (handed?.slow === true) meet(world, 'an attempt goes through the slow lane')
    if (handed && !handed.slow && marked !== undefined && handed.firstMs > marked) {
      seen.problems.push(`attempt ${attempt} of a slow endpoint held a worker of the common lane`)
    }
  })
}
