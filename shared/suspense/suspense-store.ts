import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { type Minor } from '../money.ts'
import type { Page } from '../page.ts'
import type { Item } from '../table/attributes.ts'
import { foundKey, suspenseKey } from '../table/keys.ts'
import { listItems, queryPages } from '../table/list-items.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import {
  absent,
  all,
  type Condition,
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
import { addMs, END_OF_TIME, MINUTE_MS, type Timestamp } from '../time.ts'
import { owedOf, type Suspense, SuspenseSchema } from './suspense.ts'

/** How long due work leaves an alert to the writer of the item, and waits between its own tries. */
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

/** The item as a step of a transaction. A known item refuses the step; its first writer alerts. */
export const newSuspense = (item: Suspense): Step => put(suspenseKey(item.suspenseId), itemOf(item), isNew)

/**
 * The item as a step that keeps a known item and never refuses. It makes a published alert due again, so use it only
 * for items that no other transition can record.
 */
export const ensureSuspense = (item: Suspense): Step =>
  update(suspenseKey(item.suspenseId), { setIfAbsent: itemOf(item) })

/** Writes the item unless it is known, so repeated news makes one item. */
export const putSuspense = (deps: TableDeps, item: Suspense) => deps.table.write(newSuspense(item))

export const findSuspense = async (deps: TableDeps, suspenseId: string): Promise<Suspense | undefined> => {
  const item = await deps.table.get(suspenseKey(suspenseId))
  return item && v.parse(SuspenseSchema, item)
}

const parsed = (items: readonly (Item | undefined)[]): readonly Suspense[] =>
  items.flatMap((item) => (item ? [v.parse(SuspenseSchema, item)] : []))

const itemsIn = async (deps: TableDeps, rows: readonly Item[]): Promise<readonly Suspense[]> =>
  parsed(await deps.table.getMany(rows.map((row) => foundKey('SUSPENSE', row))))

/** Claims an alert by moving its due time. Undefined: it is published, or another worker has claimed it. */
export const claimSuspenseAlert = async (
  deps: TableDeps,
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

/** Removes a published alert from due work. Refused if another worker has done so. */
export const endSuspenseAlert = (deps: TableDeps, suspenseId: string) =>
  deps.table.write(update(suspenseKey(suspenseId), { remove: DUE_WORK_FIELDS }, equals('work', 'alert')))

/** The item's status and amounts are unchanged. */
const asRead = ({ status, postedMinor, refundedMinor }: Suspense): Condition =>
  all(equals('status', status), unchanged('postedMinor', postedMinor), unchanged('refundedMinor', refundedMinor))

/** `open` -> `resolved`, once. Refused if the item has changed after the read. */
export const resolveStep = (open: Suspense, { resolution, notes }: Pick<Suspense, 'resolution' | 'notes'>): Step =>
  update(suspenseKey(open.suspenseId), { set: { status: 'resolved', resolution, notes } }, asRead(open))

/** Records once the amount that the house journal holds for the item. */
export const notePosted = (item: Suspense, postedMinor: Minor): Step =>
  update(
    suspenseKey(item.suspenseId),
    { set: { postedMinor } },
    all(equals('kind', 'money'), absent('postedMinor'), asRead(item)),
  )

/** Records the amount that the provider refunded; `open` -> `resolved` if nothing is left. */
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

/** Yields all open items, page by page. */
export const openSuspensePages = async function* (deps: TableDeps): AsyncGenerator<readonly Suspense[]> {
  const partition = [GATEWAY_OWNER, 'suspense', 'open']
  for await (const rows of queryPages(deps, { index: 'by-status', partition, limit: PAGE })) {
    yield (await itemsIn(deps, rows)).filter(({ status }) => status === 'open')
  }
}

/** The limit of one batch read. */
const PAGE = 100

/** The maximum number of items that one call reads. */
const MAX_LOOKED_AT = 5_000

type About = {
  readonly status?: Suspense['status'] | undefined
  readonly clientId?: string | undefined
  readonly paymentIds?: readonly string[] | undefined
  /** Excludes older items, because an item is newer than its payment. */
  readonly since?: Timestamp | undefined
}

/** Items of a client or of some payments, newest first. `complete`: all items were read. */
export const suspenseAbout = async (
  deps: TableDeps,
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
    if (lookedAt >= MAX_LOOKED_AT) return { items, complete: false }
    const matches = (item: Suspense) =>
      (status === undefined || item.status === status) &&
      (clientId === undefined || item.clientId === clientId) &&
      (paymentIds === undefined || paymentIds.includes(item.paymentId ?? ''))
    items.push(...(await itemsIn(deps, rows)).filter(matches))
    lookedAt += rows.length
  }
  return { items, complete: true }
}

/** A page of all items, or of those with a status, newest first. */
export const listSuspense = async (
  deps: TableDeps,
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
