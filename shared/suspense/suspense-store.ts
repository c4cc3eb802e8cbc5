import * as v from 'valibot'
import type { StoreDeps, TableDeps } from '../deps.ts'
import { suspenseKey } from '../table/keys.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import {
  all,
  DUE_WORK_FIELDS,
  dueWork,
  equals,
  isNew,
  put,
  type Step,
  unchanged,
  update,
} from '../table/step.ts'
import { UPSTREAM } from '../table/upstream.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../time.ts'
import { type Suspense, SuspenseSchema } from './suspense.ts'

/**
 * How long due work waits for the item's writer to publish the alert, and between its own attempts.
 */
const ALERT_GRACE_MS = MINUTE_MS

/** What the provider's rows change of held money. */
type BookedField = 'postedMinor' | 'providerMinor' | 'refundedMinor' | 'isVoid'
type NewSuspense = Omit<Suspense, BookedField | 'notes'>

/** Refused if the item exists, because its first writer alerts the operators. */
export function putSuspense(item: Suspense): Step {
  return put(suspenseKey(item.suspenseId), itemOf(item), isNew)
}

function itemOf(item: NewSuspense) {
  return {
    ...item,
    provider: UPSTREAM,
    owner: GATEWAY_OWNER,
    entity: 'suspense',
    listedAt: item.createdAt,
    id: item.suspenseId,
    ...dueWork('alert', item.suspenseId, addMs(item.createdAt, ALERT_GRACE_MS)),
  }
}

/**
 * Writes the item unless it exists, and never refuses. A second call would repeat a published
 * alert, so only one transition may record such an item.
 */
export function ensureSuspense(item: NewSuspense): Step {
  return update(suspenseKey(item.suspenseId), { setIfAbsent: itemOf(item) })
}

/** Writes the item unless it exists, so repeated news makes one item. */
export function writeSuspense(deps: TableDeps, item: Suspense) {
  return deps.table.write(putSuspense(item))
}

export async function findSuspense(
  deps: TableDeps,
  suspenseId: string,
): Promise<Suspense | undefined> {
  return v.parse(v.optional(SuspenseSchema), await deps.table.get(suspenseKey(suspenseId)))
}

/**
 * Claims an alert by moving its due time. Undefined: it is published, or another worker has claimed
 * it.
 */
export async function claimSuspenseAlert(
  deps: StoreDeps,
  { suspenseId, dueAt }: { readonly suspenseId: string; readonly dueAt: Timestamp },
): Promise<Suspense | undefined> {
  const isDue = all(equals('work', 'alert'), equals('dueAt', dueAt))
  const set = { dueAt: addMs(deps.now(), ALERT_GRACE_MS) }
  const { applied, item } = await deps.table.write(update(suspenseKey(suspenseId), { set }, isDue))
  return applied ? v.parse(SuspenseSchema, item) : undefined
}

export function endSuspenseAlert(deps: TableDeps, suspenseId: string) {
  return deps.table.write(
    update(suspenseKey(suspenseId), { remove: DUE_WORK_FIELDS }, equals('work', 'alert')),
  )
}

export type BookedChange = Partial<Pick<Suspense, BookedField | 'status' | 'resolution'>>

/** Refused if the item has changed after the read. */
export function bookOnSuspense(item: Suspense, set: BookedChange): Step {
  return update(suspenseKey(item.suspenseId), { set }, isAsRead(item))
}

function isAsRead({ status, postedMinor, refundedMinor, isVoid }: Suspense) {
  return all(
    equals('status', status),
    unchanged('postedMinor', postedMinor),
    unchanged('refundedMinor', refundedMinor),
    unchanged('isVoid', isVoid),
  )
}

/** Refused like `bookOnSuspense`. */
export function closeSuspense(
  item: Suspense,
  set: Pick<Suspense, 'status' | 'resolution' | 'notes'>,
): Step {
  return update(suspenseKey(item.suspenseId), { set }, isAsRead(item))
}
