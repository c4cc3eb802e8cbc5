import { clientOf, type RawItem, text } from '../../support/books.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { isRewritten, type Rule, type Write, watchRules } from './rules.ts'

/** Settlements that the same write has made. */
const recorded = ({ written }: Write): readonly RawItem[] =>
  written.flatMap(({ key, before, after }) => (key.sk === 'SETTLEMENT' && before === undefined && after ? [after] : []))

const falls = ({ before, after }: Write, attribute: string): boolean => text(after, attribute) < text(before, attribute)

const ofFences: readonly Rule<Write>[] = [
  ['has a lower fence than it had', (write) => falls(write, 'closed_until')],
  ['has no fence', ({ after }) => after['closed_until'] === undefined],
]

const ofWindows: readonly Rule<Write>[] = [
  ['is swept backwards, or twice', (write) => falls(write, 'settled_until')],
  ['is swept beyond its fence', ({ after }) => text(after, 'settled_until') > text(after, 'closed_until')],
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
  ['has fewer parts than it had', ({ before, after }) => Number(after['parts']) < Number(before['parts'])],
]

const windowOf = ({ world, after }: Write): RawItem =>
  world.table.item({ pk: `LEDGER#${clientOf(after)}`, sk: 'WINDOW' }) ?? {}

const ofEntries: readonly Rule<Write>[] = [
  ['is written again', ({ isNew }) => !isNew],
  [
    'is put where a settlement has swept already',
    (write) => text(write.after, 'sk') < text(windowOf(write), 'settled_until'),
  ],
  [
    'is posted before the fence of its window was raised to where it is swept',
    ({ after, ...write }) => text(after, 'posted_at') < text(windowOf({ after, ...write }), 'settled_until'),
  ],
]

/** Checked at every write to a client's window, shards and journal: what design sections 4 and 12 let it do. */
export const watchWindows = (world: World, seen: Observations): void =>
  watchRules(world, seen, ({ pk, sk }, { isNew }) => {
    if (/^JOURNAL#(?!house#)/.test(pk)) return ofEntries
    if (!pk.startsWith('LEDGER#')) return []
    return sk === 'WINDOW' && !isNew ? [...ofFences, ...ofWindows] : ofFences
  })
