import type { TableChange } from '../../../infra/local/emulators/memory-table/table-view.ts'
import { amount, type RawItem, text } from '../../support/recount/books.ts'
import { deliveryStatus } from '../world/rows.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
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
} from './rules.ts'
import { isOn, wants } from './watch-endpoints.ts'

/** A commit is tried with its time for a minute, and its last try takes 17 s. */
const LATEST_COMMIT_MS = 77_000
/** Endpoints are read at most so long before the commit is made ready. */
const READ_BEFORE_MS = 5_000
/** Others may be in the way of a write for so long. */
const TRIES_MS = 10 * 60_000
/** A handler that was answered early is frozen with its environment. In this world its calls in flight are, too. */
const ANSWERS_HTTP = /^(api-|receive-provider-callback)/
/** Who makes a delivery of an event that is there already. */
const REDELIVERS = /^(redeliver|api-redeliver-webhook)$/

const everyEvent: Rules<WorkersWrite> = {
  'has due work': ({ after }) => after['work'] !== undefined || after['due_at'] !== undefined,
}

const newEvent: Rules<WorkersWrite> = {
  ...everyEvent,
  'is there without its bytes': ({ after }) => text(after, 'body') === '',
  'is new and kept for ever': ({ after }) => after['ttl'] === undefined,
  'is written with a time of long ago': ({ after, worker, nowMs, apartMs }) =>
    !ANSWERS_HTTP.test(worker.name) && ms(after, 'listed_at') < nowMs - LATEST_COMMIT_MS - apartMs / 2,
}

const changedEvent: Rules<WorkersWrite> = {
  ...everyEvent,
  'is another one than it was': rewrites('event_id id type client_id owner entity payment_id fired_at listed_at'),
  'is kept for less time than before': ({ before, after, apartMs }) =>
    Number(after['ttl']) * 1_000 < Number(before['ttl']) * 1_000 - TRIES_MS - apartMs,
}

const newRows = (written: readonly TableChange[], isMeant: (sk: string) => boolean): readonly RawItem[] =>
  written.flatMap(({ key, before, after }) => (before === undefined && after && isMeant(key.sk) ? [after] : []))

/** Checked at every write: an event comes with what it tells of, and one delivery to each endpoint that wants it. */
export const watchAnnouncements = (world: World, seen: Observations, { of, since }: States): void => {
  const apartMs = watchClocks(world)
  onWorkersWrite(world, / EVENT#/, (write) => {
    for (const what of broken(write.isNew ? newEvent : changedEvent, write))
      seen.problems.push(`${write.key.pk} ${write.key.sk} ${what}`)
  })

  /** Those that wanted it at every moment at which they may have been read. */
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
      seen.problems.push(...missing.map((id) => `event ${text(event, 'id')} is written without a delivery to ${id}`))
    }
    for (const row of deliveries) {
      const isAlone = !events.some((event) => event['id'] === row['event_id'])
      if (isAlone && !REDELIVERS.test(world.acting?.name ?? ''))
        seen.problems.push(`delivery ${text(row, 'delivery_id')} is made without its event`)
    }
  })
}

/** One write to a delivery. */
type Write = WorkersWrite & {
  readonly was: string
  readonly is: string
  /** The attempts that it notes: one, or none. */
  readonly made: number
  /** What the endpoint may have been when its worker looked. */
  readonly endpoints: readonly RawItem[]
}

const ATTEMPTS_A_ROUND = 8
/** How long due work leaves a new delivery to its message. */
const LOOKED_AT_MS = 60_000
/** Each attempt says itself when it was made; it is noted that much later at most. */
const LATE_MS = DAY_MS

const isClaimed = (item: RawItem): boolean => item['claim_token'] !== undefined

const always: Rules<Write> = {
  'is another one than it was': rewrites(
    'delivery_id id event_id event_name client_id endpoint_id url payment_id success',
    'created_at fired_at listed_at owner entity',
  ),
  'counts its attempts wrong': ({ made, isNew }) => made !== 0 && (made !== 1 || isNew),
  'is under way and not looked at': ({ is, after }) =>
    is === 'scheduled' && (after['work'] !== 'delivery' || after['due_at'] === undefined),
  'is under way and may be forgotten': ({ is, after }) => is === 'scheduled' && after['ttl'] !== undefined,
  'has ended and is still claimed': ({ is, after }) => is !== 'scheduled' && isClaimed(after),
  'has ended, and is kept for ever or not for long': ({ was, is, after, nowMs }) =>
    was !== is && is !== 'scheduled' && !(amount(after, 'ttl') * 1_000 > nowMs + 90 * DAY_MS - LATE_MS),
}

