import type { TableChange } from '../../../infra/local/emulators/memory-table/table-view.ts'
import { type RawItem } from '../../support/recount/books.ts'
import type { Process } from '../world/process.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'

/** What one write must not do, in words after the item's name, and whether this one does it. */
export type Rule<Changed> = readonly [what: string, isBroken: (write: Changed) => boolean]

/** Machines' clocks differ by so much at most. */
export const APART_MS = 20_000

/** One change of an item, and what else its write has changed. */
export type Write = {
  readonly world: World
  readonly key: TableChange['key']
  readonly before: RawItem
  readonly after: RawItem
  readonly isNew: boolean
  readonly written: readonly TableChange[]
  readonly nowMs: number
  readonly acting: Process | undefined
}

export const isChanged = ({ before, after }: Pick<Write, 'before' | 'after'>, attribute: string): boolean =>
  before[attribute] !== after[attribute]

/** It was there and is not the same any more. */
export const isRewritten = ({ before, after }: Pick<Write, 'before' | 'after'>, attribute: string): boolean =>
  before[attribute] !== undefined && JSON.stringify(before[attribute]) !== JSON.stringify(after[attribute])

export const setIn = (item: RawItem, attribute: string): ReadonlySet<unknown> =>
  item[attribute] instanceof Set ? item[attribute] : new Set()

/** What is in a set and was not, and what was in it and is no more. */
export const setMoved = ({ before, after }: Pick<Write, 'before' | 'after'>, attribute: string) => {
  const [was, is] = [setIn(before, attribute), setIn(after, attribute)]
  return { added: [...is].filter((one) => !was.has(one)), removed: [...was].filter((one) => !is.has(one)) }
}

/** Holds every change of some items against their rules. */
export const watchRules = (
  world: World,
  seen: Observations,
  rulesFor: (key: TableChange['key'], write: Write) => readonly Rule<Write>[],
): void => {
  world.onWritten.push((written) => {
    const { acting } = world
    const nowMs = world.scheduler.nowMs()
    for (const { key, before, after } of written) {
      if (after === undefined) continue
      const write = { world, key, before: before ?? {}, after, isNew: before === undefined, written, nowMs, acting }
      for (const [what, isBroken] of rulesFor(key, write)) {
        if (isBroken(write)) seen.problems.push(`${key.pk} ${key.sk} ${what}`)
      }
    }
  })
}
