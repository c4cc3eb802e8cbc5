import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { DeliveryIdSchema } from '../ids.ts'
import {
  callsOfCheck,
  checkDuePayment,
  isLateLook,
  skipCheck,
} from '../payment/news/check-due-payment.ts'
import type { ProviderOperation } from '../provider/provider.ts'
import { callsPerMinute, notePause, quotaWindow, takeCalls } from '../provider/quota-store.ts'
import { checkSuspenseAlert } from '../suspense/record-suspense.ts'
import type { Item } from '../table/attributes.ts'
import { isSuspenseKey, rowKeyOf } from '../table/keys.ts'
import { WORK_SLOTS } from '../table/schema.ts'
import { addMs, MINUTE_MS } from '../time.ts'
import { checkAbandoned } from '../webhook/delivery/alert-abandoned.ts'
import { checkOverdueDelivery } from '../webhook/delivery/check-overdue-delivery.ts'
import type { Admission, DueKind, Turn } from './drain-slot.ts'

/** How long an environment remembers that calls were short. */
const SHORT_MS = 2 * MINUTE_MS

async function admit(deps: Deps, items: readonly Item[]): Promise<Admission> {
  const now = deps.now()
  const areShort = now < (deps.memory.callsAreShortUntil ?? now)
  // An early check that comes late is skipped while calls are short.
  const skipped = items.map((item) => areShort && isLateLook(item, now))
  const needed = items.map((item, at) => (skipped[at] ? [] : callsOfCheck(item, now)))
  const wanted = new Map<ProviderOperation, number>()
  for (const operation of needed.flat()) wanted.set(operation, (wanted.get(operation) ?? 0) + 1)
  const { granted, retryAt } = await takeCalls(deps, wanted)
  const isShort = (granted.get('getRequest') ?? 0) < (wanted.get('getRequest') ?? 0)
  if (isShort) deps.memory.callsAreShortUntil = addMs(deps.now(), SHORT_MS)
  const room = new Map(granted)
  const turns = needed.map((calls, at): Turn => {
    if (skipped[at]) return 'skip'
    const fits = calls.every((operation) => (room.get(operation) ?? 0) > 0)
    if (fits) for (const operation of calls) room.set(operation, (room.get(operation) ?? 0) - 1)
    return fits ? 'check' : 'later'
  })
  return { turns, retryAt }
}

/** Pending payments whose check time or expiry has come, and news that could not be asked about. */
export const DUE_PAYMENTS: DueKind = {
  work: 'payment',
  // A scarce quota is divided among the slots, so that each gets a share in every window.
  atATime: ({ stage, now }) => {
    const { limit } = quotaWindow(callsPerMinute(stage, now()), now())
    return Math.min(16, Math.max(1, Math.floor(limit / WORK_SLOTS.payment)))
  },
  read: (deps, rows) => deps.table.getMany(rows.map((row) => rowKeyOf('PAYMENT', row))),
  admit,
  check: async (deps, { item }, turn) => {
    const result = await (turn === 'skip' ? skipCheck(deps, item) : checkDuePayment(deps, item))
    // The first refusal stops all workers until the time that the provider named.
    if (result === 'rate_limited')
      await notePause(deps, ['cancelRequest', 'getRequest', 'getPayment'])
    return result === 'checked'
  },
}

/** Deliveries whose message was lost. */
export const DUE_DELIVERIES: DueKind = {
  work: 'delivery',
  atATime: () => 8,
  read: (deps, rows) => deps.table.getMany(rows.map((row) => rowKeyOf('DELIVERY', row))),
  check: (deps, { id }) => checkOverdueDelivery(deps, v.parse(DeliveryIdSchema, id)),
}

/** Alerts that have not reached the operators. */
export const DUE_ALERTS: DueKind = {
  work: 'alert',
  atATime: () => 4,
  read: (deps, rows) =>
    deps.table.getMany(
      rows.map((row) =>
        isSuspenseKey(row) ? rowKeyOf('SUSPENSE', row) : rowKeyOf('DELIVERY', row),
      ),
    ),
  check: (deps, due) =>
    isSuspenseKey(due)
      ? checkSuspenseAlert(deps, { suspenseId: due.id, dueAt: due.dueAt })
      : checkAbandoned(deps, v.parse(DeliveryIdSchema, due.id)),
}
