import type { TableChange } from '../../../infra/local/emulators/memory-table/table-view.ts'
import { amount, clientOf, openNet, partIn, partOf, type RawItem, sum, text } from '../../support/recount/books.ts'
import { sweptBy } from '../../support/recount/journal-books.ts'
import { entriesOf, windowRow } from '../world/rows.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import {
  APART_MS,
  isChanged,
  isRewritten,
  movesOtherwise,
  type Rules,
  type Write,
  watchRules,
  watchStarts,
} from './rules.ts'

/** By how much accounts move: of a part of a ledger, or of a client's window. */
type Entries = ReadonlyMap<string, number>

const STATUSES = ['pending', 'succeeded', 'failed', 'expired', 'cancelled']
const COUNTS = STATUSES.map((status) => `count_${status}`)
const FIGURES = ['available_minor', 'in_settlement_minor', 'paid_out_minor', 'written_off_minor']

/** What one item adds to each account. */
type Posting = (item: RawItem, pk: string) => readonly (readonly [account: string, minor: number])[]

/** While it is open its ledger has its net; then its entries say so. */
const ofPayment: Posting = (item) => {
  const status = text(item, 'status')
  if (!STATUSES.includes(status)) return []
  const ledger = `LEDGER#${partOf(item)}`
  return [
    [`${ledger} count_${status}`, 1],
    [`${ledger} credited_minor`, openNet([item])],
  ]
}

/** A re-credit repeats what other entries say: it is available, and credited nowhere. */
const ofEntry: Posting = (item, pk) => {
  const net = amount(item, 'net_minor')
  const window = `LEDGER#${clientOf({ pk })}`
  if (item['type'] === 'recredit') return [[`${window} available_minor`, net]]
  return [
    [`LEDGER#${partIn({ pk })} credited_minor`, net],
    [`${window} written_off_minor`, item['type'] === 'written_off' ? net : 0],
  ]
}

/** A settlement's net is in one place at a time. */
const ofSettlement: Posting = (item) => {
  const net = amount(item, 'net_minor')
  const isPaid = item['status'] === 'manual_paid'
  const window = `LEDGER#${text(item, 'client_id')}`
  return [
    [`${window} in_settlement_minor`, isPaid || item['recredited_at'] !== undefined ? 0 : net],
    [`${window} paid_out_minor`, isPaid ? net : 0],
    [`${window} available_minor`, -amount(item, 'recredited_minor')],
  ]
}

const POSTINGS: readonly (readonly [RegExp, Posting])[] = [
  [/^PAYMENT#\S+ PAYMENT$/, ofPayment],
  [/^JOURNAL#(?!house#)/, ofEntry],
  [/^SETTLEMENT#/, ofSettlement],
]

const postingOf = ({ pk, sk }: TableChange['key']): Posting | undefined =>
  POSTINGS.find(([pattern]) => pattern.test(`${pk} ${sk}`))?.[1]

const add = (entries: Map<string, number>, account: string, minor: number) =>
  entries.set(account, (entries.get(account) ?? 0) + minor)

/** What payments, entries and settlements say that the ledger must move by. */
const due = (written: readonly TableChange[]): Entries => {
  const entries = new Map<string, number>()
  for (const { key, before, after } of written) {
    const posting = postingOf(key)
    for (const [account, minor] of (before && posting?.(before, key.pk)) ?? []) add(entries, account, -minor)
    for (const [account, minor] of (after && posting?.(after, key.pk)) ?? []) add(entries, account, minor)
  }
  return entries
}

/** What it has moved by. */
const found = (written: readonly TableChange[]): Entries => {
  const entries = new Map<string, number>()
  for (const { key, before, after } of written) {
    const names = key.sk.startsWith('SHARD#') ? ['credited_minor', ...COUNTS] : key.sk === 'WINDOW' ? FIGURES : []
    for (const name of names) add(entries, `${key.pk} ${name}`, amount(after ?? {}, name) - amount(before ?? {}, name))
  }
  return entries
}

/** Figures that the balance shows, and the time of their last change: `updated_at` is the latest of these times. */
const TIMED = [
  { kind: 'SHARD#', figures: ['credited_minor'], time: 'credited_at' },
  { kind: 'WINDOW', figures: ['available_minor'], time: 'changed_at' },
]

/** Items of the ledger whose figures move and whose time does not. One job writes several changes with one time. */
const withoutTime = (written: readonly TableChange[], jobStartedMs: number): readonly string[] =>
  written.flatMap(({ key, before = {}, after = {} }) => {
    const timed = TIMED.find(({ kind }) => key.pk.startsWith('LEDGER#') && key.sk.startsWith(kind))
    const isMoved = timed?.figures.some((name) => amount(before, name) !== amount(after, name)) === true
    const [was, is] = [before, after].map((item) => text(item, timed?.time ?? ''))
    const isOld = was === is && !(Date.parse(is ?? '') > jobStartedMs - APART_MS)
    return isMoved && isOld ? [`${key.pk} ${key.sk} moves and keeps the time of an older change`] : []
  })

/** Checked at every write: a client's ledger moves by what its payments, entries and settlements say, to the rupiah. */
export const watchLedger = (world: World, seen: Observations): void => {
  const startOf = watchStarts(world)
  world.onWritten.push((written) => {
    const startedMs = world.acting ? startOf(world.acting) : world.scheduler.nowMs()
    seen.problems.push(...withoutTime(written, startedMs))
    const [expected, moved] = [due(written), found(written)]
    for (const account of new Set([...expected.keys(), ...moved.keys()])) {
      const [must, does] = [expected.get(account) ?? 0, moved.get(account) ?? 0]
      if (must !== does) seen.problems.push(`${account} moves by ${does} in one write, its documents by ${must}`)
    }
  })
}

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
