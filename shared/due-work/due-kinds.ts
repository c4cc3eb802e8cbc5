import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { DeliveryIdSchema } from '../ids.ts'
import { isFresh } from '../memory.ts'
import {
  callsOfCheck,
  checkDuePayment,
  isLateUsualCheck,
  skipUsualCheck,
} from '../payment/news/check-due-payment.ts'
import type { ProviderOperation } from '../provider/provider.ts'
import {
  callsPerMinute,
  notePause,
  pausesOf,
  quotaWindow,
  takeCalls,
} from '../provider/quota-store.ts'
import { checkSuspenseAlert } from '../suspense/record-suspense.ts'
import type { Item } from '../table/attributes.ts'
import { idOf, rowKeysOf } from '../table/keys.ts'
import { WORK_SLOTS } from '../table/schema.ts'
import { addMs, MINUTE_MS } from '../time.ts'
import { checkAbandonedDelivery } from '../webhook/delivery/alert-abandoned.ts'
import { checkOverdueDelivery } from '../webhook/delivery/check-overdue-delivery.ts'
import { DeliverySchema } from '../webhook/delivery/delivery.ts'
import type { Admission, Decision, DueKind } from './drain-slot.ts'

/** How long an environment remembers that the quota lacked calls. */
const SHORTAGE_MS = 2 * MINUTE_MS

/** Payments whose check or expiry is due, or whose news was not asked for yet. */
export const DUE_PAYMENTS: DueKind = {
  work: 'payment',
  // A scarce quota is divided among the slots, so that each slot gets a share in every window.
  batchSize: ({ stage, now }) => {
    const { limit } = quotaWindow(callsPerMinute(stage, now()), now())
    return Math.min(16, Math.max(1, Math.floor(limit / WORK_SLOTS.payment)))
  },
  read: (deps, rows) => deps.table.getMany(rowKeysOf('PAYMENT', rows)),
  admit,
  check: async (deps, { item }, decision) => {
    const result = await (decision === 'skip'
      ? skipUsualCheck(deps, item)
      : checkDuePayment(deps, item))
    // The first refusal stops all workers until the time that the provider named.
    if (result === 'rate_limited')
      await notePause(deps, ['cancelRequest', 'getRequest', 'getPayment'])
    return result === 'checked'
  },
}

/** Deliveries whose message was lost. */
export const DUE_DELIVERIES: DueKind = {
  work: 'delivery',
  batchSize: () => 8,
  read: (deps, rows) =>
    deps.table.getMany([...rowKeysOf('DELIVERY', rows), ...rowKeysOf('TEST', rows)]),
  check: (deps, { item }) => checkOverdueDelivery(deps, v.parse(DeliverySchema, item)),
}

/** Alerts that have not reached the operators. */
export const DUE_ALERTS: DueKind = {
  work: 'alert',
  batchSize: () => 4,
  read: (deps, rows) =>
    deps.table.getMany([
      ...rowKeysOf('SUSPENSE', rows),
      ...rowKeysOf('DELIVERY', rows),
      ...rowKeysOf('TEST', rows),
    ]),
  // The key says which kind of alert is due, and about what.
  check: (deps, due) =>
    due.sk === 'SUSPENSE'
      ? checkSuspenseAlert(deps, { suspenseId: idOf(due.pk), dueAt: due.dueAt })
      : checkAbandonedDelivery(deps, v.parse(DeliveryIdSchema, idOf(due.pk))),
}

async function admit(deps: Deps, items: readonly Item[]): Promise<Admission> {
  const now = deps.now()
  const { callsAreShort = { from: now, until: now } } = deps.memory
  const isShortNow = isFresh(callsAreShort, now)
  // An early check that is late is skipped while calls are short.
  const skipped = items.map((item) => isShortNow && isLateUsualCheck(item, now))
  const most = Math.max(1, quotaWindow(callsPerMinute(deps.stage, now), now).limit)
  const neededCalls = items.map((item, at) => (skipped[at] ? [] : callsOfCheck(item, now, most)))
  const pauses = await pausesOf(deps, new Set(neededCalls.flat()))
  const isPaused = (calls: readonly ProviderOperation[]) => calls.some((one) => pauses.has(one))
  const counts = new Map<ProviderOperation, number>()
  // A paused item takes no calls of its other operations.
  for (const operation of neededCalls.filter((calls) => !isPaused(calls)).flat())
    counts.set(operation, (counts.get(operation) ?? 0) + 1)
  const { granted, retryAt = [...pauses.values()].toSorted()[0] } = await takeCalls(deps, counts)
  const isShort = (granted.get('getRequest') ?? 0) < (counts.get('getRequest') ?? 0)
  if (isShort) deps.memory.callsAreShort = { from: now, until: addMs(deps.now(), SHORTAGE_MS) }
  let callsLeft = granted
  const decisions = neededCalls.map((calls, at): Decision => {
    if (skipped[at]) return 'skip'
    if (isPaused(calls)) return 'pause'
    const left = new Map(callsLeft)
    for (const operation of calls) left.set(operation, (left.get(operation) ?? 0) - 1)
    if (left.values().some((count) => count < 0)) return 'wait'
    callsLeft = left
    return 'check'
  })
  return { decisions, retryAt }
}
