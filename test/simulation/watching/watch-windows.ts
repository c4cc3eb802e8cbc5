import { amount, clientOf, type RawItem, sum, text } from '../../support/recount/books.ts'
import { sweptBy } from '../../support/recount/journal-books.ts'
import { entriesOf, windowRow } from '../world/rows.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { isChanged, isRewritten, movesOtherwise, type Rules, type Write, watchRules } from './rules.ts'

/** Settlements that the same write has recorded. */
const recorded = ({ written }: Write): readonly RawItem[] =>
  written.flatMap(({ key, before, after }) => (key.sk === 'SETTLEMENT' && before === undefined && after ? [after] : []))

const isLowered = ({ before, after }: Write, name: string): boolean => text(after, name) < text(before, name)

const isClosed: Rules = { 'opens a journal that was closed': (write) => isLowered(write, 'closed_until') }

type Kept = {
  readonly start: string
  readonly end: string
  readonly sums: { readonly entryCount: number; readonly netMinor: number }
  readonly position?: { readonly eligibleAt: string; readonly entryId: string }
}

/** The entries that a kept sum has: those of its window up to its position. */
const keptEntries = ({ world, key }: Write, { start, end, position }: Kept): readonly RawItem[] => {
  const last = position ? `${position.eligibleAt}#${position.entryId}` : ''
  return sweptBy({ swept_from: start, swept_until: end }, entriesOf(world, clientOf(key))).filter(
    (entry) => text(entry, 'sk') <= last,
  )
}

const ofWindows: Rules = {
  ...isClosed,
  'is swept backwards': (write) => isLowered(write, 'settled_until'),
  'is swept without a settlement of just that span': (write) =>
    isRewritten(write, 'settled_until') &&
    !recorded(write).some(
      (settlement) =>
        settlement['swept_from'] === write.before['settled_until'] &&
        settlement['swept_until'] === write.after['settled_until'] &&
        settlement['previous_id'] === write.before['last_settlement_id'] &&
        settlement['settlement_id'] === write.after['last_settlement_id'],
    ),
  'stays where it is although a settlement takes from it': (write) =>
    recorded(write).length > 0 && !isRewritten(write, 'settled_until'),
  'has fewer parts than it had': ({ before, after }) => amount(after, 'parts') < amount(before, 'parts'),
  'keeps a sum over one that another run has kept': movesOtherwise('progress_number', 0, 1),
  'keeps a sum of another window, or one that is not that of its entries': (write) => {
    if (!isChanged(write, 'progress_number')) return false
    const kept = write.after['progress'] as Kept
    const entries = keptEntries(write, kept)
    const { entryCount, netMinor } = kept.sums
    const isOwn = kept.start === write.after['settled_until'] && kept.end <= text(write.after, 'closed_until')
    return !isOwn || entries.length !== entryCount || sum(entries, 'net_minor') !== netMinor
  },
}

const putOnce: Rules = { 'is written a second time': ({ isNew }) => !isNew }

/** The shard, or the window, that an entry's own write has moved or looked at. */
const ofEntries: Rules = {
  ...putOnce,
  'is put where a settlement has swept already': ({ world, key }) =>
    key.sk < text(windowRow(world, clientOf(key)), 'settled_until'),
  'is put where every shard is closed': (write) => {
    const ledger = write.key.pk.replace('JOURNAL', 'LEDGER')
    const fences = write.world.table.items(ledger).filter(({ pk }) => pk === ledger)
    return fences.every((item) => text(item, 'closed_until') > text(write.after, 'posted_at'))
  },
}

/** Checked at every write to a client's window, shards and journal: what the fence and the sweep let it do. */
export const watchWindows = (world: World, seen: Observations): void => {
  watchRules(world, seen, ({ pk, sk }, { isNew }) => {
    if (pk.startsWith('JOURNAL#')) return pk.startsWith('JOURNAL#house#') ? putOnce : ofEntries
    if (isNew) return undefined
    return sk === 'WINDOW' ? ofWindows : sk.startsWith('SHARD#') ? isClosed : undefined
  })
  world.onChange.push(({ key: { pk, sk }, after }) => {
    if (pk.startsWith('JOURNAL#') && after === undefined) seen.problems.push(`${pk} ${sk} is deleted`)
  })
}
