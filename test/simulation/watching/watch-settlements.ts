import { isDeepStrictEqual } from 'node:util'
import { amount, booksOf, type RawItem, sum, text } from '../../support/recount/books.ts'
import type { Process } from '../world/process.ts'
import { clientRow, verdictRow } from '../world/rows.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { APART_MS, becomes, DAY_MS, isChanged, type Rules, rewrites, watchRules, watchStates } from './rules.ts'

/** So long a function may take from its read of a client to what it writes. */
const RUN_MS = 5 * 60_000
const NEW_BANK_MS = 3 * DAY_MS
const ENDS = ['settled_at', 'recredited_at', 'bank_reference']

const isPaid = (item: RawItem) => item['status'] === 'manual_paid'

/** True of a settlement from its record on. */
const fromTheRecord: Rules = {
  'has left the list of payouts, or stands on it, wrongly': ({ after }) =>
    (after['status'] === 'recorded') !== (after['work'] === 'payout'),
  'was paid out at no time, or at one without being paid out': ({ after }) =>
    ['settled_at', 'bank_reference'].some((name) => isPaid(after) !== (after[name] !== undefined)),
}

const whenRecorded: Rules = {
  ...fromTheRecord,
  'does not begin as recorded': ({ after }) => after['status'] !== 'recorded',
  'begins with an end': ({ after }) => [...ENDS, 'notes'].some((name) => after[name] !== undefined),
  'is of no time': ({ after }) => text(after, 'swept_from') >= text(after, 'swept_until'),
  'is not to be audited': ({ written, after }) => {
    const verdict = written.find(({ key }) => key.pk === `VERDICT#${text(after, 'settlement_id')}`)?.after
    return verdict?.['state'] !== 'waiting' || verdict['work'] !== 'audit'
  },
}

const whenChanged: Rules = {
  ...fromTheRecord,
  'is written otherwise than it was': rewrites(
    'client_id swept_from swept_until previous_id bank created_at triggered_by',
    ...ENDS,
  ),
  'goes from one end to another': (write) => write.before['status'] !== 'recorded' && isChanged(write, 'status'),
}

/** Figures that an operator may be asked to confirm. */
type Asked = Readonly<Record<string, unknown>>

/** A client's differences that were not accepted. */
const standing = (verdict: RawItem = {}): readonly object[] => {
  const named = (one: object) =>
    JSON.stringify(['what', 'id', 'expected', 'found'].map((name) => Reflect.get(one, name)))
  const accepted = new Set(((verdict['accepted'] ?? []) as readonly object[]).map(named))
  return ((verdict['standing'] ?? []) as readonly object[]).filter((one) => !accepted.has(named(one)))
}

const payoutRules = (asked: Asked): Rules => ({
  'is paid out and was not audited': ({ world, after }) =>
    verdictRow(world, after['settlement_id'])?.['state'] !== 'audited',
  'is paid out although something stands on its client': ({ world, after }) =>
    standing(verdictRow(world, after['client_id'])).length > 0,
  'is paid out although its payouts are on hold': ({ world, after }) =>
    clientRow(world, after['client_id'])['payout_hold'] !== undefined,
  'is paid out by a reference that is not kept': ({ written, after }) =>
    !written.some(
      ({ key, before, after: kept }) =>
        key.sk === 'PAYOUT' && before === undefined && kept?.['settlement_id'] === after['settlement_id'],
    ),
  'is paid out with another unproven amount than the one that was told': ({ before }) =>
    amount(before, 'unproven_minor') !== Number(asked['unproven'] ?? 0),
  'is paid out to a new account that was not confirmed, or one was told that is not new': ({ before, nowMs }) => {
    const { since, isChange } = Object(before['bank'])
    const untilMs = isChange === true ? Date.parse(since) + NEW_BANK_MS : 0
    return Math.abs(untilMs - nowMs) > APART_MS && untilMs > nowMs !== (asked['new_bank'] === true)
  },
  'is paid out, and its record has other figures than the operator confirmed': ({ written, after }) => {
    const record = written.find(({ key }) => key.pk === `AUDIT#${text(after, 'settlement_id')}`)?.after
    return !isDeepStrictEqual(Object(Object(record)['after'])['confirm'], asked)
  },
})

const debtRules = (asked: Asked): Rules => ({
  'is paid out with another debt of its client than the one that was told': ({ world, after }) =>
    owedBy(world, text(after, 'client_id')) !== Number(asked['owed'] ?? 0),
})

/** What the client has less than nothing of: pending and available together. */
const owedBy = (world: World, clientId: string): number => {
  const { shards, windows } = booksOf(world.table.items(`LEDGER#${clientId}`))
  const [window = {}] = windows
  const out = amount(window, 'in_settlement_minor') + amount(window, 'paid_out_minor')
  return Math.max(0, out - sum(shards, 'credited_minor'))
}

/** Checked at every write to a settlement: what spec 3.2 and design sections 4, 10 and 11 let it do. */
export const watchSettlementRows = (world: World, seen: Observations): void => {
  const asked = new WeakMap<Process, Asked>()
  /** How often any ledger had moved when a payout began: what has not moved since is what was told. */
  const startedAt = new WeakMap<Process, number>()
  let moves = 0
  const { since } = watchStates(world, / CLIENT$/, 'client_id')
  const hadSince = ({ client_id: clientId, bank }: RawItem, ms: number) =>
    since(String(clientId), ms).some((client) => isDeepStrictEqual(client['bank'], bank))

  world.onStarted.push((process, event) => {
    if (process.name !== 'mark-settlement-paid') return
    asked.set(process, Object(Object(event).confirm))
    startedAt.set(process, moves)
  })
  world.onChange.push(({ key }) => {
    if (key.pk.startsWith('LEDGER#')) moves++
  })

  /** Design section 4: the floor and the account are those of the moment of the record, not of one before the sum. */
  const ofAccount: Rules = {
    'is to go to an account that its client had before': ({ after, nowMs }) => !hadSince(after, nowMs - RUN_MS + 1),
    'is to go to an account that its client had before its payments were read': ({ after, worker }) => {
      const listedMs = worker && world.listedMs.get(worker)
      return listedMs !== undefined && !hadSince(after, listedMs)
    },
  }

  watchRules(world, seen, ({ sk }, write) => {
    if (sk !== 'SETTLEMENT') return undefined
    const { isNew, worker, written } = write
    if (isNew) return { ...whenRecorded, ...ofAccount }
    if (!becomes(write, 'status', 'manual_paid')) return whenChanged
    const confirmed = (worker && asked.get(worker)) ?? {}
    // The payout's own write is the first move after its beginning.
    const own = written.filter(({ key }) => key.pk.startsWith('LEDGER#')).length
    const hasMoved = worker === undefined || moves - (startedAt.get(worker) ?? 0) > own
    return { ...whenChanged, ...payoutRules(confirmed), ...(hasMoved ? {} : debtRules(confirmed)) }
  })
}
