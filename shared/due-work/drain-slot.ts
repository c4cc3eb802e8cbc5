import type { Deps, TableDeps } from '../deps.ts'
import type { Item } from '../table/attributes.ts'
import { msBetween, SECOND_MS, type Timestamp } from '../time.ts'
import { type CheckedWork, type DueItem, type DueSlot, findDuePage, isInPart } from './due-slot.ts'

type ReadItem = DueItem & { readonly item: Item }

/** `skip`: no check this time. `wait`: the quota lacks calls now. `pause`: a call is paused. */
export type Decision = 'check' | 'skip' | 'wait' | 'pause'

/** The decision for each item of a batch, in its order. `retryAt`: when more may be checked. */
export type Admission = {
  readonly decisions: readonly Decision[]
  readonly retryAt: Timestamp | undefined
}

export type DueKind = {
  readonly work: CheckedWork
  readonly batchSize: (deps: Deps) => number
  /** In any order. A row of another kind must not stop the others. */
  readonly read: (
    deps: TableDeps,
    rows: readonly DueItem[],
  ) => Promise<readonly (Item | undefined)[]>
  /** True if the item was still due. Claims the item, because other workers may check it too. */
  readonly check: (deps: Deps, due: ReadItem, decision: Decision) => Promise<boolean>
  /** For items that need scarce calls. By default every item is checked. */
  readonly admit?: (deps: Deps, items: readonly Item[]) => Promise<Admission>
}

/**
 * The time between two runs of check-due-work, which sends the slot's message again if work is
 * left.
 */
const RUN_BUDGET_MS = 60 * SECOND_MS
const WINDOW_ITEMS = 100

type Run = ReturnType<typeof newRun> & {
  cursor?: Item | undefined
  retryAt?: Timestamp | undefined
}

/**
 * Handles all due items in a share of a slot, round robin by owner, for at most a minute (design
 * section 4). A second worker, a repeated message or a crash is harmless. A worker claims an item
 * by moving the item's due time forward, on condition of the old due time.
 */
export async function drainSlot(deps: Deps, kind: DueKind, share: DueSlot) {
  const run: Run = newRun(deps)
  while (deps.monotonicMs() < run.end) {
    const batch = await nextBatch(deps, kind, share, run)
    if (await handleBatch(deps, kind, batch, run)) continue
    if (run.retryAt === undefined || batch.length + run.pausedIds.size === 0) break
    // All workers retry at the same time, so a random delay varies their order.
    const waitMs =
      Math.max(1, msBetween(deps.now(), run.retryAt)) + Math.floor(deps.random() * SECOND_MS)
    if (deps.monotonicMs() + waitMs >= run.end) break
    await deps.sleep(waitMs)
    run.retryAt = undefined
    run.pausedIds.clear()
    run.hasSkippedItems = true
  }
  const { done, failed } = run
  deps.log.info('due_work.drained', {
    work: kind.work,
    slot: share.slot,
    [kind.work]: done,
    failed,
  })
  return { done, failed }
}

function newRun({ monotonicMs }: Deps) {
  return {
    end: monotonicMs() + RUN_BUDGET_MS,
    waiting: roundRobin<ReadItem>(({ item }) => String(item['clientId'] ?? item['owner'])),
    /** Items that the index may still show as due. */
    triedIds: new Set<string>(),
    pausedIds: new Set<string>(),
    isAtEnd: false,
    hasSkippedItems: false,
    done: 0,
    failed: 0,
  }
}

/** False when the whole batch must wait. */
async function handleBatch(deps: Deps, kind: DueKind, batch: readonly ReadItem[], run: Run) {
  const items = batch.map(({ item }) => item)
  const { decisions = [], retryAt = run.retryAt } = (await kind.admit?.(deps, items)) ?? {}
  run.retryAt = retryAt
  const waiting: ReadItem[] = []
  const handled = batch.map(async (due, at) => {
    const decision = decisions[at] ?? 'check'
    if (decision === 'wait') waiting.push(due)
    // Read after the pause.
    else if (decision === 'pause') run.pausedIds.add(due.id)
    else await checkItem(deps, kind, due, decision, run)
  })
  await Promise.all(handled)
  run.waiting.putBack(waiting)
  return waiting.length < batch.length
}

/** The owner's other items stay due and are read again. */
const MAX_ITEMS_OF_OWNER = 500

/** One owner's many items do not delay the items of other owners. */
export function roundRobin<Waiting>(ownerNameOf: (item: Waiting) => string) {
  // A map keeps the order in which its keys were set. The first owner is next.
  let queues = new Map<string, Waiting[]>()
  return {
    /** False when more items of this owner wait than one worker can handle. */
    add: (item: Waiting): boolean => {
      const owner = ownerNameOf(item)
      const items = queues.get(owner) ?? []
      if (items.length >= MAX_ITEMS_OF_OWNER) return false
      items.push(item)
      queues.set(owner, items)
      return true
    },
    take: (most: number): readonly Waiting[] => {
      const batch: Waiting[] = []
      // The loop reaches an owner that is set again after all other owners.
      for (const [owner, [first, ...others]] of queues) {
        if (batch.length >= most) break
        queues.delete(owner)
        if (first !== undefined) batch.push(first)
        if (others.length > 0) queues.set(owner, others)
      }
      return batch
    },
    putBack: (items: readonly Waiting[]): void => {
      queues = Map.groupBy([...items, ...[...queues.values()].flat()], ownerNameOf)
    },
    get owners() {
      return queues.size
    },
  }
}

/** While items of few owners wait, it first reads all windows, to find other owners. */
async function nextBatch(
  deps: Deps,
  kind: DueKind,
  share: DueSlot,
  run: Run,
): Promise<readonly ReadItem[]> {
  const most = kind.batchSize(deps)
  if (run.isAtEnd && run.hasSkippedItems && run.waiting.owners === 0)
    Object.assign(run, { isAtEnd: false, hasSkippedItems: false })
  while (!run.isAtEnd && run.waiting.owners < most && deps.monotonicMs() < run.end) {
    await readWindow(deps, kind, share, run)
  }
  return run.waiting.take(most)
}

async function readWindow(deps: Deps, { work, read }: DueKind, share: DueSlot, run: Run) {
  const page = await findDuePage(deps, {
    work,
    slot: share.slot,
    limit: WINDOW_ITEMS,
    cursor: run.cursor,
  })
  const rows = page.items.filter(
    ({ id }) => isInPart(share, id) && !run.triedIds.has(id) && !run.pausedIds.has(id),
  )
  for (const item of await read(deps, rows)) {
    const due = rows.find(({ pk, sk }) => pk === item?.['pk'] && sk === item['sk'])
    // The item decides: another worker may have changed its due time after the index was written.
    const isDue = typeof item?.['dueAt'] === 'string' && item['dueAt'] <= deps.now()
    if (item && due && isDue && !run.waiting.add({ ...due, item })) run.hasSkippedItems = true
  }
  run.cursor = page.cursor
  run.isAtEnd = page.cursor === undefined
}

async function checkItem(
  deps: Deps,
  { work, check }: DueKind,
  due: ReadItem,
  decision: Decision,
  run: Run,
) {
  run.triedIds.add(due.id)
  try {
    if (await check(deps, due, decision)) run.done++
  } catch (cause) {
    // A failing item stops no other item. It stays due and is retried.
    deps.log.error('payment.check_failed', { work, id: due.id }, cause)
    run.failed++
  }
}
