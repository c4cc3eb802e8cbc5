import { gatewayParts } from '../audit/gateway-parts.ts'
import { findAuditedClient } from '../audit/judged/client-books.ts'
import { conflict, notFound } from '../errors.ts'
import { type ClientId, ClientIdSchema, sha256Hex } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { fieldsText } from '../journal/entry.ts'
import { minor } from '../money.ts'
import {
  findAnyHead,
  headOf,
  readAuditRecords,
  recordChange,
} from '../operator/audit-record-store.ts'
import { dayNumber, MINUTE_MS, timeLimit } from '../time.ts'
import {
  type Difference,
  distinct,
  isUnknownName,
  MAX_DIFFERENCES,
  tellMore,
  withoutClient,
} from '../verdict/difference.ts'
import { addDifferences, type ByPart } from '../verdict/verdict-store.ts'
import {
  findDifferences,
  inTheirParts,
  type Parts,
  readParts,
  type Unread,
} from './find-differences.ts'
import { type Findings, isLeft, type Plan, type RecountDeps, type Write, writesOf } from './plan.ts'
import { planFigures, planLedger } from './plan-figures.ts'
import { planPayments } from './plan-payments.ts'
import { planSettlements } from './plan-settlements.ts'
import { planSuspense, planTotals } from './plan-suspense.ts'
import { planAdjustments, planTrail, registration, withChains } from './plan-trail.ts'

type RecountInput = {
  /** Without it the house, the registers, and suspense of no client. */
  readonly clientId?: ClientId | undefined
  /** The digest of the plan to write. Without it nothing is written. */
  readonly plan?: string | undefined
  readonly operator: string
} & Parts

/**
 * Repairs partly restored transactions (design section 13, "Torn rows"). Derives a plan from a new
 * audit, and answers the plan with its digest. With this digest it derives the plan again and
 * writes it, each write in one transaction with its audit record, on condition of what was found.
 * A call reads the history newest first, because a restore tears the newest rows. Without time for
 * all of it, the answer has `next`: the plan is written with `until`, and a call with `from` goes
 * on. After a crash the next plan has the rest. What a plan of a client does not repair stands on
 * its verdict until an audit no longer finds it. Throws 404 for an unknown client, and 409 if the
 * plan is another now.
 */
export async function recountLedger(deps: RecountDeps, input: RecountInput) {
  const { clientId, plan: wanted, operator } = input
  const derived =
    clientId === undefined
      ? await planGateway(deps, input)
      : await planClient(deps, clientId, input)
  const { notRepairable, unread, standing } = derived
  const writes = writesOf(derived.plan)
  const left = [...derived.plan.filter(isLeft), ...unread.left]
  const { next } = unread
  const plan = digestOf(writes)
  if (wanted !== undefined && wanted !== plan) {
    throw conflict(
      'the plan is another now; nothing was written',
      'Run recount-ledger without plan, and read the new plan.',
    )
  }
  const refused = wanted === undefined ? [] : await writeAll(deps, writes, operator)
  if (clientId !== undefined && standing) await addDifferences(deps, clientId, standing)
  const shown = writes
    .filter((write) => !refused.includes(write))
    .map(({ subject, repair, lines }) => ({ subject, repair, differences: lines }))
  return {
    plan,
    ...(wanted === undefined && { writes: shown }),
    ...(wanted !== undefined && { written: shown }),
    left: [
      ...left.map(({ id, why }) => ({ id, why })),
      ...refused.map(({ subject: id }) => ({ id, why: OVERTAKEN })),
    ],
    not_repairable: notRepairable.slice(0, MAX_DIFFERENCES),
    ...tellMore(notRepairable),
    // The call has read everything that is asked for, and has written all of its plan.
    complete: next === input.until && [...unread.left, ...refused].length === 0,
    ...(next !== undefined && { next }),
  }
}

const OVERTAKEN = 'it changed after the plan was derived; run recount-ledger again'

/** Equal plans have equal digests: of figures the change counts, because payments continue. */
function digestOf(writes: readonly Write[]) {
  const text = writes.map(({ subject, repair, lines, record }) => [
    subject,
    repair,
    fieldsText({ ...record?.after }),
    ...lines.map(({ what, id, expected, found }) =>
      typeof expected === 'number' && typeof found === 'number'
        ? [what, id, expected - found]
        : [what, id, expected, found],
    ),
  ])
  return sha256Hex(JSON.stringify(text))
}

/** Answers the writes that were refused. Figures are counted from all the writes before them. */
async function writeAll(deps: RecountDeps, writes: readonly Write[], operator: string) {
  const refused: Write[] = []
  for (const write of writes) {
    const { subject, clientId, repair, lines, record, steps } = write
    if (repair === 'figures' && refused.length > 0) {
      refused.push(write)
      continue
    }
    const repaired = lines.slice(0, MAX_DIFFERENCES)
    const newRecord = {
      subject,
      clientId,
      operator,
      action: record?.action ?? 'recount-ledger',
      after: record ? { ...record.after, recounted: true } : { repaired },
      key: record?.key,
      head: await chainEnd(deps, subject, record !== undefined),
    }
    if (!(await recordChange(deps, newRecord, steps)).applied) refused.push(write)
  }
  return refused
}

/**
 * A restore may have torn the head from the records. A lost record that is written anew takes the
 * place that the head shows; another record follows whichever shows more.
 */
