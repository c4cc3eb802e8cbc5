import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import type { Page } from '../page.ts'
import { equals, isNew } from '../table/condition.ts'
import { DUE_WORK_FIELDS, dueWork } from '../table/due-work.ts'
import { suspenseKey } from '../table/keys.ts'
import { listItems } from '../table/list.ts'
import { getItem } from '../table/read.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { put, type Step, update } from '../table/step.ts'
import { conditionalWrite } from '../table/write.ts'
import { addMs, MINUTE_MS } from '../time.ts'
import { type Suspense, SuspenseSchema } from './suspense.ts'

type StoreDeps = Pick<Deps, 'table' | 'sleep' | 'random' | 'log'>

/** How long due work leaves an alert to whoever wrote the item. */
const ALERT_GRACE_MS = MINUTE_MS

const itemOf = (item: Suspense) => ({
  ...item,
  owner: GATEWAY_OWNER,
  entity: 'suspense',
  listedAt: item.createdAt,
  id: item.suspenseId,
  ...dueWork('alert', item.suspenseId, addMs(item.createdAt, ALERT_GRACE_MS)),
})

/**
 * The item as a step of a transaction. An item that is there already stays as it is and never refuses the
 * transaction: the transition must not wait for the books about it.
 */
export const ensureSuspense = (item: Suspense): Step =>
  update(suspenseKey(item.suspenseId), { setIfAbsent: itemOf(item) })

/** Writes the item unless it is known: one item per provider payment, however often its news arrives. */
export const putSuspense = (deps: StoreDeps, item: Suspense) =>
  conditionalWrite(deps, put(suspenseKey(item.suspenseId), itemOf(item), isNew))

export const findSuspense = async (deps: StoreDeps, suspenseId: string): Promise<Suspense | undefined> => {
  const item = await getItem(deps, suspenseKey(suspenseId))
  return item && v.parse(SuspenseSchema, item)
}

/** The operators have been told: the item is no longer due. Refused when somebody else has noted it already. */
export const endSuspenseAlert = (deps: StoreDeps, suspenseId: string) =>
  conditionalWrite(deps, update(suspenseKey(suspenseId), { remove: DUE_WORK_FIELDS }, equals('work', 'alert')))

/** `open` -> `resolved`, once. */
export const resolveStep = (item: Suspense): Step =>
  update(
    suspenseKey(item.suspenseId),
    { set: { status: 'resolved', resolution: item.resolution, notes: item.notes } },
    equals('status', 'open'),
  )

/** All items, newest first. */
export const listSuspense = async (deps: StoreDeps, page: Page): Promise<readonly Suspense[]> => {
  const items = await listItems(deps, {
    kind: 'SUSPENSE',
    index: 'by-owner',
    partition: [GATEWAY_OWNER, 'suspense'],
    page,
  })
  return items.map((item) => v.parse(SuspenseSchema, item))
}
