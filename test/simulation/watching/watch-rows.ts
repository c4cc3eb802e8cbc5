import { amount, text } from '../../support/recount/books.ts'
import type { Process } from '../world/process.ts'
import {
  APART_MS,
  DAY_MS,
  isChanged,
  isRewritten,
  ms,
  onWrite,
  type Rules,
  type States,
  type Write,
  watchRules,
  watchStates,
} from '../world/rules.ts'
import { count } from '../world/tally.ts'
import { type World } from '../world/world.ts'
import { watchPayments } from './watch-payments.ts'
import {
  watchAnnouncements,
  watchAttempts,
  watchClaimedAlerts,
  watchLanes,
} from './watch-webhooks.ts'

const ENDED = ['succeeded', 'failed', 'expired', 'cancelled']
const SET_ONCE = [
  'body',
  'capture',
  'payment_destination',
  'cancel_requested_at',
  'expiry_started_at',
]

const rowRules: Rules = {
  'leaves a terminal status': (write) =>
    write.key.sk === 'PAYMENT' &&
    ENDED.includes(text(write.before, 'status')) &&
    isChanged(write, 'status'),
  ...Object.fromEntries(
    SET_ONCE.map((name) => [`changes its ${name}`, (write: Write) => isRewritten(write, name)]),
  ),
  // An abandoned delivery may be due for its alert.
  'expires although it is due': ({ after }) =>
    after['ttl'] !== undefined && ![undefined, 'alert'].includes(after['work'] as never),
}

const OVERLAP_MS = 2 * 60_000

/** The rounds of the sync pass nothing over. */
const headRules: Rules = {
  'moves without counting one round up': (write) =>
    isChanged(write, 'position') &&
    amount(write.after, 'round') !== amount(write.before, 'round') + 1,
  'goes back': ({ before, after }) => text(after, 'position') < text(before, 'position'),
  'passes a time that no process has read and no slice covers': (write) =>
    isChanged(write, 'round') && !isCovered(write),
  'passes a time in which rows may still appear': (write) =>
    isRewritten(write, 'position') &&
    ms(write.after, 'position') > write.nowMs - OVERLAP_MS + APART_MS,
}

/** More than machines' clocks differ. */
const SKEW_MS = 60_000
/** What may be deleted 90 days after it was stored; an attempt 90 days after it was made. */
const FORGOTTEN = /^(DELIVERY|EVENT|TEST)#/

/**
 * Errors that no fault of the world causes: an unreadable row or answer, a broken invariant, an
 * invalid request.
 */
const UNFORESEEN = ['ValiError', 'InvariantError', 'ValidationException', 'OutsideModel']

const WATCHERS: readonly ((world: World, endpoints: States) => void)[] = [
  watchReadSpans,
  watchAnnouncements,
  watchLanes,
  watchTransitions,
  watchPayments,
  watchAttempts,
  watchClaimedAlerts,
  watchSuspense,
  watchErrors,
]

/**
 * Checks what neither one write's condition nor the recount after it can see: the order of writes,
 * calls and time. What a condition guards has a test in which the condition refuses.
 */
