import { changeTimes, writtenOffIn } from '../audit/judged/audit-figures.ts'
import { isAboutSums } from '../audit/judged/audit-settlement.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import { listEventsOf } from '../event/read-events.ts'
import { type SettlementId, SettlementIdSchema, subjectOfSettlement } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { type Entry, netsOf } from '../journal/entry.ts'
import { standingFigures } from '../journal/payment-money.ts'
import {
  correctShards,
  correctWindow,
  type ShardFigure,
  WINDOW_CHAIN,
  WINDOW_SUMS,
} from '../ledger/correct-store.ts'
import type { Ledger } from '../ledger/ledger-store.ts'
import {
  COUNT_FIELD,
  countTransition,
  creditShard,
  moveOpenCredit,
  putShards,
} from '../ledger/shard-store.ts'
import { NO_SUMS, type Window, writeOffInWindow } from '../ledger/window-store.ts'
import { less, type Minor, minor, plus, ZERO } from '../money.ts'
import { readAuditRecords } from '../operator/audit-record-store.ts'
import type { Payment, StoredPayment } from '../payment/payment.ts'
import { moneyOf } from '../posting/payment-entries.ts'
import { ELIGIBLE_AGE_MS } from '../settlement/settlement.ts'
import { correctSums } from '../settlement/settlement-store.ts'
import { attributeName } from '../table/attributes.ts'
import { shardKey, windowKey } from '../table/keys.ts'
import { replaceRow } from '../table/replace-row.ts'
import { LEDGER_SHARDS } from '../table/schema.ts'
import type { Step } from '../table/step.ts'
import { addMs, later } from '../time.ts'
import { compare, type Difference, missingRow } from '../verdict/difference.ts'
import type { Findings, Plan, RecountDeps } from './plan.ts'
import type { PlannedSettlement } from './plan-settlements.ts'

const CREDITED = 'ledger.credited_minor'
const SHARD_FIGURES = fieldsByName<ShardFigure>('ledger', [
  'creditedMinor',
  ...Object.values(COUNT_FIELD),
])
const SUM_FIELDS = fieldsByName('window', WINDOW_SUMS)
const CHAIN_FIELDS = fieldsByName('window', WINDOW_CHAIN)

/**
 * Sets the figures of shards and window, and the sums of settlements, in one transaction. Payments
 * and adjustments of the plan move their own figures with them.
 */
