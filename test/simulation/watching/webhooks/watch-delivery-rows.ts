import { type RawItem, text } from '../../../support/recount/books.ts'
import { deliveryStatus } from '../../world/rows.ts'
import type { World } from '../../world/world.ts'
import type { Observations } from '../observations.ts'
import {
  broken,
  brokenOf,
  DAY_MS,
  ms,
  onWorkersWrite,
  type Rules,
  rewrites,
  type WorkersWrite,
  watchStarts,
} from '../rules.ts'
import { type EndpointStates, isOn, wants } from './watch-endpoint-rows.ts'

/** One write to a delivery. */
type Write = WorkersWrite & {
  readonly was: string
  readonly is: string
  /** The attempts that it notes: one, or none. */
  readonly made: number
  /** What the endpoint may have been when its worker looked. */
  readonly endpoints: readonly RawItem[]
  /** Whether the operators were alerted after it was last abandoned. */
  readonly isTold: boolean
}

const ATTEMPTS_A_ROUND = 8
/** How long due work leaves a new delivery to its message. */
const LOOKED_AT_MS = 60_000
/** Each attempt says itself when it was made; it is noted that much later at most. */
const LATE_MS = DAY_MS

const count = (item: RawItem | undefined, attribute: string): number => Number(item?.[attribute] ?? 0)
const isClaimed = (item: RawItem | undefined): boolean => item?.['claim_token'] !== undefined
const isAlertOwed = (item: RawItem | undefined): boolean => item?.['work'] === 'alert'

const always: Rules<Write> = {
  'is another one than it was': rewrites(
    'delivery_id id event_id event_name client_id endpoint_id url payment_id success',
    'created_at fired_at listed_at owner entity',
  ),
  'counts its attempts wrong': ({ made, isNew }) => made !== 0 && (made !== 1 || isNew),
  'is listed by its status and is not': ({ after }) => after['status'] !== undefined && after['state'] !== undefined,
  'is under way and not looked at': ({ is, after }) =>
    is === 'scheduled' && (after['work'] !== 'delivery' || after['due_at'] === undefined),
  'is under way and may be forgotten': ({ is, after }) => is === 'scheduled' && after['ttl'] !== undefined,
  'has ended and is still claimed': ({ is, after }) => is !== 'scheduled' && isClaimed(after),
  'has ended, and is kept for ever or not for long': ({ was, is, after, nowMs }) =>
    was !== is && is !== 'scheduled' && !(count(after, 'ttl') * 1_000 > nowMs + 90 * DAY_MS - LATE_MS),
  'goes on after eight attempts of a round': ({ is, after }) =>
    is === 'scheduled' && count(after, 'attempts') - count(after, 'round_start') >= ATTEMPTS_A_ROUND,
}

const whenNew: Rules<Write> = {
  'is new and has attempts or a claim': ({ after }) =>
    count(after, 'attempts') + count(after, 'round_start') > 0 || isClaimed(after),
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
    is === 'abandoned' && count(after, 'attempts') - count(after, 'round_start') !== ATTEMPTS_A_ROUND,
  'is given up, and operators need not be told': ({ is, after }) =>
    is === 'abandoned' && (!isAlertOwed(after) || after['due_at'] === undefined),
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
const alongside = ({ world, was, is, isNew, before, after, nowMs, endpoints, isTold }: Write) => {
  const event = world.table.item({
    pk: `PAYMENT#${text(after, 'payment_id')}`,
    sk: `EVENT#${text(after, 'event_name')}`,
  })
  const bytesKeptMs = event === undefined ? 0 : count(event, 'ttl') * 1_000 || Number.POSITIVE_INFINITY
  const hasBytesFor = (forMs: number) => after['body'] !== undefined || bytesKeptMs > nowMs + forMs
  const begins = !isNew && was !== is && is === 'scheduled'
  return brokenOf({
    'is skipped although its endpoint is on': was !== is && is === 'skipped' && endpoints.every(isOn) && hasBytesFor(0),
    'begins a round in the place of an alert that is owed': begins && isAlertOwed(before) && !isTold,
    'is off the due work before anybody was told':
      is === 'abandoned' && isAlertOwed(before) && !isAlertOwed(after) && !isTold,
    'begins a round, and its bytes may be gone before it is': begins && !hasBytesFor(90 * DAY_MS),
  })
}

/** Checked at every write to a delivery: what design section 4 ("Deliver") lets it do, also with others at work on it. */
export const watchDeliveryRows = (world: World, seen: Observations, { since }: EndpointStates): void => {
  const startedMs = watchStarts(world)
  /** The number of alerts when it was last abandoned. */
  const alertsBefore = new Map<string, number>()

  onWorkersWrite(world, / DELIVERY$/, (row) => {
    const { before, after } = row
    const id = text(after, 'delivery_id')
    const write: Write = {
      ...row,
      was: deliveryStatus(before),
      is: deliveryStatus(after),
      made: count(after, 'attempts') - count(before, 'attempts'),
      endpoints: since(text(after, 'endpoint_id'), startedMs(row.worker)),
      isTold: world.alerts
        .slice(alertsBefore.get(id) ?? 0)
        .some(({ kind, message }) => kind === 'delivery.abandoned' && message.includes(id)),
    }
    if (write.made === 1 && write.is === 'abandoned') alertsBefore.set(id, world.alerts.length)
    for (const what of [...broken({ ...rulesFor(write), ...always }, write), ...alongside(write)])
      seen.problems.push(`delivery ${id} ${what}`)
  })
}
