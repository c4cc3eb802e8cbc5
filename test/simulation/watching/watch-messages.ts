import { createHmac } from 'node:crypto'
import { type RawItem, text } from '../../support/recount/books.ts'
import { meet } from '../sometimes/situations.ts'
import type { Process } from '../world/process.ts'
import { deliveryRow, deliveryStatus } from '../world/rows.ts'
import { addTo, type World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { brokenOf, isChanged, ms, onGoodEnd, onWorkersWrite, watchClocks, watchStarts } from './rules.ts'

const MOST_SECONDS = 900

/** A delivery's message as a worker was given it, and the row as it was then. */
type Given = { readonly attempt: number; readonly isSlow: boolean; readonly row: RawItem | undefined }

/** A delivery's message as a worker has sent it. */
type Sent = { readonly attempt: number; readonly delaySeconds: number; readonly isSlow: boolean }

const isScheduled = (row: RawItem | undefined): row is RawItem => deliveryStatus(row) === 'scheduled'

/** Until when it waits: for its next attempt, or for the end of its claim. */
const waitsUntilMs = (row: RawItem): number =>
  ms(row, row['claim_token'] === undefined ? 'next_attempt_at' : 'claimed_until')

/** What an invocation of the worker was given, by delivery. */
const givenIn = (world: World, event: unknown): ReadonlyMap<string, readonly Given[]> => {
  const records = Object(event).Records as readonly { readonly body: string }[]
  const messages = records.map(({ body }) => JSON.parse(body) as Readonly<Record<string, unknown>>)
  const given = messages.map((message) => {
    const id = String(message['delivery_id'])
    return { id, attempt: Number(message['attempt']), isSlow: message['slow'] === true, row: deliveryRow(world, id) }
  })
  return Map.groupBy(given, ({ id }) => id)
}

/** Checked at every message, and when its worker ends: a delivery under way has a message, and none comes too early. */
export const watchMessages = (world: World, seen: Observations): void => {
  const apartMs = watchClocks(world)
  const startedMs = watchStarts(world)
  const given = new WeakMap<Process, ReadonlyMap<string, readonly Given[]>>()
  const sent = new WeakMap<Process, Map<string, Sent[]>>()
  /** Rows whose claim by due work was refused to this process. */
  const refused = new WeakMap<Process, Set<string>>()
  /** Attempts that have failed and are not the last of their round, by who has noted them. */
  const notedBy = new WeakMap<Process, Set<string>>()
  const report = (id: string, what: string) => void seen.problems.push(`delivery ${id} ${what}`)

  onWorkersWrite(world, / DELIVERY$/, (write) => {
    const { key, after, worker } = write
    if (!isChanged(write, 'attempts') || !isScheduled(after)) return
    addTo(notedBy, worker, `${key.pk.slice('DELIVERY#'.length)} ${Number(after['attempts'])}`)
  })

  world.onStarted.push((process, event) => {
    if (process.name === 'deliver-webhook') given.set(process, givenIn(world, event))
  })

  world.onRefused.push(({ key, kind, ...step }) => {
    const { acting } = world
    const isMove = kind === 'update' && 'changes' in step && step.changes.set?.['dueAt'] !== undefined
    if (acting === undefined || !isMove || acting.name !== 'check-due-deliveries') return
    addTo(refused, acting, `${key.pk} ${key.sk}`)
  })

  world.onMessage.push((queue, { body, delaySeconds }, process) => {
    if (!queue.startsWith('webhooks')) return
    const id = String(Reflect.get(body, 'delivery_id'))
    const row = deliveryRow(world, id)
    const one = { attempt: Number(Reflect.get(body, 'attempt')), delaySeconds, isSlow: queue === 'webhooks-slow' }
    const own = sent.get(process) ?? new Map<string, Sent[]>()
    sent.set(process, own.set(id, [...(own.get(id) ?? []), one]))
    if (refused.get(process)?.has(`DELIVERY#${id} DELIVERY`) === true)
      report(id, 'gets a message by a worker that was refused it')
    if (row === undefined) return report(id, 'gets a message before it is there')
    if (one.attempt > Number(row['attempts']) + 1) report(id, 'gets a message about an attempt that is not next')
    const met = given.get(process)?.get(id)
    if (met === undefined) return
    // As its worker has met it, or left it.
    const isKnown =
      met.some(({ row: was }) => was === row) || notedBy.get(process)?.has(`${id} ${Number(row['attempts'])}`) === true
    const isDue = ms(row, 'next_attempt_at') < world.scheduler.nowMs() - apartMs() && row['claim_token'] === undefined
    const wrong = brokenOf({
      'gets a message that comes before its time': isKnown && isEarly(world, row, one, apartMs()),
      'gets a message for one about an attempt that was made': met.every(
        ({ attempt, row: was }) => attempt <= Number(was?.['attempts']),
      ),
      'is sent on within the slow lane': met.every(({ isSlow }) => isSlow) && delaySeconds === 0 && isDue,
    })
    for (const what of wrong) report(id, what)
  })

  onGoodEnd(world, (process) => {
    for (const [id, messages] of given.get(process) ?? []) {
      const row = deliveryRow(world, id)
      const next = Number(row?.['attempts']) + 1
      const isSent = (sent.get(process)?.get(id) ?? []).some(({ attempt }) => attempt === next)
      if (!isScheduled(row) || isSent) continue
      // As it was when this worker began: no other worker has read it since.
      const wasMeant = messages.some(({ attempt, row: was }) => attempt === next && was === row)
      const isLater = waitsUntilMs(row) > startedMs(process) + apartMs()
      if (wasMeant && (isLater || row['claim_token'] !== undefined)) report(id, 'waits, and its message is gone')
      const made = messages.some(
        ({ attempt, row: was }) => attempt === next - 1 && Number(was?.['attempts']) === next - 2,
      )
      if (made && notedBy.get(process)?.has(`${id} ${next - 1}`))
        report(id, 'has failed, and no message leads to its next attempt')
    }
  })

  watchBatches(world, seen)
}

/** A message waits as long as its delivery, as far as a queue can hold it. */
const isEarly = (world: World, row: RawItem, { attempt, delaySeconds }: Sent, apartMs: number): boolean => {
  if (!isScheduled(row) || attempt !== Number(row['attempts']) + 1) return false
  const arrivesMs = world.scheduler.nowMs() + delaySeconds * 1_000
  return delaySeconds > 0 && delaySeconds < MOST_SECONDS && arrivesMs < waitsUntilMs(row) - apartMs
}

const FAILED = '"message.failed"'

/** Checked at every batch of a queue: what has failed goes back to its queue, and nothing else does. */
const watchBatches = (world: World, seen: Observations): void => {
  const failures = new WeakMap<Process, Set<string>>()

  world.onError.push((process, _, line) => {
    if (!line.includes(FAILED)) return
    const { message_id: id } = JSON.parse(line) as { readonly message_id?: unknown }
    addTo(failures, process, String(id))
  })

  world.onHandedBack.push((process, messages, failed) => {
    for (const { messageId } of messages) {
      const hasFailed = failures.get(process)?.has(messageId) === true
      if (hasFailed && !failed.has(messageId))
        seen.problems.push(`${process.name}: ${messageId} has failed, and is taken off its queue`)
      if (!hasFailed && failed.has(messageId))
        seen.problems.push(`${process.name}: ${messageId} goes back to its queue, and nothing is wrong with it`)
    }
  })
}

/** Libraries take nothing else: standard base64 of 32 bytes. */
const SECRET = /^whsec_([A-Za-z0-9+/]{43}=)$/

/** Checked at every POST: what libraries for Standard Webhooks need to believe it, and the time of now (design section 8). */
export const watchPosts = (world: World, seen: Observations): void => {
  const apartMs = watchClocks(world)
  /** Of each endpoint, as its registration has made it. */
  const secrets = new Map<string, string>()

  world.onChange.push(({ key, before, after }) => {
    if (!key.pk.startsWith('ENDPOINTS#') || after === undefined) return
    const id = text(after, 'endpoint_id')
    if (after['deleted_at'] !== undefined && after['sealed_secret'] !== undefined)
      seen.problems.push(`endpoint ${id} is deleted, and its secret is kept`)
    if (before !== undefined || !key.sk.startsWith('ENDPOINT#')) return
    const secret = world.seals.get(text(after, 'sealed_secret'))?.secret ?? ''
    secrets.set(id, secret)
    if (!SECRET.test(secret)) seen.problems.push(`endpoint ${id} has a secret that libraries refuse`)
  })

  world.onPost.push(({ headers, body }) => {
    const id = headers['X-Gateway-Delivery-Id'] ?? ''
    const report = (what: string) => void seen.problems.push(`delivery ${id} ${what}`)
    const row = deliveryRow(world, id)
    const [webhookId, timestamp] = [headers['webhook-id'], headers['webhook-timestamp']]
    if (webhookId !== row?.['event_id'] || headers['X-Gateway-Event'] !== text(row ?? {}, 'event_name').split('#')[0])
      report('is posted as another event')
    if (Math.abs(Number(timestamp) * 1_000 - world.scheduler.nowMs()) > apartMs() + 1_000)
      report('is posted with another time than now')
    const [, encoded] = SECRET.exec(secrets.get(text(row ?? {}, 'endpoint_id')) ?? '') ?? []
    if (encoded === undefined) return
    const signed = createHmac('sha256', Buffer.from(encoded, 'base64'))
      .update(`${webhookId}.${timestamp}.${body.toString('utf8')}`)
      .digest('base64')
    if (headers['webhook-signature'] !== `v1,${signed}`) report('is posted with a signature that a library refuses')
  })

  watchLanes(world, seen)
}

type HandedOut = { readonly firstMs: number; slow: boolean }

const attemptOf = (deliveryId: unknown, attempt: unknown): string => `${String(deliveryId)} ${String(attempt)}`

/** Checked at every POST: no worker of the common lane is held for an endpoint that was known to hang. */
const watchLanes = (world: World, seen: Observations): void => {
  /** In the world's time: the mark itself was written by a clock that may be wrong. */
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
      seen.problems.push(`attempt ${attempt} held a worker of the common lane`)
    }
  })
}
