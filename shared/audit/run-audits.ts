import { findClient, requireClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import { type ClientId, ClientIdSchema, type SettlementId } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { balanceOf } from '../ledger/ledger-store.ts'
import { runLimit } from '../settlement/sum-entries.ts'
import { sendForEachClient } from '../settlement/sweep-settlements.ts'
import { addMs, DAY_MS, MINUTE_MS, msBetween } from '../time.ts'
import {
  alertDifferences,
  type ClientVerdict,
  noteFound,
  readClientVerdict,
} from '../verdict/client-verdict-store.ts'
import { confirmedDifferences, isExactly, isSame, MAX_DIFFERENCES } from '../verdict/difference.ts'
import {
  moveAudit,
  noteAudited,
  readSettlementVerdict,
  type SettlementVerdict,
} from '../verdict/settlement-verdict-store.ts'
import {
  ALL_SLICES,
  type AuditDeps,
  dayNumber,
  isLong,
  judgeParts,
  partsOf,
  SUSPENSE,
  settlementPart,
  slicesSince,
  storedIn,
} from './audit-parts.ts'
import { auditHouse } from './judged/audit-house.ts'
import { auditSettlement, RecountSchema, recountSettlement } from './judged/audit-settlement.ts'
import {
  type ClientBooks,
  readableLedger,
  readClientBooks,
  type StoredSettlement,
} from './judged/client-books.ts'

type RunDeps = Pick<
  Deps,
  'table' | 'stage' | 'queues' | 'alerts' | 'sleep' | 'now' | 'monotonicMs' | 'log'
>

/** After this time a run begins no part and no second look, which may wait two minutes: its function has five. */
const RUN_MS = 2 * MINUTE_MS
/** An operator waits for a whole audit. */
const WHOLE_RUN_MS = 2.5 * MINUTE_MS

/**
 * Audits one client, daily (design section 4, "Audit"); within thirty days all of it. A long audit continues in further
 * runs, each of which stores its progress. A difference stands on the client until it is gone or accepted, and is
 * reported each day. Safe to repeat: it changes no money.
 */
export async function auditClient(deps: RunDeps, clientId: ClientId): Promise<void> {
  const client = await findClient(deps, clientId)
  if (client === undefined) return
  const verdict = await readClientVerdict(deps, clientId)
  const today = dayNumber(deps.now())
  if (verdict.auditedDay === today) return
  const day = verdict.progress?.day ?? today
  // Standing differences are judged again every day, and inconclusive parts on the next one.
  const wanted = new Set([...verdict.standing.map(({ part }) => part), ...verdict.unclear])
  const parts = await partsOf(deps, client, slicesSince(verdict.auditedDay, day), wanted)
  const done = verdict.progress?.done ?? ''
  const left = parts.filter(({ key }) => key > done)
  const maxParts = deps.stage.historySteps?.pages
  const { found, byOwnVerdict, stoppedAt, ...judged } = await judgeParts(
    deps,
    left,
    RUN_MS,
    maxParts,
  )
  const unclear = [...new Set([...verdict.unclear, ...judged.unclear])].filter(
    (key) => !found.has(key) && !byOwnVerdict.has(key),
  )
  if (stoppedAt !== undefined) {
    await noteFound(deps, clientId, found, {
      unclear,
      progress: { day, done: left[stoppedAt - 1]?.key ?? done },
    })
    await sendAudit(deps, { client_id: clientId }, clientId)
    return
  }
  const owing = await alertOwing(deps, clientId, verdict)
  const stands = await noteFound(deps, clientId, found, {
    unclear,
    auditedDay: day,
    progress: undefined,
    ...owing,
  })
  deps.log.info('audit.completed', { client_id: clientId, balanced: String(stands.length === 0) })
  await alertDifferences(deps, clientId, stands)
}

/** Starts an audit, or its next run. `group`: a client takes turns with others. */
function sendAudit({ queues }: Pick<Deps, 'queues'>, body: object, group: string) {
  return queues.send('audits', { body, delaySeconds: 0, group })
}

/** A negative balance is reported after this time, and each time again: new payments usually cover it before. */
const PATIENCE_MS = 7 * DAY_MS

/** Alerts operators about a client that owes us money (design section 10). Answers what the verdict keeps of that. */
async function alertOwing(
  deps: RunDeps,
  clientId: ClientId,
  { owesSince, owesToldAt }: ClientVerdict,
) {
  const ledger = await readableLedger(deps, clientId)
  // An unreadable one stands as a difference.
  if (ledger === undefined) return { owesSince, owesToldAt }
  const { pendingMinor, availableMinor } = balanceOf(ledger)
  const owedMinor = -(pendingMinor + availableMinor)
  if (owedMinor <= 0) return { owesSince: undefined, owesToldAt: undefined }
  const now = deps.now()
  const since = owesSince ?? now
  if (msBetween(owesToldAt ?? since, now) < PATIENCE_MS) return { owesSince: since, owesToldAt }
  await deps.alerts.publish({
    kind: 'client.owes',
    subject: clientId,
    message:
      `Client ${clientId} has owed ${owedMinor} IDR since ${since}: refunds and disputes exceed its payments. ` +
      'No settlement is made before new payments cover it. Record a repayment by bank with adjust-ledger --kind ' +
      'recovered, or a write-off with --kind written_off.',
  })
  return { owesSince: since, owesToldAt: now }
}

/** After a worker's death another one follows this much later. */
const CLAIM_MS = 10 * MINUTE_MS

/**
 * Audits a settlement a minute after it was recorded; only then it may be paid out (design sections 4 and 11). A long
 * one takes several runs. Safe to repeat: the claim moves the due time forward.
 */
export async function auditRecorded(deps: RunDeps, settlementId: SettlementId): Promise<void> {
  const verdict = await readSettlementVerdict(deps, settlementId)
  if (verdict?.dueAt === undefined || verdict.dueAt > deps.now()) return
  const claimed = { ...verdict, dueAt: addMs(deps.now(), CLAIM_MS) }
  if (!(await moveAudit(deps, verdict, { dueAt: claimed.dueAt }))) return
  const client = await findClient(deps, verdict.clientId)
  if (client === undefined) return
  const books = await readClientBooks(deps, client)
  const { key, judge } = settlementPart(deps, books, settlementId)
  const stored = storedIn(books, settlementId)
  const judged =
    stored && isLong(deps, stored.settlement)
      ? await judgeLong(deps, books, stored, claimed)
      : { ...(await confirmedDifferences(deps, judge)), seen: [] }
  if (judged === undefined) {
    await sendAudit(deps, { settlement_id: settlementId }, client.clientId)
    return
  }
  const { differences, isInconclusive, seen } = judged
  const at = deps.now()
  if (!isInconclusive) {
    const standing = await noteFound(
      deps,
      verdict.clientId,
      new Map([[key, differences]]),
      undefined,
    )
    // Other standing differences were reported when they were found, and the daily audit checks them again.
    const ofSettlement = standing.filter(({ part }) => part === key)
    await alertDifferences(deps, verdict.clientId, ofSettlement)
  }
  const state = isInconclusive ? 'inconclusive' : 'audited'
  await deps.table.write(
    noteAudited(settlementId, { state, auditedAt: at, dueAt: addMs(at, MINUTE_MS), seen }),
  )
  deps.log.info('audit.completed', {
    client_id: verdict.clientId,
    balanced: String(differences.length === 0),
  })
}

/** The most differences that the verdict keeps between runs. */
const MAX_KEPT = 50

/**
 * One run of the audit of a long settlement. Undefined: its progress is stored, and the next run continues. A difference
 * counts when the next pass over all entries finds it again. `seen`: what that pass must find.
 */
async function judgeLong(
  deps: AuditDeps,
  books: ClientBooks,
  stored: StoredSettlement,
  claimed: SettlementVerdict,
) {
  const isOver = runLimit(deps, RUN_MS)
  // Progress that cannot be read is lost: the pass begins again.
  const from = ifValid(RecountSchema, claimed.progress)
  const { isWhole, differences, ...recounted } = await recountSettlement(
    deps,
    books,
    stored,
    from,
    isOver,
  )
  // Entries after the last whole block are read again by the next run.
  const kept = differences.filter(
    (one, at) => differences.findIndex((other) => isExactly(one, other)) === at,
  )
  if (!isWhole) {
    const progress = { ...recounted, differences: kept.slice(0, MAX_KEPT) }
    await moveAudit(deps, claimed, { dueAt: deps.now(), progress })
    return undefined
  }
  const found = await auditSettlement(deps, books, stored, { ...recounted, differences: kept })
  const lasting = found.filter((difference) =>
    claimed.seen.some((before) => isSame(before, difference)),
  )
  if (found.length === 0 || lasting.length > 0)
    return { differences: lasting, isInconclusive: false, seen: [] }
  return { differences: [], isInconclusive: true, seen: found.slice(0, MAX_KEPT) }
}

/** Findings without a client are reported under this name. */
const SUBJECT = 'gateway'

/** Audits the house journal and all suspense, daily. Differences of one client also stand on that client. */
export async function auditGateway(deps: RunDeps): Promise<void> {
  const { differences } = await confirmedDifferences(deps, () => auditHouse(deps))
  for (const [owner, own] of Map.groupBy(differences, (one) => one.clientId)) {
    const clientId = ifValid(ClientIdSchema, owner)
    const found = own.map(({ clientId: _owner, ...difference }) => difference)
    if (clientId) await noteFound(deps, clientId, new Map([[SUSPENSE, found]]), undefined)
  }
  deps.log.info('audit.completed', {
    client_id: SUBJECT,
    balanced: String(differences.length === 0),
  })
  await alertDifferences(deps, SUBJECT, differences)
}

/** Starts the daily audit: a message for each client, and one for what belongs to no client. Safe to repeat. */
export async function startAudits(deps: Pick<Deps, 'table' | 'queues' | 'log'>) {
  await sendAudit(deps, { gateway: true }, SUBJECT)
  const clients = await sendForEachClient(deps, (clientId) =>
    sendAudit(deps, { client_id: clientId }, clientId),
  )
  deps.log.info('audits.started', { clients })
  return { clients }
}

/**
 * Audits a whole client now, and lists and reports every difference. Inconclusive: its books moved during the read, or
 * are more than one run can read. Changes no money. Throws 404 for an unknown client.
 */
export async function auditLedger(
  deps: AuditDeps & Pick<Deps, 'alerts' | 'log'>,
  clientId: ClientId,
) {
  const client = await requireClient(deps, clientId)
  const parts = await partsOf(deps, client, ALL_SLICES)
  const { found, byOwnVerdict, stoppedAt, unclear } = await judgeParts(deps, parts, WHOLE_RUN_MS)
  const stands = await noteFound(deps, clientId, found, undefined)
  const failed = (cause: unknown) => deps.log.error('alert.failed', { client_id: clientId }, cause)
  // The daily audit reports what stands again.
  await alertDifferences(deps, clientId, stands).catch(failed)
  const differences = [...found.values(), ...byOwnVerdict.values()].flat()
  const isInconclusive = unclear.length > 0 || stoppedAt !== undefined
  const balanced =
    differences.length > 0 ? false : isInconclusive ? ('inconclusive' as const) : true
  return { balanced, differences: differences.slice(0, MAX_DIFFERENCES) }
}