export function watchRows(world: World) {
  const endpoints = watchStates(world, /^ENDPOINTS#/, 'endpoint_id')
  for (const watch of WATCHERS) watch(world, endpoints)
}

/**
 * Checked at every write: what is final stays, the sync's head moves in order, nothing is deleted
 * too early.
 */
function watchTransitions(world: World) {
  const storedMs = new Map<string, number>()
  watchRules(world, ({ pk }) => ({ ...rowRules, ...(pk === 'SYNC#head' && headRules) }))
  world.onChange.push(({ key, before, after }) => {
    const [name, nowMs] = [`${key.pk} ${key.sk}`, world.scheduler.nowMs()]
    if (before === undefined) return void storedMs.set(name, storedMs.get(name) ?? nowMs)
    // Counters and jobs expire sooner, and operators delete endpoints.
    if (after !== undefined || /^(RATE|QUOTA|SYNC)#/.test(name) || key.sk.startsWith('ENDPOINT#'))
      return
    const sinceMs = key.sk.startsWith('ATTEMPT#') ? ms(before, 'at') : (storedMs.get(name) ?? 0)
    const mayGo = FORGOTTEN.test(key.pk) || before['status'] === 'creating'
    if (mayGo && nowMs - sinceMs > 90 * DAY_MS - SKEW_MS)
      count(world.tally, `deleted after retention: ${key.sk.split('#')[0]}`)
    else world.problems.push(`${name} was deleted`)
  })
}

/**
 * Checked at every write to suspense: an item leaves the due work only after the operators had its
 * alert.
 */
function watchSuspense(world: World) {
  /**
   * By item: how often an alert was due, and how many alerts there had been when the item was
   * opened last.
   */
  const owed = new Map<string, number>()
  const openedAt = new Map<string, number>()
  const alertsAbout = (id: string, since = 0) =>
    world.alerts
      .slice(since)
      .filter(({ kind, subject }) => kind.startsWith('suspense.') && subject === id).length

  onWrite(world, / SUSPENSE$/, ({ before, after, isNew }) => {
    const id = text(after, 'suspense_id')
    const [wasDue, isDue] = [before, after].map(({ work }) => work === 'alert')
    if (!wasDue && isDue) owed.set(id, (owed.get(id) ?? 0) + 1)
    if (isNew || (before['work'] === undefined && after['work'] !== undefined))
      openedAt.set(id, world.alerts.length)
    const isAlerted =
      alertsAbout(id, openedAt.get(id)) > 0 && alertsAbout(id) >= (owed.get(id) ?? 0)
    // Whoever closes a case has seen it.
    const isClosed = after['kind'] === 'case' && before['status'] !== after['status']
    if (isClosed && !isDue) owed.set(id, alertsAbout(id))
    else if (wasDue && !isDue && !isAlerted)
      world.problems.push(`${id} leaves the due work before its alert`)
  })
}

/**
 * Checked at every logged error: a fault of the world explains it, and no process fails by an error
 * of another one.
 */
function watchErrors(world: World) {
  const metBy = new WeakMap<Error, Process>()

  world.onError.push((process, error) => {
    const { name } = process
    for (const one of error instanceof AggregateError ? error.errors : [error]) {
      if (!(one instanceof Error)) continue
      if (isUnforeseen(one))
        world.problems.push(`${name} cannot read or do what it met: ${one.message}`)
      if ((metBy.get(one) ?? process) !== process)
        world.problems.push(
          `${name} fails by an error that another process met before: ${one.message}`,
        )
      metBy.set(one, process)
    }
  })
}

function isUnforeseen(error: Error) {
  return (
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    UNFORESEEN.includes(error.name) ||
    error.message.startsWith('InvalidParameter')
  )
}

type Span = { readonly fromMs: number; readonly toMs: number }

/** Spans that were read to their last row, in one page. A late write has no process. */
const readSpans = new WeakMap<World, Span[]>()

function watchReadSpans(world: World) {
  world.onAnswered.push((_, { query, outcome }) => {
    const from = query.get('updated[gte]')
    const isAll = outcome.kind === 'answered' && Object(outcome.json).has_more === false
    if (from === null || query.has('after_id') || !isAll) return
    const span = { fromMs: Date.parse(from), toMs: Date.parse(query.get('updated[lte]') ?? '') }
    readSpans.set(world, [...(readSpans.get(world) ?? []), span])
  })
}

/** Whether the head moved over time that is read or in a slice, without a gap. */
function isCovered({ world, written, before, after }: Write) {
  const slices = written.flatMap(({ before: old, after: slice }) =>
    old === undefined && slice?.['kind'] === 'head'
      ? [{ fromMs: ms(slice, 'from'), toMs: ms(slice, 'to') }]
      : [],
  )
  const spans = [...slices, ...(readSpans.get(world) ?? [])]
  const toMs = ms(after, 'position')
  let untilMs = before['position'] === undefined ? toMs : ms(before, 'position')
  for (const span of spans.toSorted((one, other) => one.fromMs - other.fromMs))
    if (span.fromMs <= untilMs) untilMs = Math.max(untilMs, span.toMs)
  return untilMs >= toMs
}
