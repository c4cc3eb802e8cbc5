import type { TableChange } from '../../../infra/local/emulators/memory-table/table-view.ts'
import { amount, isOpen, partIn, type RawItem, text } from '../../support/books.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { APART_MS } from './rules.ts'

/** By how much accounts move: of a part of a ledger, or of a client's window. */
type Entries = ReadonlyMap<string, number>

const STATUSES = ['pending', 'succeeded', 'failed', 'expired', 'cancelled']
const COUNTS = STATUSES.map((status) => `count_${status}`)
const FIGURES = ['available_minor', 'in_settlement_minor', 'paid_out_minor', 'written_off_minor']

const ledgerOf = (payment: RawItem): string => {
  const part = amount(payment, 'part')
  return `LEDGER#${text(payment, 'client_id')}${part === 0 ? '' : `#${part}`}`
}

/** What one item, as it stands, puts into each account. */
type Posting = (item: RawItem) => readonly (readonly [account: string, minor: number])[]

/** An open payment is credited by itself, a posted one by its entries. */
const ofPayment: Posting = (item) => {
  const status = text(item, 'status')
  if (!STATUSES.includes(status)) return []
  const ledger = ledgerOf(item)
  const openNet = isOpen(item) ? amount(item, 'net_minor') - amount(item, 'taken_back_minor') : 0
  return [
    [`${ledger} count_${status}`, 1],
    [`${ledger} credited_minor`, openNet],
  ]
}

const ofEntry: Posting = (item) => {
  const net = amount(item, 'net_minor')
  const [client = ''] = partIn(item).split('#')
  if (item['type'] === 'recredit') return [[`LEDGER#${client} available_minor`, net]]
  const credited = [`LEDGER#${partIn(item)} credited_minor`, net] as const
  return item['type'] === 'written_off' ? [credited, [`LEDGER#${client} written_off_minor`, net]] : [credited]
}

/** A settlement's net is in one place at a time; its re-credits were available before. */
const ofSettlement: Posting = (item) => {
  const net = amount(item, 'net_minor')
  const isPaid = item['status'] === 'manual_paid'
  const isRecredited = item['recredited_at'] !== undefined
  const of = (figure: string, minor: number) => [`LEDGER#${text(item, 'client_id')} ${figure}`, minor] as const
  return [
    of('in_settlement_minor', isPaid || isRecredited ? 0 : net),
    of('paid_out_minor', isPaid ? net : 0),
    of('available_minor', -amount(item, 'recredited_minor')),
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
    for (const [account, minor] of (before && posting?.(before)) ?? []) add(entries, account, -minor)
    for (const [account, minor] of (after && posting?.(after)) ?? []) add(entries, account, minor)
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

/** One job writes several changes with one time, and repeats each of them for a minute. */
const JOB_MS = 60_000

/** Items of the ledger whose figures move and whose time does not. */
const withoutTime = (written: readonly TableChange[], nowMs: number): readonly string[] =>
  written.flatMap(({ key, before = {}, after = {} }) => {
    const timed = TIMED.find(({ kind }) => key.pk.startsWith('LEDGER#') && key.sk.startsWith(kind))
    const isMoved = timed?.figures.some((name) => amount(before, name) !== amount(after, name)) === true
    const [was, is] = [before, after].map((item) => text(item, timed?.time ?? ''))
    const isOld = was === is && !(Date.parse(is ?? '') > nowMs - JOB_MS - APART_MS)
    return isMoved && isOld ? [`${key.pk} ${key.sk} moves and keeps the time of an older change`] : []
  })

/**
 * Checked at every single write: what it moves in a client's ledger is what its payments, entries and settlements say, to
 * the rupiah and in the part that is theirs. Both are one transaction, or neither happens.
 */
export const watchLedger = (world: World, seen: Observations): void => {
  world.onWritten.push((written) => {
    seen.problems.push(...withoutTime(written, world.scheduler.nowMs()))
    const [expected, moved] = [due(written), found(written)]
    for (const account of new Set([...expected.keys(), ...moved.keys()])) {
      const [must, does] = [expected.get(account) ?? 0, moved.get(account) ?? 0]
      if (must !== does) seen.problems.push(`${account} moves by ${does} in one write, its documents by ${must}`)
    }
  })
}
