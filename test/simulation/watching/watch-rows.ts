import { text } from '../../support/recount/books.ts'
import type { Process } from '../world/process.ts'
import { DAY_MS, isChanged, ms, type Rules, rewrites, type States, watchRules, watchStates } from '../world/rules.ts'
import { count, type World } from '../world/world.ts'
import { watchAnnouncements } from './watch-announcements.ts'
import { watchAttempts } from './watch-attempts.ts'
import { watchClaimedAlerts } from './watch-endpoints.ts'
import { watchHead } from './watch-head.ts'
import { watchLanes } from './watch-lanes.ts'
import { watchParts } from './watch-parts.ts'
import { watchPayments } from './watch-payments.ts'
import { watchProviderRows } from './watch-provider-rows.ts'
import { watchSuspense } from './watch-suspense.ts'

const ENDED = ['succeeded', 'failed', 'expired', 'cancelled']

/** More than machines' clocks differ. */
const SKEW_MS = 60_000
/** What may be deleted 90 days after it was stored; an attempt 90 days after it was made. */
const FORGOTTEN = /^(DELIVERY$|ATTEMPT#|EVENT#)/

const ofEveryRow: Rules = {
  'leaves a terminal status': (write) =>
    write.key.sk === 'PAYMENT' && ENDED.includes(text(write.before, 'status')) && isChanged(write, 'status'),
  'changes the bytes of its event': rewrites('body'),
  'is credited twice': rewrites('credited_provider_payment_id'),
  'changes its destination': rewrites('payment_destination'),
  'changes when its cancel was requested, or its expiry began': rewrites('cancel_requested_at expiry_started_at'),
  // An abandoned delivery may be due for its alert.
  'expires although it is due': ({ after }) =>
    after['ttl'] !== undefined && ![undefined, 'alert'].includes(after['work'] as never),
}

/** Checked at every write: terminal statuses and announced bytes stay, and nothing is deleted too early. */
const watchTransitions = (world: World): void => {
  const storedMs = new Map<string, number>()
  watchRules(world, () => ofEveryRow)
  world.onChange.push(({ key, before, after }) => {
    const [name, nowMs] = [`${key.pk} ${key.sk}`, world.scheduler.nowMs()]
    if (before === undefined) return void storedMs.set(name, storedMs.get(name) ?? nowMs)
    // Counters and jobs expire sooner, and operators delete endpoints.
    if (after !== undefined || /^(RATE|QUOTA|SYNC)#/.test(name) || key.sk.startsWith('ENDPOINT#')) return
    const sinceMs = key.sk.startsWith('ATTEMPT#') ? ms(before, 'at') : (storedMs.get(name) ?? 0)
    const mayGo = FORGOTTEN.test(key.sk) || before['status'] === 'creating'
    if (mayGo && nowMs - sinceMs > 90 * DAY_MS - SKEW_MS)
      count(world.tally, `deleted after retention: ${key.sk.split('#')[0]}`)
    else world.problems.push(`${name} was deleted`)
  })
}

/** Errors that no fault of the world causes: an unreadable row or answer, a broken invariant, an invalid request. */
const UNFORESEEN = ['ValiError', 'InvariantError', 'ValidationException', 'OutsideModel']

const isUnforeseen = (error: unknown): error is Error =>
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof ReferenceError ||
  (error instanceof Error && (UNFORESEEN.includes(error.name) || error.message.startsWith('InvalidParameter')))

const partsOf = (error: unknown): readonly unknown[] => (error instanceof AggregateError ? error.errors : [error])

/** Checked at every logged error: a fault of the world explains it, and no process fails by an error of another one. */
const watchErrors = (world: World): void => {
  const metBy = new WeakMap<Error, Process>()

  world.onError.push((process, error) => {
    const { name } = process
    for (const one of partsOf(error)) {
      if (isUnforeseen(one)) world.problems.push(`${name} cannot read or do what it met: ${one.message}`)
      if (!(one instanceof Error)) continue
      if ((metBy.get(one) ?? process) !== process)
        world.problems.push(`${name} fails by an error that another process met before: ${one.message}`)
      metBy.set(one, process)
    }
  })
}

const WATCHERS: readonly ((world: World, endpoints: States) => void)[] = [
  watchAnnouncements,
  watchLanes,
  watchTransitions,
  watchPayments,
  watchAttempts,
  watchClaimedAlerts,
  watchProviderRows,
  watchSuspense,
  watchHead,
  watchParts,
  watchErrors,
]

/**
 * Checks what neither one write's condition nor the recount after it can see: the order of writes, calls and time. What a
 * condition guards has a test in which the condition refuses.
 */
export const watchRows = (world: World): void => {
  const endpoints = watchStates(world, /^ENDPOINTS#/, 'endpoint_id')
  for (const watch of WATCHERS) watch(world, endpoints)
}