async function chainEnd(deps: RecountDeps, subject: string, isLostRecord: boolean) {
  const shown = headOf((await readAuditRecords(deps, subject)).records)
  const { head, last } = await findAnyHead(deps, subject)
  const isAhead = (head?.number ?? 0) >= (shown?.number ?? 0)
  return { last, follows: !isLostRecord && isAhead ? head : shown }
}

type Derived = {
  readonly plan: Plan
  readonly notRepairable: readonly Difference[]
  readonly unread: Unread
  /** What the plan does not repair of a client. */
  readonly standing?: ByPart
}

/** After this time no payment is planned and no settlement is summed. The writes follow. */
const PLAN_MS = 10 * MINUTE_MS

async function planClient(deps: RecountDeps, clientId: ClientId, asked: Parts): Promise<Derived> {
  const isOver = timeLimit(deps, PLAN_MS)
  const client = await findAuditedClient(deps, clientId)
  if (client === undefined) throw notFound('client')
  const { differences: all, byPart, unread, ...found } = await findDifferences(deps, client, asked)
  // A name of a later release is only told: it gets no repair, and no figure waits.
  const differences = all.filter((one) => !isUnknownName(one))
  if (differences.length === 0) return { plan: [], notRepairable: all, unread }
  const findings = { ...found, differences, isOver }
  const repaired = { ...findings, books: withWrittenOff(findings.books, differences) }
  const trail = await planTrail(deps, findings)
  const suspense = await planSuspense(deps, differences, clientId)
  const payments = await planPayments(deps, repaired)
  // The search for a lost entry of an adjustment may take all the time that is left.
  // A lost record goes before the figures.
  const isTorn = differences.some(({ what, id }) => what === 'audit_record' && id === clientId)
  const adjustments = await planAdjustments(deps, isTorn ? findings : repaired)
  const moved = [...adjustments, ...payments]
  const plannedEntries = writesOf(moved).flatMap(({ entries }) => entries ?? [])
  const isWhole = findings.isWhole && !payments.some(isLeft)
  const settlements = await planSettlements(deps, findings, { plannedEntries, isWhole, isOver })
  const ledger = await planLedger(deps, findings)
  const figures = await planFigures(deps, findings, settlements.settlements)
  // Adjustments and payments move the figures that the plan sets before.
  const possible = [...trail, ...ledger, ...suspense, ...settlements.plan, ...figures, ...moved]
  // Figures that are set now would hide what else is wrong with entries and settlements.
  const isBlocked = remaining(differences, possible).some(({ what }) => OF_MONEY.test(what))
  const unsure = findings.hasMoved ? MOVED : settlements.isUnclear ? UNCLEAR : undefined
  const why = unsure ?? (isBlocked ? BLOCKED : undefined)
  const safe = why ? withoutFigures(possible, clientId, why) : possible
  const plan = await withChains(deps, safe, differences, clientId)
  const unrepaired = remaining(
    differences,
    plan.filter((one) => !isLeft(one)),
  )
  const standing = inTheirParts(byPart, unrepaired)
  return { plan, notRepairable: remaining(all, plan), unread, standing }
}

const OF_MONEY = /^(settlement|settlement_event|entry|payment|event|adjustment|part)(\.|$)/

const MOVED = 'its figures changed during the audit; run recount-ledger again'
const UNCLEAR = 'its window shows a payout, but not of which settlement: ask the bank'
const BLOCKED = 'its figures wait until what is not repairable is accepted by accept-difference'

function withoutFigures(plan: Plan, id: ClientId, why: string): Plan {
  const isKept = (one: Plan[number]) => !('repair' in one && one.repair === 'figures')
  const ends = plan.flatMap((one) => (isKept(one) ? [] : one.ends))
  const kept = plan.filter(isKept)
  return ends.length > 0 ? [...kept, { id, why, ends }] : kept
}

function remaining(differences: readonly Difference[], plan: Plan) {
  const ended = new Set(plan.flatMap(({ ends }) => ends))
  return differences.filter((difference) => !ended.has(difference))
}

/** The sum decides how much a won dispute pays back, so the audit's sum counts. */
function withWrittenOff(
  books: Findings['books'],
  differences: readonly Difference[],
): Findings['books'] {
  const sum = differences.find(({ what }) => what === 'window.written_off_minor')
  if (sum === undefined || books.ledger === undefined) return books
  const window = { ...books.ledger.window, writtenOffMinor: minor(Number(sum.expected)) }
  return { ...books, ledger: { ...books.ledger, window } }
}

/** Differences of clients are planned too, because the house is read once for all. */
async function planGateway(deps: RecountDeps, asked: Parts): Promise<Derived> {
  const day = dayNumber(deps.now())
  const parts = await gatewayParts(deps, { historyDay: undefined, standing: [] }, day)
  const { byPart, unread } = await readParts(deps, parts, asked)
  const all = distinct([...byPart.values()].flat())
  const differences = all.filter((one) => !isUnknownName(one))
  const byOwner = Map.groupBy(differences, ({ clientId }) => clientId)
  const plans = [await planTotals(deps, differences)]
  for (const [owner, own] of byOwner) {
    const clientId = ifValid(ClientIdSchema, owner)
    plans.push(await planSuspense(deps, own, clientId))
    const unregistered = own.filter(({ what }) => what === 'client')
    const client = clientId && unregistered.length > 0 && (await findAuditedClient(deps, clientId))
    if (client) plans.push([registration(client, unregistered)])
  }
  let plan: Plan = plans.flat()
  for (const [owner, own] of byOwner) plan = await withChains(deps, plan, own, owner)
  return { plan, notRepairable: remaining(all, plan).map(withoutClient), unread }
}
