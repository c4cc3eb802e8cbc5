import { amount, booksOf, clientOf, type RawItem, sum, text } from '../../support/recount/books.ts'
import { sweptBy } from '../../support/recount/journal-books.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { isRewritten, type Rule, type Write, watchRules } from './rules.ts'

/** Settlements that the same write has recorded. */
const recorded = ({ written }: Write): readonly RawItem[] =>
  written.flatMap(({ key, before, after }) => (key.sk === 'SETTLEMENT' && before === undefined && after ? [after] : []))

const isLowered = ({ before, after }: Write, name: string): boolean => text(after, name) < text(before, name)

const isClosed: Rule<Write> = ['opens a journal that was closed', (write) => isLowered(write, 'closed_until')]

type Kept = {
  readonly start: string
  readonly end: string
  readonly sums: { readonly entryCount: number; readonly netMinor: number }
  readonly position?: { readonly eligibleAt: string; readonly entryId: string }
}

/** The entries that a kept sum has: those of its window up to its position. */
const keptEntries = ({ world, key }: Write, { start, end, position }: Kept): readonly RawItem[] => {
  const own = booksOf(world.table.items('JOURNAL#')).entries.filter((entry) => clientOf(entry) === clientOf(key))
  const last = position ? `${position.eligibleAt}#${position.entryId}` : ''
  return sweptBy({ swept_from: start, swept_until: end }, own).filter((entry) => text(entry, 'sk') <= last)
}

const OF_WINDOWS: readonly Rule<Write>[] = [
  isClosed,
  ['is swept backwards', (write) => isLowered(write, 'settled_until')],
  [
    'is swept without a settlement of just that span',
    (write) =>
      isRewritten(write, 'settled_until') &&
      !recorded(write).some(
        (settlement) =>
          settlement['swept_from'] === write.before['settled_until'] &&
          settlement['swept_until'] === write.after['settled_until'] &&
          settlement['previous_id'] === write.before['last_settlement_id'] &&
          settlement['settlement_id'] === write.after['last_settlement_id'],
      ),
  ],
  [
    'stays where it is although a settlement takes from it',
    (write) => recorded(write).length > 0 && !isRewritten(write, 'settled_until'),
  ],
  ['has fewer parts than it had', ({ before, after }) => amount(after, 'parts') < amount(before, 'parts')],
  [
    'keeps a sum over one that another run has kept',
    ({ before, after }) => ![0, 1].includes(amount(after, 'progress_number') - amount(before, 'progress_number')),
  ],
  [
    'keeps a sum of another window, or one that is not that of its entries',
    (write) => {
      if (write.after['progress_number'] === write.before['progress_number']) return false
      const kept = write.after['progress'] as Kept
      const entries = keptEntries(write, kept)
      const { entryCount, netMinor } = kept.sums
      const isOwn = kept.start === write.after['settled_until'] && kept.end <= text(write.after, 'closed_until')
      return !isOwn || entries.length !== entryCount || sum(entries, 'net_minor') !== netMinor
    },
  ],
]

const windowOf = ({ world, key }: Write): RawItem =>
  world.table.item({ pk: `LEDGER#${clientOf(key)}`, sk: 'WINDOW' }) ?? {}

/** The shard, or the window, that an entry's own write has moved or looked at. */
const OF_ENTRIES: readonly Rule<Write>[] = [
  ['is written a second time', ({ isNew }) => !isNew],
  [
    'is put where a settlement has swept already',
    (write) => text(write.key, 'sk') < text(windowOf(write), 'settled_until'),
  ],
  [
    'is put where every shard is closed',
    (write) => {
      const ledger = write.key.pk.replace('JOURNAL', 'LEDGER')
      const fences = write.world.table.items(ledger).filter(({ pk }) => pk === ledger)
      return fences.every((item) => text(item, 'closed_until') > text(write.after, 'posted_at'))
    },
  ],
]

/** Checked at every write to a client's window, shards and journal: what the fence and the sweep let it do. */
export const watchWindows = (world: World, seen: Observations): void => {
  watchRules(world, seen, ({ pk, sk }, { isNew }) => {
    if (pk.startsWith('JOURNAL#')) return pk.startsWith('JOURNAL#house#') ? OF_ENTRIES.slice(0, 1) : OF_ENTRIES
    if (isNew) return []
    return sk === 'WINDOW' ? OF_WINDOWS : sk.startsWith('SHARD#') ? [isClosed] : []
  })
  world.onChange.push(({ key: { pk, sk }, after }) => {
    if (pk.startsWith('JOURNAL#') && after === undefined) seen.problems.push(`${pk} ${sk} is deleted`)
  })
}
