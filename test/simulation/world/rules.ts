import type { TableChange } from '../../../infra/local/emulators/memory-table/table-view.ts'
import type { Key } from '../../../shared/table/keys.ts'
import { type RawItem, wholeRow } from '../../support/recount/books.ts'
import type { Process } from './process.ts'
import type { World } from './world.ts'

/** The `before` of a new item is empty. */
export type Write = {
  readonly world: World
  readonly key: Key
  readonly before: RawItem
  readonly after: RawItem
  readonly isNew: boolean
  readonly written: readonly TableChange[]
  readonly worker: Process | undefined
  readonly nowMs: number
}

/** The words follow the item's name in a report. */
export type Rules = Readonly<Record<string, (write: Write) => boolean>>

/** The largest difference of two machines' clocks. */
export const APART_MS = 20_000
export const DAY_MS = 86_400_000

export function ms(item: RawItem | undefined, attribute: string) {
  return Date.parse(String(item?.[attribute]))
}

type Change = Pick<Write, 'before' | 'after'>

export function isChanged({ before, after }: Change, attribute: string) {
  return JSON.stringify(before[attribute]) !== JSON.stringify(after[attribute])
}

export function isRewritten(change: Change, attribute: string) {
  return change.before[attribute] !== undefined && isChanged(change, attribute)
}

export function isGiven({ before, after }: Change, attribute: string) {
  return before[attribute] === undefined && after[attribute] !== undefined
}

export function becomes({ before, after }: Change, attribute: string, value: unknown) {
  return before[attribute] !== value && after[attribute] === value
}

/** `since`: all states from a time on, any of which a reader may have met. */
export type States = {
  readonly of: ReadonlyMap<string, readonly { readonly row: RawItem; readonly sinceMs: number }[]>
  readonly since: (id: string, fromMs: number) => readonly RawItem[]
}

/** Keeps the states of rows whose `pk sk` fits, by the attribute that identifies them. */
export function watchStates(world: World, meant: RegExp, name: string): States {
  const of = new Map<string, { readonly row: RawItem; readonly sinceMs: number }[]>()
  world.onChange.push(({ key, after }) => {
    if (after === undefined || !meant.test(`${key.pk} ${key.sk}`)) return
    const id = String(after[name])
    of.set(id, [...(of.get(id) ?? []), { row: wholeRow(after), sinceMs: world.scheduler.nowMs() }])
  })
  return {
    of,
    since: (id, fromMs) => {
      const all = of.get(id) ?? []
      return all
        .filter((_, at) => (all[at + 1]?.sinceMs ?? Number.POSITIVE_INFINITY) >= fromMs)
        .map(({ row }) => row)
    },
  }
}

/** Calls back after the whole transaction is written. */
export function onWrite(world: World, meant: RegExp, listen: (write: Write) => void) {
  void world.onWritten.push((written) => {
    const all = { world, written, worker: world.acting, nowMs: world.scheduler.nowMs() }
    for (const { key, before, after } of written) {
      if (after === undefined || !meant.test(`${key.pk} ${key.sk}`)) continue
      const rows = { before: wholeRow(before ?? {}), after: wholeRow(after) }
      listen({ ...all, key, ...rows, isNew: before === undefined })
    }
  })
}

export function watchRules(world: World, rulesFor: (key: Key, write: Write) => Rules | undefined) {
  onWrite(world, /^/, (write) => {
    const { pk, sk } = write.key
    for (const [what, isBroken] of Object.entries(rulesFor(write.key, write) ?? {}))
      if (isBroken(write)) world.problems.push(`${pk} ${sk} ${what}`)
  })
}
