import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import type { Minor } from '../money.ts'
import type { Page } from '../page.ts'
import { all, equals, isNew } from '../table/condition.ts'
import { DUE_WORK_FIELDS, dueWork } from '../table/due-work.ts'
import { foundKey, suspenseKey } from '../table/keys.ts'
import { listItems } from '../table/list-items.ts'
import { queryPages } from '../table/query-pages.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { put, type Step, update } from '../table/step.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../time.ts'
import { type FindingCause, type Suspense, SuspenseSchema } from './suspense.ts'

/** How long due work leaves an alert to whoever wrote the item, and waits between its own tries. */
export const ALERT_GRACE_MS = MINUTE_MS

const itemOf = (item: Suspense) => ({
  ...item,
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

/** `open` -> `resolved`, once. */
export const resolveStep = ({ suspenseId, resolution, notes, leftOutBy, reinstatedBy }: Suspense): Step => {
  const set = { status: 'resolved', resolution, notes, leftOutBy, reinstatedBy }
  return update(suspenseKey(suspenseId), { set }, equals('status', 'open'))
}

/**
 * What a client owes is left out by something that takes it from what it is paid: nobody owes it any more. What an
 * operator has closed before is a finding, since its client has borne it already, or was not to. `time`: the how manieth
 * such finding of the same item it is.
 */
export const leaveOut = (item: Suspense, by: string, now: Timestamp, time = 1): Step =>
  item.status === 'open'
    ? resolveStep({ ...item, resolution: 'written_off', leftOutBy: by })
    : ensureSuspense(
        findingAbout(item, 'left_out_though_closed', `left_out_though_closed${time > 1 ? `#${time}` : ''}`, now),
      )

/** The money has come again: nobody owes it any more. */
export const closeReinstated = (item: Suspense, by: string): Step =>
  resolveStep({ ...item, resolution: 'written_off', reinstatedBy: by })

/** Money has come again for which an operator had closed what was owed: whoever has borne it must be found out. */
export const undoneThoughClosed = (item: Suspense, by: string, now: Timestamp): Step =>
  ensureSuspense(findingAbout(item, 'undone_though_closed', `undone_though_closed#${by}`, now))

const findingAbout = (item: Suspense, cause: FindingCause, name: string, now: Timestamp): Suspense => ({
  ...item,
  suspenseId: `${item.suspenseId}#${name}`,
  kind: 'finding',
  cause,
  status: 'open',
  createdAt: now,
  resolution: undefined,
  notes: undefined,
})

/** What was left out is owed again, and told again. Refused when it is not left out by that any more. */
export const reopenLeftOut = ({ suspenseId }: Suspense, leftOutBy: string, now: Timestamp): Step =>
  update(
    suspenseKey(suspenseId),
    {
      set: { status: 'open', ...dueWork('alert', suspenseId, addMs(now, ALERT_GRACE_MS)) },
      remove: ['resolution', 'notes', 'leftOutBy'],
    },
    equals('leftOutBy', leftOutBy),
  )

/** What an open item is about has become more or less: nobody is told again. Refused when it has been resolved. */
export const amendStep = (item: Suspense, amountMinor: Minor): Step =>
  update(suspenseKey(item.suspenseId), { set: { amountMinor } }, equals('status', 'open'))

/** `resolved` -> `open`: what it is about is there again, or otherwise. Due to be told like a new one. */
export const reopenStep = (item: Suspense): Step => {
  const { resolution: _, notes: __, leftOutBy: ___, ...open } = itemOf(item)
  const changes = { set: open, remove: ['resolution', 'notes', 'leftOutBy'] }
  return update(suspenseKey(item.suspenseId), changes, equals('status', 'resolved'))
}

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