export async function planFigures(
  deps: RecountDeps,
  { books, differences }: Findings,
  planned: readonly PlannedSettlement[],
): Promise<Plan> {
  const { clientId, ledger } = books
  if (ledger === undefined) return []
  const summed = new Map<string, Step>(
    planned.flatMap(({ after, sums }) =>
      sums ? [[after.settlementId, correctSums(after, sums)]] : [],
    ),
  )
  const { lastSettlementId: lastId } = ledger.window
  const gone = differences.filter(
    ({ what, id, found }) => what === 'settlement' && found === 'missing' && id === lastId,
  )
  const figures = differences.filter(isFigure)
  const isPaid = figures.some(
    ({ what, expected, found }) =>
      what === 'window.paid_out_minor' && Number(found) > Number(expected),
  )
  // A lost settlement that may be paid: the window does not go back.
  if (lastId && gone.length > 0 && (isPaid || (await mayBePaid(deps, books, lastId)))) return []
  const effects = planned.map(effectOf)
  const lines = [...SHARD_FIGURES.keys(), ...SUM_FIELDS.keys()].flatMap((what) => {
    const stored = foundIn(ledger, what)
    const { expected, found } = figures.find((one) => one.what === what) ?? {
      expected: stored,
      found: stored,
    }
    const moved = effects.reduce((sum, effect) => sum + (effect[what] ?? 0), 0)
    // A sum of zero is absent.
    return compare(what, clientId, Number(expected) + moved, Number(found))
  })
  const chain = figures.filter(({ what }) => CHAIN_FIELDS.has(what))
  const gaps = new Map<ShardFigure, number>()
  const figuresAfter = chainOf(books, planned, chain.length + gone.length > 0)
  for (const { what, expected, found } of lines) {
    const [figure, sum] = [SHARD_FIGURES.get(what), SUM_FIELDS.get(what)]
    if (figure) gaps.set(figure, Number(expected) - Number(found))
    if (sum) figuresAfter[sum] = minor(Number(expected))
  }
  const first = ledger.shards.find(({ number }) => number === 0)
  const ofSums = differences.filter((one) => isAboutSums(one) && summed.has(one.id))
  const isOfWindow = [...lines, ...chain].some(({ what }) => !SHARD_FIGURES.has(what))
  // The plan's other writes bring the sources up to these figures.
  if (lines.length + chain.length + ofSums.length === 0) return [{ ends: figures }]
  if (gaps.size > 0 && first === undefined) return []
  const steps = {
    shard:
      first && gaps.size > 0 ? correctShards(clientId, first, { gaps, at: deps.now() }) : undefined,
    window: isOfWindow ? correctWindow(clientId, ledger.window, figuresAfter) : undefined,
    ...Object.fromEntries(summed),
  }
  const ends = differences.filter(
    (one) =>
      isFigure(one) ||
      gone.includes(one) ||
      // The event announced the sums that are written again.
      (summed.has(one.id) && /^settlement(\.|_event\.body$)/.test(one.what)),
  )
  const changes = [...gone, ...lines, ...chain, ...ofSums]
  return [{ subject: clientId, clientId, repair: 'figures', lines: changes, ends, steps }]
}

function isFigure({ what }: Difference) {
  return [SHARD_FIGURES, SUM_FIELDS, CHAIN_FIELDS].some((fields) => fields.has(what))
}

/** The fields of an item, by the names that differences give them. */
function fieldsByName<Field extends string>(item: string, fields: readonly Field[]) {
  return new Map(fields.map((field) => [`${item}.${attributeName(field)}`, field]))
}

/** Closed by an operator, claimed by a batch, or after a settlement that no list has. */
async function mayBePaid(deps: RecountDeps, { unsettled }: ClientBooks, id: SettlementId) {
  const { records } = await readAuditRecords(deps, id)
  const events = await listEventsOf(deps, subjectOfSettlement(id))
  const start = addMs(unsettled.span.start, -ELIGIBLE_AGE_MS)
  const isNext = events.every((event) => event?.body.includes(`"period_start":"${start}"`))
  return !isNext || records.some(({ action }) => action !== 'trigger-settlement')
}

/** How the plan moves what the audit expects, apart from writes that move the figures too. */
function effectOf({
  before,
  after,
  sums,
  newEntry,
}: PlannedSettlement): Readonly<Record<string, number>> {
  const isNewlyPaid = after.status === 'manual_paid' && before.status !== 'manual_paid'
  const isRecredited = after.recreditedAt !== undefined && before.recreditedAt === undefined
  const takenMinor = isNewlyPaid || isRecredited ? after.netMinor : ZERO
  const grownMinor = sums ? less(sums.netMinor, before.netMinor) : ZERO
  const againMinor = sums ? less(sums.recreditedMinor, before.recreditedMinor) : ZERO
  return {
    [CREDITED]: grownMinor - againMinor + (newEntry?.netMinor ?? 0),
    'window.in_settlement_minor': grownMinor - takenMinor,
    'window.paid_out_minor': isNewlyPaid ? after.netMinor : 0,
    'window.available_minor': newEntry?.carried?.netMinor ?? 0,
    'window.written_off_minor': sums ? writtenOffIn(sums.totals) - writtenOffIn(before.totals) : 0,
  }
}

function foundIn({ window, shards }: Ledger, what: string) {
  const field = SUM_FIELDS.get(what)
  if (field) return window[field]
  const figure = SHARD_FIGURES.get(what) ?? 'creditedMinor'
  return shards.reduce((sum, shard) => sum + shard[figure], 0)
}

