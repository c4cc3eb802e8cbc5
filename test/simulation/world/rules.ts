import type { TableChange } from '../../../infra/local/emulators/memory-table/table-view.ts'
import type { Key } from '../../../shared/table/keys.ts'
import type { RawItem } from '../../support/recount/books.ts'
import { namesOf, type Process } from './process.ts'
import type { World } from './world.ts'

/** One change of an item, with all changes of the same write. The `before` of a new item is empty. */
export type Write = {
  readonly world: World
  readonly key: Key
  readonly before: RawItem
  readonly after: RawItem
  readonly isNew: boolean
  readonly written: readonly TableChange[]
  readonly worker: Process | undefined
  readonly nowMs: number
  /** How far two machines' clocks are apart in this history. */
  readonly apartMs: number
}

/** What a write must not do, and whether it does. The words follow the item's name in a report. */
export type Rules<Changed = Write> = Readonly<Record<string, (write: Changed) => boolean>>

/** The largest difference of two machines' clocks. */
export const APART_MS = 20_000
export const DAY_MS = 86_400_000

export const ms = (item: RawItem | undefined, attribute: string): number => Date.parse(String(item?.[attribute]))

type Change = Pick<Write, 'before' | 'after'>

export const isChanged = ({ before, after }: Change, attribute: string): boolean =>
  JSON.stringify(before[attribute]) !== JSON.stringify(after[attribute])

/** The attribute had a value and has another one or none. */
export const isRewritten = (change: Change, attribute: string): boolean =>
  change.before[attribute] !== undefined && isChanged(change, attribute)

/** The attribute had no value and has one. */
export const isGiven = ({ before, after }: Change, attribute: string): boolean =>
  before[attribute] === undefined && after[attribute] !== undefined

export const becomes = ({ before, after }: Change, attribute: string, value: unknown): boolean =>
  before[attribute] !== value && after[attribute] === value

/** A rule for attributes that never change once they are set. Names are separated by spaces. */
export const rewrites = (...names: readonly string[]) => {
  const attributes = names.flatMap((some) => some.split(' '))
  return (write: Change): boolean => attributes.some((attribute) => isRewritten(write, attribute))
}

/** Every rule that this write breaks. */
export const broken = <Changed>(rules: Rules<Changed>, write: Changed): readonly string[] =>
  Object.entries(rules).flatMap(([what, isBroken]) => (isBroken(write) ? [what] : []))

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

/** When a process began, or an earlier one whose unfinished work continues under its name. */
export const watchStarts = (world: World): ((process: Process | undefined) => number) => {
  const startedMs = new WeakMap<Process, number>()
  world.onStarted.push((process) => startedMs.set(process, world.scheduler.nowMs()))
  return (process) => Math.min(...namesOf(world, process).map((one) => startedMs.get(one) ?? 0))
}

/** The former states of rows. `since`: all states from a time on, any of which a reader may have met. */
export type States = {
  readonly of: ReadonlyMap<string, readonly { readonly row: RawItem; readonly sinceMs: number }[]>
  readonly since: (id: string, fromMs: number) => readonly RawItem[]
}

/** Keeps the states of rows whose `pk sk` fits, by the attribute that identifies them. */
export const watchStates = (world: World, meant: RegExp, name: string): States => {
  const of = new Map<string, { readonly row: RawItem; readonly sinceMs: number }[]>()
  world.onChange.push(({ key, after }) => {
    if (after === undefined || !meant.test(`${key.pk} ${key.sk}`)) return
    const id = String(after[name])
    of.set(id, [...(of.get(id) ?? []), { row: after, sinceMs: world.scheduler.nowMs() }])
  })
  return {
    of,
    since: (id, fromMs) => {
      const all = of.get(id) ?? []
      return all.filter((_, at) => (all[at + 1]?.sinceMs ?? Number.POSITIVE_INFINITY) >= fromMs).map(({ row }) => row)
    },
  }
}

/** Calls back for each invocation that ends without an error. */
export const onGoodEnd = (world: World, listen: (process: Process) => void): void => {
  const troubled = new WeakSet<Process>()
  world.onError.push((process) => troubled.add(process))
  world.onEnded.push((process, how) => {
    if (how === 'done' && !troubled.has(process)) listen(process)
  })
}

/** Calls back for each write to a row whose `pk sk` fits, after the whole transaction is written. */
export const onWrite = (world: World, meant: RegExp, listen: (write: Write) => void): void => {
  const apartMs = watchClocks(world)
  world.onWritten.push((written) => {
    const nowMs = world.scheduler.nowMs()
    for (const { key, before, after } of written) {
      if (after === undefined || !meant.test(`${key.pk} ${key.sk}`)) continue
      const worker = world.acting
      listen({
        world,
        key,
        before: before ?? {},
        after,
        isNew: before === undefined,
        written,
        worker,
        nowMs,
        apartMs: apartMs(),
      })
    }
  })
}

/** Checks every write against the rules of its item. */
export const watchRules = (world: World, rulesFor: (key: Key, write: Write) => Rules | undefined): void =>
  onWrite(world, /^/, (write) => {
    const { pk, sk } = write.key
    for (const what of broken(rulesFor(write.key, write) ?? {}, write)) world.problems.push(`${pk} ${sk} ${what}`)
  })

type WorkersWrite = Write & { readonly worker: Process }

/** The same for writes of workers only: a test may write what no worker may. */
export const onWorkersWrite = (world: World, meant: RegExp, listen: (write: WorkersWrite) => void): void =>
  onWrite(world, meant, (write) => {
    const { worker } = write
    if (worker !== undefined) listen({ ...write, worker })
  })
