import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type Minor } from '../money.ts'
import type { Page } from '../page.ts'
import { absent, all, type Condition, equals, isNew, unchanged } from '../table/condition.ts'
import { DUE_WORK_FIELDS, dueWork } from '../table/due-work.ts'
import { foundKey, suspenseKey } from '../table/keys.ts'
import { listItems } from '../table/list-items.ts'
import { queryPages } from '../table/query-pages.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { put, type Step, update } from '../table/step.ts'
import { UPSTREAM } from '../table/upstream.ts'
import { addMs, END_OF_TIME, MINUTE_MS, type Timestamp } from '../time.ts'
import { owedOf, type Suspense, SuspenseSchema } from './suspense.ts'

/** How long due work leaves an alert to whoever wrote the item, and waits between its own tries. */
export const ALERT_GRACE_MS = MINUTE_MS

const itemOf = (item: Suspense) => ({
  ...item,
  provider: UPSTREAM,
  owner: GATEWAY_OWNER,
  entity: 'suspense',
  listedAt: item.createdAt,
  id: item.suspenseId,
  ...dueWork('alert', item.suspenseId, addMs(item.createdAt, ALERT_GRACE_MS)),
})

/** The item as a step of a transaction, which is refused there when it is known already, and told by whoever knew it. */
export const newSuspense = (item: Suspense): Step => put(suspenseKey(item.suspenseId), itemOf(item), isNew)

/**
 * The same, where one that is there already stays as it is and refuses nothing. One that has been told is told again: only
 * for what no other transition can have found.
 */
export const ensureSuspense = (item: Suspense): Step =>
  update(suspenseKey(item.suspenseId), { setIfAbsent: itemOf(item) })

/** Writes the item unless it is known: one item per provider payment, however often its news arrives. */
export const putSuspense = (deps: Pick<Deps, 'table'>, item: Suspense) => deps.table.write(newSuspense(item))

export const findSuspense = async (deps: Pick<Deps, 'table'>, suspenseId: string): Promise<Suspense | undefined> => {
  const item = await deps.table.get(suspenseKey(suspenseId))
  return item && v.parse(SuspenseSchema, item)
}

/** Any number of items, as they are now; those that are not there are left out. */
export const findAllSuspense = async (
  deps: Pick<Deps, 'table'>,
  ids: readonly string[],
): Promise<readonly Suspense[]> => {
  const items = await deps.table.getMany(ids.map(suspenseKey))
  return items.flatMap((item) => (item ? [v.parse(SuspenseSchema, item)] : []))
}

/** Moves an alert's due time forward. Undefined: it has been published, or somebody else has claimed it. */
export const claimSuspenseAlert = async (
  deps: Pick<Deps, 'table'>,
  { suspenseId, dueAt }: { readonly suspenseId: string; readonly dueAt: Timestamp },
  until: Timestamp,
): Promise<Suspense | undefined> => {
  const claim = update(
    suspenseKey(suspenseId),
    { set: { dueAt: until } },
    all(equals('work', 'alert'), equals('dueAt', dueAt)),
  )
  const { applied, item } = await deps.table.write(claim)
  return applied ? v.parse(SuspenseSchema, item) : undefined
}

/** The operators have been told: the item is no longer due. Refused when somebody else has noted it already. */
export const endSuspenseAlert = (deps: Pick<Deps, 'table'>, suspenseId: string) =>
  deps.table.write(update(suspenseKey(suspenseId), { remove: DUE_WORK_FIELDS }, equals('work', 'alert')))

/** It is as it was read: open or resolved, with the same held of it. */
const asRead = ({ status, postedMinor, refundedMinor }: Suspense): Condition =>
  all(equals('status', status), unchanged('postedMinor', postedMinor), unchanged('refundedMinor', refundedMinor))

/** `open` -> `resolved`, once. Refused when something of it has changed since it was read. */
export const resolveStep = (open: Suspense, { resolution, notes }: Pick<Suspense, 'resolution' | 'notes'>): Step =>
  update(suspenseKey(open.suspenseId), { set: { status: 'resolved', resolution, notes } }, asRead(open))

/** Notes what the house journal holds for it, once. */
export const notePosted = (item: Suspense, postedMinor: Minor): Step =>
  update(
    suspenseKey(item.suspenseId),
    { set: { postedMinor } },
    all(equals('kind', 'money'), absent('postedMinor'), asRead(item)),
  )

/** Notes what the provider itself gave back. Nothing is left: `open` -> `resolved`. */
export const noteRefunded = (item: Suspense, refundedMinor: Minor): Step =>
  update(
    suspenseKey(item.suspenseId),
    {
      set: {
        refundedMinor,
        ...(owedOf({ ...item, refundedMinor }) <= 0 && { status: 'resolved', resolution: 'refunded' }),
      },
    },
    asRead(item),
  )

/** Every open item, page by page. */
export const openSuspensePages = async function* (deps: Pick<Deps, 'table'>): AsyncGenerator<readonly Suspense[]> {
  const partition = [GATEWAY_OWNER, 'suspense', 'open']
  for await (const rows of queryPages(deps, { index: 'by-status', partition, limit: PAGE })) {
    const items = await deps.table.getMany(rows.map((row) => foundKey('SUSPENSE', row)))
    const found = items.flatMap((item) => (item ? [v.parse(SuspenseSchema, item)] : []))
    yield found.filter(({ status }) => status === 'open')
  }
}

/** What one batch read takes. */
const PAGE = 100

/** So many items one look goes through. */
const MOST_LOOKED_AT = 5_000

type About = {
  readonly status?: Suspense['status'] | undefined
  readonly clientId?: string | undefined
  readonly paymentIds?: readonly string[] | undefined
  /** None of them is older: an item comes after its payment. */
  readonly since?: Timestamp | undefined
}

/** Items about a client or about some payments, newest first; `complete` says if all were looked at. */
export const suspenseAbout = async (
  deps: Pick<Deps, 'table'>,
  { status, clientId, paymentIds, since }: About,
): Promise<{ readonly items: readonly Suspense[]; readonly complete: boolean }> => {
  const items: Suspense[] = []
  let lookedAt = 0
  for await (const rows of queryPages(deps, {
    index: 'by-owner',
    partition: [GATEWAY_OWNER, 'suspense'],
    ...(since !== undefined && { range: { between: [since, END_OF_TIME] } }),
    newestFirst: true,
    limit: PAGE,
  })) {
    if (lookedAt >= MOST_LOOKED_AT) return { items, complete: false }
    const found = await deps.table.getMany(rows.map((row) => foundKey('SUSPENSE', row)))
    for (const item of found.flatMap((row) => (row ? [v.parse(SuspenseSchema, row)] : []))) {
      const isAsked =
        (status === undefined || item.status === status) &&
        (clientId === undefined || item.clientId === clientId) &&
        (paymentIds === undefined || paymentIds.includes(item.paymentId ?? ''))
      if (isAsked) items.push(item)
    }
    lookedAt += rows.length
  }
  return { items, complete: true }
}

/** All items, or those of a status, newest first. */
export const listSuspense = async (
  deps: Pick<Deps, 'table'>,
  status: Suspense['status'] | undefined,
  page: Page,
): Promise<readonly Suspense[]> => {
  const partition = [GATEWAY_OWNER, 'suspense']
  const items = await listItems(deps, {
    kind: 'SUSPENSE',
    ...(status === undefined
      ? { index: 'by-owner', partition }
      : { index: 'by-status', partition: [...partition, status] }),
    page,
  })
  return items.map((item) => v.parse(SuspenseSchema, item))
}
