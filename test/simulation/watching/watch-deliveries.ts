import type { TableChange } from '../../../infra/local/emulators/memory-table/table-view.ts'
import { amount, type RawItem, text } from '../../support/recount/books.ts'
import { deliveryStatus } from '../world/rows.ts'
import {
  broken,
  brokenOf,
  DAY_MS,
  ms,
  onWorkersWrite,
  type Rules,
  rewrites,
  type States,
  type WorkersWrite,
  watchClocks,
} from '../world/rules.ts'
import type { World } from '../world/world.ts'
import { isOn, wants } from './watch-endpoints.ts'

/** A commit keeps its time for tries of a minute, and its last try takes 17 s. */
const LATEST_COMMIT_MS = 77_000
/** The longest time between the read of the endpoints and the time of the commit. */
const READ_BEFORE_MS = 5_000
/** The longest time for which other writers can delay a write. */
const TRIES_MS = 10 * 60_000
/** Functions whose caller may be answered early: their environment then freezes, with the calls in flight. */
const ANSWERS_HTTP = /^(api-|receive-provider-callback)/
/** Functions that make a delivery of a stored event. */
const REDELIVERS = /^(redeliver|api-redeliver-webhook)$/

const everyEvent: Rules<WorkersWrite> = {
  'has due work': ({ after }) => after['work'] !== undefined || after['due_at'] !== undefined,
}

const newEvent: Rules<WorkersWrite> = {
  ...everyEvent,
  'is stored without its bytes': ({ after }) => text(after, 'body') === '',
  'is new and never expires': ({ after }) => after['ttl'] === undefined,
  'is written with an old time': ({ after, worker, nowMs, apartMs }) =>
    !ANSWERS_HTTP.test(worker.name) && ms(after, 'listed_at') < nowMs - LATEST_COMMIT_MS - apartMs / 2,
}

const changedEvent: Rules<WorkersWrite> = {
  ...everyEvent,
  'changes what it tells': rewrites('event_id id type client_id owner entity payment_id fired_at listed_at'),
  'expires earlier than before': ({ before, after, apartMs }) =>
    Number(after['ttl']) * 1_000 < Number(before['ttl']) * 1_000 - TRIES_MS - apartMs,
}

const newRows = (written: readonly TableChange[], isMeant: (sk: string) => boolean): readonly RawItem[] =>
  written.flatMap(({ key, before, after }) => (before === undefined && after && isMeant(key.sk) ? [after] : []))

/** Checked at every write: an event comes with its payment, and with a delivery to each endpoint that wants it. */
export const watchAnnouncements = (world: World, { of, since }: States): void => {
  const apartMs = watchClocks(world)
  onWorkersWrite(world, / EVENT#/, (write) => {
    for (const what of broken(write.isNew ? newEvent : changedEvent, write))
      world.problems.push(`${write.key.pk} ${write.key.sk} ${what}`)
  })

  /** The endpoints that wanted it at every moment at which the worker may have read them. */
  const wanting = (event: RawItem): readonly string[] => {
    const [clientId = ''] = text(event, 'owner').split('#')
    const eventName = text(event, 'sk').slice('EVENT#'.length)
    const readFromMs = ms(event, 'listed_at') - READ_BEFORE_MS - apartMs() / 2
    return [...of].flatMap(([id, [first]]) => {
      const isOlder = first?.row['client_id'] === clientId && first.sinceMs < readFromMs
      return isOlder && since(id, readFromMs).every((endpoint) => wants(endpoint, eventName)) ? [id] : []
    })
  }

  world.onWritten.push((written) => {
    const deliveries = newRows(written, (sk) => sk === 'DELIVERY').filter(({ payment_id: id }) => id !== undefined)
    const events = newRows(written, (sk) => sk.startsWith('EVENT#'))
    for (const event of events) {
      const told = deliveries.filter(({ event_id: id }) => id === event['id']).map((row) => row['endpoint_id'])
      const missing = wanting(event).filter((id) => !told.includes(id))
      world.problems.push(...missing.map((id) => `event ${text(event, 'id')} is written without a delivery to ${id}`))
    }
    for (const row of deliveries) {
      const isAlone = !events.some((event) => event['id'] === row['event_id'])
      if (isAlone && !REDELIVERS.test(world.acting?.name ?? ''))
        world.problems.push(`delivery ${text(row, 'delivery_id')} is made without its event`)
    }
  })
}

/** One write to a delivery. */
type Write = WorkersWrite & {
  readonly was: string
  readonly is: string
  /** How many attempts it records: one or none. */
  readonly made: number
  /** What the endpoint may have been when the worker read it. */
  readonly endpoints: readonly RawItem[]
}

const ATTEMPTS_A_ROUND = 8
/** How long due work waits for the message of a new delivery. */
const LOOKED_AT_MS = 60_000
/** The longest time from an attempt to the record of its result. */
const LATE_MS = DAY_MS

const isClaimed = (item: RawItem): boolean => item['claim_token'] !== undefined