const whenNew: Rules<Write> = {
  'is new and has attempts or a claim': ({ after }) =>
    amount(after, 'attempts') + amount(after, 'round_start') > 0 || isClaimed(after),
  'is made for an endpoint that did not ask for it': ({ after, endpoints }) =>
    after['event_name'] !== 'gateway.test' && !endpoints.some((one) => wants(one, text(after, 'event_name'))),
  'is made for an endpoint that is switched off': ({ is, endpoints }) => is === 'scheduled' && !endpoints.some(isOn),
  'is new, and due work looks for its message late': ({ is, after }) =>
    is === 'scheduled' && ms(after, 'due_at') > ms(after, 'next_attempt_at') + LOOKED_AT_MS,
  'has no bytes to send': ({ after }) => after['payment_id'] === undefined && after['body'] === undefined,
}

const betweenAttempts: Rules<Write> = {
  'forgets a claim': ({ before, after }) => isClaimed(before) && !isClaimed(after),
  'is due at another time without an attempt': ({ was, is, before, after }) =>
    was === 'scheduled' && is === 'scheduled' && before['next_attempt_at'] !== after['next_attempt_at'],
  'begins its round elsewhere without an attempt': ({ was, is, before, after }) =>
    was === is && before['round_start'] !== after['round_start'],
  'is put off before its time': ({ was, is, before, after, nowMs, apartMs }) =>
    was === is && ms(after, 'due_at') > ms(before, 'due_at') && ms(before, 'due_at') > nowMs + apartMs,
  'has ended and ends otherwise': ({ was, is }) => was !== is && was !== 'scheduled' && is !== 'scheduled',
  'ends without an attempt': ({ was, is }) => was === 'scheduled' && ['succeeded', 'abandoned'].includes(is),
}

const whenMade: Rules<Write> = {
  'notes an attempt of what has ended': ({ was }) => was !== 'scheduled',
  'notes an attempt that was not claimed': ({ before }) => !isClaimed(before),
  'notes an attempt and stays claimed': ({ after }) => isClaimed(after),
  'begins a round with an attempt': ({ before, after }) => before['round_start'] !== after['round_start'],
  'is given up before its eighth attempt': ({ is, after }) =>
    is === 'abandoned' && amount(after, 'attempts') - amount(after, 'round_start') !== ATTEMPTS_A_ROUND,
  'is skipped by an attempt': ({ is }) => is === 'skipped',
}

const inNewRound: Rules<Write> = {
  'begins a round elsewhere than where it stands': ({ after }) => after['round_start'] !== after['attempts'],
  'begins a round at another time than now': ({ after, nowMs, apartMs }) =>
    !(ms(after, 'next_attempt_at') <= nowMs + apartMs),
  'begins a round to an endpoint that is switched off': ({ endpoints }) => !endpoints.some(isOn),
}

const rulesFor = ({ isNew, was, is, made }: Write): Rules<Write> => {
  if (isNew) return whenNew
  if (made !== 0) return whenMade
  return was !== 'scheduled' && is === 'scheduled' ? inNewRound : betweenAttempts
}

/** What is written along with it. */
const alongside = ({ world, was, is, isNew, after, nowMs, endpoints }: Write) => {
  const event = world.table.item({
    pk: `PAYMENT#${text(after, 'payment_id')}`,
    sk: `EVENT#${text(after, 'event_name')}`,
  })
  const bytesKeptMs = event === undefined ? 0 : amount(event, 'ttl') * 1_000 || Number.POSITIVE_INFINITY
  const hasBytesFor = (forMs: number) => after['body'] !== undefined || bytesKeptMs > nowMs + forMs
  const begins = !isNew && was !== is && is === 'scheduled'
  return brokenOf({
    'is skipped although its endpoint is on': was !== is && is === 'skipped' && endpoints.every(isOn) && hasBytesFor(0),
    'begins a round, and its bytes may be gone before it is': begins && !hasBytesFor(90 * DAY_MS),
  })
}

/** Checked at every write to a delivery: what design section 4 ("Deliver") lets it do, also with others at work on it. */
export const watchDeliveryRows = (world: World, seen: Observations, { since }: States): void => {
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
    for (const what of [...broken({ ...rulesFor(write), ...always }, write), ...alongside(write)])
      seen.problems.push(`delivery ${id} ${what}`)
  })
}
