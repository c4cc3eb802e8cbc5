import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import type { Key } from '../../../shared/table/keys.ts'
import { namesOf } from '../world/names-of.ts'
import type { Process } from '../world/process.ts'
import type { World } from '../world/world.ts'

/** One write to a row, by a worker. */
export type RowWrite = {
  readonly key: Key
  /** Undefined where the row is new. */
  readonly before: StoredItem | undefined
  readonly after: StoredItem
  readonly worker: Process
  /** Of the world; what two machines' clocks may be apart. */
  readonly nowMs: number
  readonly apartMs: number
}

/** What a write must not do, and whether this one does it. */
export type Rule<Write> = readonly [what: string, isBroken: (write: Write) => boolean]

/** What every rule says that this write breaks. */
export const broken = <Write extends RowWrite>(rules: readonly Rule<Write>[], write: Write): readonly string[] =>
  rules.filter(([, isBroken]) => isBroken(write)).map(([what]) => what)

export const DAY_MS = 86_400_000

export const ms = (item: StoredItem | undefined, attribute: string): number => Date.parse(String(item?.[attribute]))

/** Whether one of these is not what it was; those that are new are no change. */
export const isChanged = (before: StoredItem, after: StoredItem, attributes: readonly string[]): boolean =>
  attributes.some((name) => before[name] !== undefined && JSON.stringify(before[name]) !== JSON.stringify(after[name]))

/** How far two machines' clocks may be apart in this history: an environment keeps its clock for as long as it lives. */
export const watchClocks = (world: World): (() => number) => {
  let worstMs = 0
  const look = () => {
    worstMs = Math.max(worstMs, world.faults.clockSkewMs)
    return 2 * Math.ceil(worstMs)
  }
  world.onStarted.push(look)
  return look
}

/** When each process began, or the one that left it something to go on with, in the world's time. */
export const watchStarts = (world: World): ((process: Process) => number) => {
  const startedMs = new WeakMap<Process, number>()
  world.onStarted.push((process) => startedMs.set(process, world.scheduler.nowMs()))
  return (process) => Math.min(...namesOf(world, process).map((one) => startedMs.get(one) ?? 0))
}

type Kind = (key: Key) => boolean

/** Tells of each write to rows of a kind. */
export const onWrite = (world: World, isMeant: Kind, hear: (write: RowWrite) => void): void => {
  const apartMs = watchClocks(world)
  world.onChange.push(({ key, before, after }) => {
    const { acting } = world
    if (acting === undefined || after === undefined || !isMeant(key)) return
    hear({
      key,
      before,
      after,
      worker: acting,
      nowMs: world.scheduler.nowMs(),
      apartMs: apartMs(),
    })
  })
}

/** Looks once all that is written together is written. */
export const once = (look: () => void): void => queueMicrotask(look)