const always: Rules<Write> = {
  'changes what it is': rewrites(
    'delivery_id id event_id event_name client_id endpoint_id url payment_id success',
    'created_at fired_at listed_at owner entity',
  ),
  'counts another number of attempts than zero or one more': ({ made, isNew }) => made !== 0 && (made !== 1 || isNew),
  'is scheduled and not due for a check': ({ is, after }) =>
    is === 'scheduled' && (after['work'] !== 'delivery' || after['due_at'] === undefined),
  'is scheduled and expires': ({ is, after }) => is === 'scheduled' && after['ttl'] !== undefined,
  'has ended and is still claimed': ({ is, after }) => is !== 'scheduled' && isClaimed(after),
  'has ended, and expires never or too soon': ({ was, is, after, nowMs }) =>
    was !== is && is !== 'scheduled' && !(amount(after, 'ttl') * 1_000 > nowMs + 90 * DAY_MS - LATE_MS),
}

const whenNew: Rules<Write> = {
  'is new and has attempts or a claim': ({ after }) =>
    amount(after, 'attempts') + amount(after, 'round_start') > 0 || isClaimed(after),
  'is made for an endpoint that does not want the event': ({ after, endpoints }) =>
    after['event_name'] !== 'gateway.test' && !endpoints.some((one) => wants(one, text(after, 'event_name'))),
  'is made for a disabled endpoint': ({ is, endpoints }) => is === 'scheduled' && !endpoints.some(isOn),
  'is new, and due work checks it late': ({ is, after }) =>
    is === 'scheduled' && ms(after, 'due_at') > ms(after, 'next_attempt_at') + LOOKED_AT_MS,
  'has no bytes to send': ({ after }) => after['payment_id'] === undefined && after['body'] === undefined,
}

const betweenAttempts: Rules<Write> = {
  'loses its claim without an attempt': ({ before, after }) => isClaimed(before) && !isClaimed(after),
  'plans another time for its next attempt without an attempt': ({ was, is, before, after }) =>
    was === 'scheduled' && is === 'scheduled' && before['next_attempt_at'] !== after['next_attempt_at'],
  'moves the start of its round': ({ was, is, before, after }) =>
    was === is && before['round_start'] !== after['round_start'],
  'is postponed before it is due': ({ was, is, before, after, nowMs, apartMs }) =>
    was === is && ms(after, 'due_at') > ms(before, 'due_at') && ms(before, 'due_at') > nowMs + apartMs,
  'changes its end': ({ was, is }) => was !== is && was !== 'scheduled' && is !== 'scheduled',
  'ends without an attempt': ({ was, is }) => was === 'scheduled' && ['succeeded', 'abandoned'].includes(is),
}

const whenMade: Rules<Write> = {
  'records an attempt without a claim': ({ before }) => !isClaimed(before),
  'records an attempt and stays claimed': ({ after }) => isClaimed(after),
  'records an attempt and begins a round': ({ before, after }) => before['round_start'] !== after['round_start'],
  'is abandoned before its eighth attempt': ({ is, after }) =>
    is === 'abandoned' && amount(after, 'attempts') - amount(after, 'round_start') !== ATTEMPTS_A_ROUND,
}

const inNewRound: Rules<Write> = {
  'begins a round at another number than its last attempt': ({ after }) => after['round_start'] !== after['attempts'],
  'begins a round later than now': ({ after, nowMs, apartMs }) => !(ms(after, 'next_attempt_at') <= nowMs + apartMs),
  'begins a round to a disabled endpoint': ({ endpoints }) => !endpoints.some(isOn),
}

const rulesFor = ({ isNew, was, is, made }: Write): Rules<Write> => {
  if (isNew) return whenNew
  if (made !== 0) return whenMade
  return was !== 'scheduled' && is === 'scheduled' ? inNewRound : betweenAttempts
}

/** Rules that need its event: the bytes must be there until they are sent. */
const byteProblems = ({ world, was, is, isNew, made, after, nowMs, endpoints }: Write) => {
  const event = world.table.item({
    pk: `PAYMENT#${text(after, 'payment_id')}`,
    sk: `EVENT#${text(after, 'event_name')}`,
  })
  const bytesKeptMs = event === undefined ? 0 : amount(event, 'ttl') * 1_000 || Number.POSITIVE_INFINITY
  const hasBytesFor = (forMs: number) => after['body'] !== undefined || bytesKeptMs > nowMs + forMs
  const begins = !isNew && was !== is && is === 'scheduled'
  return brokenOf({
    'is skipped although its endpoint is enabled':
      was !== is && is === 'skipped' && endpoints.every(isOn) && hasBytesFor(0),
    'is skipped by an attempt that has its bytes': made !== 0 && is === 'skipped' && hasBytesFor(0),
    'begins a round, and its bytes expire before its end': begins && !hasBytesFor(90 * DAY_MS),
  })
}

/** Checked at every write to a delivery: what design section 4 ("Deliver") lets it do, also with others at work on it. */
export const watchDeliveryRows = (world: World, { since }: States): void => {
  onWorkersWrite(world, / DELIVERY$/, (row) => {
    const { before, after } = row
    const id = text(after, 'delivery_id')
    const write: Write = {
      ...row,
      was: deliveryStatus(before),
      is: deliveryStatus(after),
      made: amount(after, 'attempts') - amount(before, 'attempts'),
      endpoints: since(text(after, 'endpoint_id'), row.startedMs),
    }
    for (const what of [...broken({ ...rulesFor(write), ...always }, write), ...byteProblems(write)])
      world.problems.push(`delivery ${id} ${what}`)
  })
}
