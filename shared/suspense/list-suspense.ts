import type { ListDeps, TableDeps } from '../deps.ts'
import { readableRows, readRows } from '../if-valid.ts'
import type { Page } from '../page.ts'
import { itemPages, type KeyedItem, listItems } from '../table/list-items.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { END_OF_TIME, type Timestamp } from '../time.ts'
import { type Suspense, SuspenseSchema } from './suspense.ts'

const PAGE = 100
const BY_OWNER = { index: 'by-owner', partition: [GATEWAY_OWNER, 'suspense'] } as const

/** A page of all items, or of the items with a status, newest first. */
export async function listSuspense(
  deps: TableDeps,
  status: Suspense['status'] | undefined,
  page: Page,
) {
  const byStatus = { index: 'by-status', partition: [GATEWAY_OWNER, 'suspense', status] } as const
  const items = await listItems(deps, {
    kind: 'SUSPENSE',
    ...(status === undefined ? BY_OWNER : byStatus),
    page,
  })
  return readRows(SuspenseSchema, items)
}

export async function listOpenSuspense(deps: ListDeps): Promise<readonly Suspense[]> {
  const partition = [GATEWAY_OWNER, 'suspense', 'open']
  const pages = itemPages(deps, { kind: 'SUSPENSE', index: 'by-status', partition, limit: PAGE })
  const items: Suspense[] = []
  for await (const page of pages) items.push(...readableRows(deps, 'suspense', readPage(page)))
  return items.filter(({ status }) => status === 'open')
}

function readPage(page: readonly KeyedItem[]) {
  return readRows(
    SuspenseSchema,
    page.map(({ item }) => item),
  )
}

const MAX_LOOKED_AT = 5_000

type SuspenseFilter = {
  readonly status?: Suspense['status'] | undefined
  readonly kind?: Suspense['kind'] | undefined
  readonly clientId?: string | undefined
  readonly paymentIds?: readonly string[] | undefined
  /** Excludes older items, because an item is newer than its payment. */
  readonly since?: Timestamp | undefined
}

/** Items of a kind, a client or some payments, newest first. */
export async function listSuspenseAbout(deps: TableDeps, filter: SuspenseFilter) {
  const { since } = filter
  const pages = itemPages(deps, {
    kind: 'SUSPENSE',
    ...BY_OWNER,
    ...(since !== undefined && { range: { between: [since, END_OF_TIME] } }),
    newestFirst: true,
    limit: PAGE,
  })
  return matchesIn(pages, filter)
}

/** The same. With a status, items with another status use up none of the limit. */
export async function searchSuspense(deps: TableDeps, filter: Omit<SuspenseFilter, 'since'>) {
  const { status } = filter
  if (status === undefined) return listSuspenseAbout(deps, filter)
  const pages = itemPages(deps, {
    kind: 'SUSPENSE',
    index: 'by-status',
    partition: [GATEWAY_OWNER, 'suspense', status],
    newestFirst: true,
    limit: PAGE,
  })
  return matchesIn(pages, filter)
}

/** `complete`: all items were read, except those of `unreadableIds`, which may match or not. */
async function matchesIn(
  pages: AsyncIterable<readonly KeyedItem[]>,
  { status, kind, clientId, paymentIds }: SuspenseFilter,
) {
  const items: Suspense[] = []
  const unreadableIds: string[] = []
  let lookedAt = 0
  for await (const page of pages) {
    if (lookedAt >= MAX_LOOKED_AT) return { items, unreadableIds, complete: false }
    const matches = (item: Suspense) =>
      (status === undefined || item.status === status) &&
      (kind === undefined || item.kind === kind) &&
      (clientId === undefined || item.clientId === clientId) &&
      (paymentIds === undefined || paymentIds.includes(item.paymentId ?? ''))
    const read = readPage(page)
    items.push(...read.rows.filter(matches))
    unreadableIds.push(...read.unreadableIds)
    lookedAt += page.length
  }
  return { items, unreadableIds, complete: true }
}
