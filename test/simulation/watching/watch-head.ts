import { amount, type RawItem, text } from '../../support/recount/books.ts'
import { APART_MS, isChanged, isRewritten, ms, type Rules, type Write, watchRules } from '../world/rules.ts'
import type { World } from '../world/world.ts'

const OVERLAP_MS = 2 * 60_000

const slicesOf = ({ written }: Write): readonly RawItem[] =>
  written.flatMap(({ before, after }) => (before === undefined && after?.['kind'] === 'head' ? [after] : []))

const byTime = (one: RawItem, other: RawItem) => text(one, 'from').localeCompare(text(other, 'from'))

/** From one time to another, without a gap. */
const isCovered = (slices: readonly RawItem[], from: string, to: string): boolean => {
  let until = from || to
  for (const slice of slices.toSorted(byTime)) {
    if (text(slice, 'from') > until) return false
    until = text(slice, 'to')
  }
  return until >= to
}

const ofHead: Rules = {
  'moves without counting one round up': (write) =>
    isChanged(write, 'position') && amount(write.after, 'round') !== amount(write.before, 'round') + 1,
  'goes back': (write) => text(write.after, 'position') < text(write.before, 'position'),
  'passes a time that no slice covers': (write) =>
    isChanged(write, 'round') &&
    !isCovered(slicesOf(write), text(write.before, 'position'), text(write.after, 'position')),
  'passes a time in which rows may still appear': (write) =>
    isRewritten(write, 'position') && ms(write.after, 'position') > write.nowMs - OVERLAP_MS + APART_MS,
}

/** Checked at every write to the head of the sync: its rounds pass nothing over. */
export const watchHead = (world: World): void =>
  watchRules(world, ({ pk }) => (pk === 'SYNC#head' ? ofHead : undefined))
