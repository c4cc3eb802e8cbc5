import type { TableChange } from '../../../infra/local/emulators/memory-table/table-view.ts'
import { amount, clientOf, openNet, partIn, partOf, type RawItem, text } from '../../support/recount/books.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { APART_MS, watchStarts } from './rules.ts'

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
