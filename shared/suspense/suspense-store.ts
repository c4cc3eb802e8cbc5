import * as v from 'valibot'
import type { StoreDeps, TableDeps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { MOVEMENT_TYPES } from '../journal/payment-money.ts'
import { notedKey, notedPk, suspenseKey } from '../table/keys.ts'
import { queryAll, queryPages } from '../table/list-items.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import {
  all,
  DUE_WORK_FIELDS,
  dueWork,
  equals,
  guard,
  isNew,
  put,
  type Step,
  unchanged,
  update,
} from '../table/step.ts'
import type { Steps } from '../table/table.ts'
import { UPSTREAM } from '../table/upstream.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../time.ts'
import { MOVED_CAUSES, type Noted, NotedSchema, type Suspense, SuspenseSchema } from './suspense.ts'

/**
 * How long due work waits for the item's writer to publish the alert, and between its own attempts.
 */
const ALERT_GRACE_MS = MINUTE_MS

/** What the provider's rows change of held money. */
type BookedField = 'providerMinor' | 'refundedMinor' | 'isVoid'
/** A new item has no such fields: the grants follow the types of steps. */
type NewSuspense = Omit<Suspense, BookedField | 'notes'>

/** `suspense` is refused if the item exists, because its first writer alerts the operators. */
export function putSuspense(item: Suspense) {
  return {
    suspense: put(suspenseKey(item.suspenseId), suspenseRow(dueForAlert(item)), isNew),
    noted: noteSuspense(item),
  }
}

/**
 * Writes what never changes of an item beside it (design section 3), so that the audit finds a lost
 * or changed item. Never refuses.
 */
export function noteSuspense(item: Noted): Step {
  return update(notedKey(item), { setIfAbsent: v.parse(NotedSchema, item) })
}

/** The item's alert is due until it is published. */
export function dueForAlert<Item extends NewSuspense>(item: Item) {
  return { ...item, dueAt: addMs(item.createdAt, ALERT_GRACE_MS) }
}

export function suspenseRow<Item extends NewSuspense & { readonly dueAt?: Timestamp | undefined }>(
  item: Item,
) {
  const { suspenseId: id, createdAt, dueAt } = item
  return {
    ...item,
    provider: UPSTREAM,
    owner: GATEWAY_OWNER,
    entity: 'suspense',
    listedAt: createdAt,
    id,
    ...(dueAt !== undefined && dueWork('alert', id, dueAt)),
  }
}

/**
 * Writes the item unless it exists, and never refuses. A second call would repeat a published
 * alert, so only one transition may record such an item.
 */
export function ensureSuspense(item: NewSuspense): Steps<string> {
  const { suspenseId: id } = item
  return {
    [`suspense ${id}`]: update(suspenseKey(id), { setIfAbsent: suspenseRow(dueForAlert(item)) }),
    [`noted ${id}`]: noteSuspense(item),
  }
}

/** The steps of these items, refused if the item exists. */
export function onlyIfNew(
  steps: Steps<string>,
  items: readonly Pick<Suspense, 'suspenseId'>[],
): Steps<string> {
  const names = items.map(({ suspenseId }) => `suspense ${suspenseId}`)
  return Object.fromEntries(
    names.flatMap((name) => {
      const step = steps[name]
      return step?.kind === 'update' ? [[name, { ...step, condition: isNew }]] : []
    }),
  )
}

/** The findings that a row may have written with its movement of a payment. */
export function movementFindingIds(transactionId: string): readonly string[] {
  return MOVEMENT_TYPES.flatMap((type) =>
    MOVED_CAUSES.map((cause) => `${transactionId}#${type}#${cause}`),
  )
}

/** Refused when the row has moved a payment. */
export function requireUnmoved(transactionId: string): Steps<string> {
  return Object.fromEntries(
    movementFindingIds(transactionId).map((id) => [`moved ${id}`, guard(suspenseKey(id), isNew)]),
  )
}

/** Refused when the money was given back after the read. */
export function requireOpen(suspenseId: string): Step {
  return guard(suspenseKey(suspenseId), equals('status', 'open'))
}

/** Writes the item unless it exists, so repeated news makes one item. */
export function writeSuspense(deps: TableDeps, item: Suspense) {
  return deps.table.transact(putSuspense(item))
}

/** The register of a client's suspense, or of suspense without a client. */
export function notedItems(deps: TableDeps, clientId: string | undefined) {
  return queryAll(deps, { partition: [notedPk(clientId)], limit: 500 })
}

/**
 * The readable rows of a client's register of suspense, page by page: the register also has each
 * booked movement.
 */
