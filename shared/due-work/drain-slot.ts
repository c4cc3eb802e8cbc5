import type { Deps, TableDeps } from '../deps.ts'
import type { Item } from '../table/attributes.ts'
import { msBetween, SECOND_MS, type Timestamp } from '../time.ts'
import { type CheckedWork, type DueItem, type DueSlot, findDuePage, isInPart } from './due-slot.ts'

type ReadItem = DueItem & { readonly item: Item }

/** `skip`: its check is left out this time. `later`: it waits for its turn. */
export type Turn = 'check' | 'skip' | 'later'

/** What happens to each of the next items now, by its place; `retryAt`: when more may be checked. */
export type Admission = { readonly turns: readonly Turn[]; readonly retryAt: Timestamp | undefined }

export type DueKind = {
  readonly work: CheckedWork
  readonly atATime: (deps: Deps) => number
  readonly read: (
    deps: TableDeps,
    rows: readonly DueItem[],
  ) => Promise<readonly (Item | undefined)[]>
  /** True when there was something to do. Claims the item: another worker may have it, too. */
  readonly check: (deps: Deps, due: ReadItem, turn: Turn) => Promise<boolean>
  /** For items that need scarce calls. Without it each is checked. */
  readonly admit?: (deps: Deps, items: readonly Item[]) => Promise<Admission>
}

/** As long as the time between two runs of check-due-work, which hands the slot on if work is left. */
const RUN_BUDGET_MS = 60 * SECOND_MS
const WINDOW = 100

type Run = {
  readonly end: number
  readonly turns: ReturnType<typeof dueTurns<ReadItem>>
  /** The index may still show them as due. */
  readonly tried: Set<string>
  cursor: Item | undefined
  isAtEnd: boolean
  hasLeft: boolean
  done: number
  failed: number
}

/**
 * Handles everything that is due in its share of a slot, owners in turn, for at most a minute (design section 4). A
 * second worker, a repeated message or a crash is harmless: each item is claimed by moving its due time forward, on
 * condition of its old value.
 */
export async function drainSlot(deps: Deps, kind: DueKind, share: DueSlot) {
  const run: Run = {
    end: deps.monotonicMs() + RUN_BUDGET_MS,
    turns: dueTurns(({ item }) => String(item['clientId'])),
    tried: new Set(),
    cursor: undefined,
    isAtEnd: false,
    hasLeft: false,
    done: 0,
    failed: 0,
  }
  while (deps.monotonicMs() < run.end) {
    const turn = await nextTurn(deps, kind, share, run)
    if (turn.length === 0) break
    const items = turn.map(({ item }) => item)
    const { turns = [], retryAt } = (await kind.admit?.(deps, items)) ?? {}
    const placed = turn.map((due, at) => ({ due, turn: turns[at] ?? ('check' as const) }))
    const admitted = placed.filter((one) => one.turn !== 'later')
    run.turns.putBack(placed.flatMap((one) => (one.turn === 'later' ? [one.due] : [])))
    await Promise.all(admitted.map((one) => checkItem(deps, kind, one, run)))
    if (retryAt === undefined || admitted.length > 0) continue
    // All workers are admitted at the same time. A random delay keeps them from always coming in the same order.
    const waitMs =
      Math.max(1, msBetween(deps.now(), retryAt)) + Math.floor(deps.random() * SECOND_MS)
    if (deps.monotonicMs() + waitMs >= run.end) break
    await deps.sleep(waitMs)
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

/** The most items of one owner in memory. The rest stays due and is read again. */
const MAX_OF_ONE_OWNER = 500

/** Owners take turns, so one owner's thousand items delay another by at most one item at a time. */
export function dueTurns<Waiting>(ownerNameOf: (item: Waiting) => string) {
  // A map keeps the order in which its keys were set: the first one is next.
  let waiting = new Map<string, Waiting[]>()
  return {
    /** False when more items of this owner wait than one worker can handle. */
    add: (item: Waiting): boolean => {
      const owner = ownerNameOf(item)
      const own = waiting.get(owner) ?? []
      if (own.length >= MAX_OF_ONE_OWNER) return false
      own.push(item)
      waiting.set(owner, own)
      return true
    },
    take: (most: number): readonly Waiting[] => {
      const taken: Waiting[] = []
      // An owner that is set again comes once more, after all others.
      for (const [owner, [first, ...rest]] of waiting) {
        if (taken.length >= most) break
        waiting.delete(owner)
        if (first !== undefined) taken.push(first)
        if (rest.length > 0) waiting.set(owner, rest)
      }
      return taken
    },
    putBack: (items: readonly Waiting[]): void => {
      waiting = Map.groupBy([...items, ...[...waiting.values()].flat()], ownerNameOf)
    },
    get owners() {
      return waiting.size
    },
  }
}

/** The next batch. While few owners wait, all windows are read first: another owner may come after a long queue. */
async function nextTurn(
  deps: Deps,
  kind: DueKind,
  share: DueSlot,
  run: Run,
): Promise<readonly ReadItem[]> {
  const most = kind.atATime(deps)
  if (run.isAtEnd && run.hasLeft && run.turns.owners === 0)
    Object.assign(run, { isAtEnd: false, hasLeft: false })
  while (!run.isAtEnd && run.turns.owners < most && deps.monotonicMs() < run.end) {
    await readWindow(deps, kind, share, run)
  }
  return run.turns.take(most)
}

async function readWindow(
  deps: Deps,
  { work, read }: DueKind,
  share: DueSlot,
  run: Run,
): Promise<void> {
  const page = await findDuePage(deps, {
    work,
    slot: share.slot,
    limit: WINDOW,
    cursor: run.cursor,
  })
  const mine = page.items.filter(({ id }) => isInPart(share, id) && !run.tried.has(id))
  const items = mine.length > 0 ? await read(deps, mine) : []
  for (const [at, due] of mine.entries()) {
    const item = items[at]
    // The item decides: another worker may have moved it on since the index was written.
    const isDue =
      item !== undefined && typeof item['dueAt'] === 'string' && item['dueAt'] <= deps.now()
    if (!isDue) continue
    if (!run.turns.add({ ...due, item })) run.hasLeft = true
  }
  run.cursor = page.cursor
  run.isAtEnd = page.cursor === undefined
}

type Placed = { readonly due: ReadItem; readonly turn: Turn }

async function checkItem(
  deps: Deps,
  { work, check }: DueKind,
  { due, turn }: Placed,
  run: Run,
): Promise<void> {
  run.tried.add(due.id)
  try {
    if (await check(deps, due, turn)) run.done++
  } catch (cause) {
    // A failing item does not stop the others. It stays due and is retried.
    deps.log.error('payment.check_failed', { work, id: due.id }, cause)
    run.failed++
  }
}