/** The time of the last change, and the chain that the settlements show, if it differs. */
function chainOf(
  { unsettled }: ClientBooks,
  planned: readonly PlannedSettlement[],
  isWrong: boolean,
): Partial<Window> {
  const rows = planned.map(({ after }) => ({ settlement: after, item: {} }))
  const last = planned.at(-1)?.after.settlementId
  return {
    ...(isWrong && {
      settledUntil: unsettled.span.start,
      lastSettlementId: last && ifValid(SettlementIdSchema, last),
    }),
    changedAt: changeTimes(rows).toSorted().at(-1),
  }
}

/** Lost items of the ledger, as create-client wrote them. Their sums follow with the next plan. */
export async function planLedger(
  deps: RecountDeps,
  { books: { clientId, ledger, unsettled, settlements }, differences }: Findings,
): Promise<Plan> {
  const ends = differences.filter(({ what }) => /^(ledger|ledger_shard|window)$/.test(what))
  if (ends.length === 0) return []
  const { start } = unsettled.span
  const closedUntil = later(start, ledger?.window.closedUntil ?? start)
  const window: Window = {
    settledUntil: start,
    closedUntil,
    ...NO_SUMS,
    lastSettlementId: settlements.at(-1)?.settlement.settlementId,
  }
  const keys = [
    ...[...Array(LEDGER_SHARDS).keys()].map((number) => shardKey(clientId, number)),
    windowKey(clientId),
  ]
  const items = await deps.table.getMany(keys)
  const rows = [
    ...Object.values(putShards(clientId, closedUntil)),
    replaceRow(windowKey(clientId), window, undefined),
  ]
  const lost = rows.filter((_, at) => items[at] === undefined)
  const lines = lost.flatMap(({ key }) => missingRow('ledger', key.sk))
  const steps = Object.fromEntries(lost.map((row) => [row.key.sk, row] as const))
  return lost.length === 0
    ? []
    : [{ subject: clientId, clientId, repair: 'put', lines, ends, steps }]
}

/**
 * Moves shard and written-off sum as the audit's expectation moves. So figures can be corrected
 * before or after this repair.
 */
export function shiftFigures(
  { now }: Pick<RecountDeps, 'now'>,
  { ledger, unsettled }: ClientBooks,
  {
    before,
    after,
    entries,
    isInJournal,
  }: {
    readonly before: StoredPayment
    readonly after: Payment
    readonly entries: readonly Entry[]
    readonly isInJournal: boolean
  },
) {
  // Entries before the last settlement's end are in that settlement's own sums.
  const counted = entries.filter(({ eligibleAt }) => eligibleAt >= unsettled.span.start)
  const netMinor = plus(less(openNet(after), isInJournal ? ZERO : openNet(before)), netsOf(counted))
  const addMinor = netsOf(counted.filter(({ type }) => type === 'written_off'))
  const window = addMinor === 0 ? undefined : ledger?.window
  const writeOff = window && {
    readMinor: window.writtenOffMinor,
    addMinor,
    postedAt: later(now(), window.closedUntil),
  }
  return {
    ledger: ledgerStep(before, after, netMinor, now()),
    window: writeOff && writeOffInWindow(after.clientId, writeOff),
  }
}

function ledgerStep(
  before: StoredPayment,
  after: Payment,
  netMinor: Minor,
  now: ReturnType<RecountDeps['now']>,
): Step | undefined {
  const from = before.status === 'creating' ? undefined : before.status
  if (from === after.status)
    return netMinor === 0 ? undefined : moveOpenCredit(after, netMinor, now)
  return after.status === 'succeeded'
    ? creditShard({ ...after, from }, netMinor, now)
    : countTransition({ ...after, from, to: after.status })
}

function openNet(payment: StoredPayment) {
  return payment.status === 'succeeded' && payment.openAt !== undefined
    ? standingFigures(moneyOf(payment)).netMinor
    : ZERO
}
