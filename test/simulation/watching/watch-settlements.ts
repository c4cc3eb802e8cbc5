import { isDeepStrictEqual } from 'node:util'
import { amount, booksOf, type RawItem, sum, text } from '../../support/recount/books.ts'
import type { Process } from '../world/process.ts'
import { clientRow, verdictRow } from '../world/rows.ts'
import { APART_MS, becomes, DAY_MS, isChanged, type Rules, rewrites, watchRules, watchStates } from '../world/rules.ts'
import type { World } from '../world/world.ts'

const NEW_BANK_MS = 3 * DAY_MS
const ENDS = ['settled_at', 'recredited_at', 'bank_reference']

const isPaid = (item: RawItem) => item['status'] === 'manual_paid'

const always: Rules = {
  'is recorded and not listed for payout, or listed and not recorded': ({ after }) =>
    (after['status'] === 'recorded') !== (after['work'] === 'payout'),
  'is paid out without time and reference, or has these without being paid out': ({ after }) =>
    ['settled_at', 'bank_reference'].some((name) => isPaid(after) !== (after[name] !== undefined)),
}

const whenNew: Rules = {
  ...always,
  'begins in another status than recorded': ({ after }) => after['status'] !== 'recorded',
  'begins with attributes of its end': ({ after }) => [...ENDS, 'notes'].some((name) => after[name] !== undefined),
  'has an empty window': ({ after }) => text(after, 'swept_from') >= text(after, 'swept_until'),
  'is recorded without a due audit': ({ written, after }) => {
    const verdict = written.find(({ key }) => key.pk === `VERDICT#${text(after, 'settlement_id')}`)?.after
    return verdict?.['state'] !== 'waiting' || verdict['work'] !== 'audit'
  },
}

const whenChanged: Rules = {
  ...always,
  'changes what it is, or how it ended': rewrites(
    'client_id swept_from swept_until previous_id bank created_at triggered_by',
    ...ENDS,
  ),
  'changes from one end to another': (write) => write.before['status'] !== 'recorded' && isChanged(write, 'status'),
}

/** Figures that an operator may be asked to confirm. */
type Asked = Readonly<Record<string, unknown>>

/** A client's differences that no operator accepted. */
const standing = (verdict: RawItem = {}): readonly object[] => {
  const named = (one: object) =>
    JSON.stringify(['what', 'id', 'expected', 'found'].map((name) => Reflect.get(one, name)))
  const accepted = new Set(((verdict['accepted'] ?? []) as readonly object[]).map(named))
  return ((verdict['standing'] ?? []) as readonly object[]).filter((one) => !accepted.has(named(one)))
}

const payoutRules = (asked: Asked): Rules => ({
  'is paid out before its audit': ({ world, after }) =>
    verdictRow(world, after['settlement_id'])?.['state'] !== 'audited',
  'is paid out although its client has open differences': ({ world, after }) =>
    standing(verdictRow(world, after['client_id'])).length > 0,
  'is paid out although payouts of its client are on hold': ({ world, after }) =>
    clientRow(world, after['client_id'])['payout_hold'] !== undefined,
  'is paid out without a row for its bank reference': ({ written, after }) =>
    !written.some(
      ({ key, before, after: kept }) =>
        key.sk === 'PAYOUT' && before === undefined && kept?.['settlement_id'] === after['settlement_id'],
    ),
  'is paid out with another unproven amount than the operator confirmed': ({ before }) =>
    amount(before, 'unproven_minor') !== Number(asked['unproven'] ?? 0),
  'is paid out to a new account without a confirmation, or with one to an old account': ({ before, nowMs }) => {
    const { since, isChange } = Object(before['bank'])
    const untilMs = isChange === true ? Date.parse(since) + NEW_BANK_MS : 0
    return Math.abs(untilMs - nowMs) > APART_MS && untilMs > nowMs !== (asked['new_bank'] === true)
  },
  'is paid out with other figures in its audit record than the operator confirmed': ({ written, after }) => {
    const record = written.find(({ key }) => key.pk === `AUDIT#${text(after, 'settlement_id')}`)?.after
    return !isDeepStrictEqual(Object(Object(record)['after'])['confirm'], asked)
  },
})

const debtRules = (asked: Asked): Rules => ({
  'is paid out with another debt of its client than the operator confirmed': ({ world, after }) =>
    owedBy(world, text(after, 'client_id')) !== Number(asked['owed'] ?? 0),
})

/** By how much the client's balance, pending and available together, is below zero. */
const owedBy = (world: World, clientId: string): number => {
  const { shards, windows } = booksOf(world.table.items(`LEDGER#${clientId}`))
  const [window = {}] = windows
  const out = amount(window, 'in_settlement_minor') + amount(window, 'paid_out_minor')
  return Math.max(0, out - sum(shards, 'credited_minor'))
}

/** Checked at every write to a settlement: what spec 3.2 and design sections 4, 10 and 11 let it do. */
export const watchSettlementRows = (world: World): void => {
  const asked = new WeakMap<Process, Asked>()
  /** How many writes to ledgers there had been when a payout began. Without further ones the debt is as shown. */
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
    'names a bank account that its client no longer had when the entries were read': ({ after, worker }) => {
      const listedMs = worker && world.listedMs.get(worker)
      return listedMs !== undefined && !hadSince(after, listedMs)
    },
  }

  watchRules(world, ({ sk }, write) => {
    if (sk !== 'SETTLEMENT') return undefined
    const { isNew, worker, written } = write
    if (isNew) return { ...whenNew, ...ofAccount }
    if (!becomes(write, 'status', 'manual_paid')) return whenChanged
    const confirmed = (worker && asked.get(worker)) ?? {}
    // The payout itself writes to the ledger.
    const own = written.filter(({ key }) => key.pk.startsWith('LEDGER#')).length
    const hasMoved = worker === undefined || moves - (startedAt.get(worker) ?? 0) > own
    return { ...whenChanged, ...payoutRules(confirmed), ...(hasMoved ? {} : debtRules(confirmed)) }
  })
}