export async function* notedPages(deps: TableDeps, clientId: ClientId) {
  const register = { partition: [notedPk(clientId)], limit: 1_000 }
  for await (const { items } of queryPages(deps, register))
    yield items.flatMap((item) => ifValid(NotedSchema, item) ?? [])
}

/** The key alone says which item the row is: bookings go to no other item. */
export async function findSuspense(deps: TableDeps, suspenseId: string) {
  const item = await deps.table.get(suspenseKey(suspenseId))
  return item && { ...v.parse(SuspenseSchema, item), suspenseId }
}

export async function findSuspenseByIds(deps: TableDeps, ids: readonly string[]) {
  const items = await deps.table.getMany(ids.map(suspenseKey), 'eventual')
  const read = items.map((item) => ifValid(SuspenseSchema, item))
  return read.flatMap((item, at) => (item ? { ...item, suspenseId: ids[at] ?? '' } : []))
}

/**
 * Claims an alert by moving its due time. Undefined: it is published, or another worker has claimed
 * it.
 */
export async function claimSuspenseAlert(
  deps: StoreDeps,
  { suspenseId, dueAt }: { readonly suspenseId: string; readonly dueAt: Timestamp },
): Promise<DueItem | undefined> {
  const isDue = all(equals('work', 'alert'), equals('dueAt', dueAt))
  const set = { dueAt: addMs(deps.now(), ALERT_GRACE_MS) }
  const { applied, item } = await deps.table.write(update(suspenseKey(suspenseId), { set }, isDue))
  return applied ? { ...v.parse(SuspenseSchema, item), suspenseId, ...set } : undefined
}

/** Its alert is to be sent. `dueAt`: if the alert is claimed. */
export type DueItem = Suspense & { readonly dueAt?: Timestamp }

/**
 * The alert is published, and is due at its next time, or no more. Refused if the item has changed
 * after the read: news of a dispute, or a void refund, has set the time of the next alert.
 */
export function setNextAlert(deps: TableDeps, item: DueItem, dueAt: Timestamp | undefined) {
  const isClaimed = item.dueAt ? [equals('dueAt', item.dueAt)] : []
  const isDue = all(equals('work', 'alert'), isSameNews(item), ...isClaimed)
  const change = dueAt === undefined ? { remove: DUE_WORK_FIELDS } : { set: { dueAt } }
  return deps.table.write(update(suspenseKey(item.suspenseId), change, isDue))
}

export type BookedChange = Partial<Pick<Suspense, BookedField | 'status' | 'resolution'>> & {
  /** When the alert of an item that is open again is due. */
  readonly dueAt?: Timestamp
}

/** Refused if the item has changed after the read. */
export function bookOnSuspense(item: Suspense, { dueAt, ...booked }: BookedChange): Step {
  const set = { ...booked, ...(dueAt && dueWork('alert', item.suspenseId, dueAt)) }
  // An item that is open again has no resolution.
  const remove = set.status === 'open' ? (['resolution'] as const) : []
  return update(suspenseKey(item.suspenseId), { set, remove }, isAsRead(item))
}

function isAsRead({ status, providerMinor, refundedMinor, isVoid }: Suspense) {
  return all(
    equals('status', status),
    unchanged('providerMinor', providerMinor),
    unchanged('refundedMinor', refundedMinor),
    unchanged('isVoid', isVoid),
  )
}

/** Refused like `bookOnSuspense` and `changeCase`. A closed case has no further alert. */
export function closeSuspense(
  item: Suspense,
  set: Pick<Suspense, 'status' | 'resolution' | 'notes'>,
): Step {
  const remove = item.kind === 'case' ? DUE_WORK_FIELDS : []
  const isUnchanged = all(isAsRead(item), isSameNews(item))
  return update(suspenseKey(item.suspenseId), { set, remove }, isUnchanged)
}

/**
 * A case as the provider says it now, with its next alert at `dueAt`. Refused if the case has
 * changed after the read.
 */
export function changeCase(item: Suspense, after: Suspense, dueAt: Timestamp | undefined): Step {
  const { suspenseId: id } = item
  const { state, saidAt, answerBy, status, resolution } = after
  const set = { state, saidAt, answerBy, status, resolution }
  // A case that is open again has no resolution.
  const ended = resolution === undefined ? (['resolution'] as const) : []
  const changes =
    dueAt === undefined
      ? { set, remove: [...DUE_WORK_FIELDS, ...ended] }
      : { set: { ...set, ...dueWork('alert', id, dueAt) }, remove: ended }
  return update(suspenseKey(id), changes, isSameNews(item))
}

function isSameNews({ status, state, saidAt, answerBy }: Suspense) {
  return all(
    equals('status', status),
    unchanged('state', state),
    unchanged('saidAt', saidAt),
    unchanged('answerBy', answerBy),
  )
}
