import type { Deps } from '../deps.ts'
import { notFound } from '../errors.ts'
import type { ClientId, SettlementId } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { balanceOf } from '../ledger/ledger-store.ts'
import { runLimit } from '../settlement/sum-entries.ts'
import { sendForEachClient } from '../settlement/sweep-settlements.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { addMs, DAY_MS, MINUTE_MS, msBetween } from '../time.ts'
import {
  alertDifferences,
  type ClientVerdict,
  readClientVerdict,
  recordFindings,
} from '../verdict/client-verdict-store.ts'
import {
  auditAnswer,
  compare,
  confirmedDifferences,
  isIdentical,
  isSame,
} from '../verdict/difference.ts'
import {
  moveAudit,
  readSettlementVerdict,
  recordAuditResult,
  type SettlementVerdict,
} from '../verdict/settlement-verdict-store.ts'
import {
  type AuditDeps,
  dayNumber,
  isAlwaysDue,
  isLong,
  judgeParts,
  partsOf,
  REGISTER,
  settlementIn,
  settlementPart,
  slicesSince,
} from './audit-parts.ts'
import { auditSettlement, RecountSchema, recountSettlement } from './judged/audit-settlement.ts'
import {
  type ClientBooks,
  findAuditedClient,
  readableLedger,
  readClientBooks,
  type StoredSettlement,
} from './judged/client-books.ts'

type RunDeps = Pick<
  Deps,
  'table' | 'stage' | 'queues' | 'alerts' | 'sleep' | 'now' | 'monotonicMs' | 'log'
>

/**
 * After this time a run begins no part and no second check, which may wait two minutes. The
 * function has five minutes.
 */
const RUN_MS = 2 * MINUTE_MS
/** The same for an operator, who waits for a whole audit. */
const WHOLE_RUN_MS = 2.5 * MINUTE_MS

/**
 * Audits one client daily, and all of its history within thirty days (design section 4, "Audit"). A
 * long audit takes several runs, each of which stores its progress. A difference stands on the
 * client until it is gone or accepted, and is reported each day. Safe to repeat: an audit changes
 * no money.
 */
export async function auditClient(deps: RunDeps, clientId: ClientId): Promise<void> {
  const client = await findAuditedClient(deps, clientId)
  if (client === undefined) return reportMissingClient(deps, clientId)
  const verdict = await readClientVerdict(deps, clientId)
  const today = dayNumber(deps.now())
  if (verdict.auditedDay === today) return
  const day = verdict.progress?.day ?? today
  const wanted = new Set([...verdict.standing.map(({ part }) => part), ...verdict.unclear])
  const parts = await partsOf(deps, client, slicesSince(verdict.auditedDay, day), wanted)
  const lastKey = verdict.progress?.done ?? ''
  const partsLeft = parts.filter(({ key }) => key > lastKey)
  const maxParts = deps.stage.historySteps?.pages
  const { findings, byOwnVerdict, stoppedAt, ...judged } = await judgeParts(
    deps,
    partsLeft,
    RUN_MS,
    maxParts,
  )
  const unclear = [...new Set([...verdict.unclear, ...judged.unclear])].filter(
    (key) => !findings.has(key) && !byOwnVerdict.has(key),
  )
  if (stoppedAt !== undefined) {
    await recordFindings(deps, clientId, findings, {
      unclear,
      progress: { day, done: partsLeft[stoppedAt - 1]?.key ?? lastKey },
    })
    await sendAudit(deps, { client_id: clientId }, clientId)
    return
  }
  const debt = await alertOwing(deps, clientId, verdict)
  const standing = await recordFindings(deps, clientId, findings, {
    unclear,
    auditedDay: day,
    progress: undefined,
    ...debt,
  })
  deps.log.info('audit.completed', { client_id: clientId, balanced: String(standing.length === 0) })
  await alertDifferences(deps, clientId, standing)
}

/** The register names the client, so its row is lost. */
async function reportMissingClient(deps: RunDeps, clientId: ClientId): Promise<void> {
  const missing = compare('client', clientId, 'present', 'missing')
  await alertDifferences(
    deps,
    clientId,
    await recordFindings(deps, clientId, new Map([[REGISTER, missing]]), undefined),
  )
}

function sendAudit({ queues }: Pick<Deps, 'queues'>, body: object, group: string) {
  return queues.send('audits', { body, delaySeconds: 0, group })
}

/** A debt is reported after each such time. New payments usually cover it earlier. */
const PATIENCE_MS = 7 * DAY_MS

/** The client owes us money (design section 10). Answers the fields that the verdict keeps. */
async function alertOwing(
  deps: RunDeps,
  clientId: ClientId,
  { owesSince, owesToldAt }: ClientVerdict,
) {
  const ledger = await readableLedger(deps, clientId)
  // An unreadable ledger is reported as a difference.
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
      'No settlement is made before new payments cover it. Record a repayment by bank with ' +
      'adjust-ledger --kind ' +
      'recovered, or a write-off with --kind written_off.',
  })
  return { owesSince: since, owesToldAt: now }
}

/** If a worker dies, another worker follows after this time. */
const CLAIM_MS = 10 * MINUTE_MS

/**
 * Audits a settlement a minute after it was recorded. Without this audit it is not paid out (design
 * sections 4 and 11). A long settlement takes several runs. Safe to repeat: the claim moves the due
 * time forward.
 */
export async function auditRecordedSettlement(
  deps: RunDeps,
  settlementId: SettlementId,
): Promise<void> {
  const verdict = await readSettlementVerdict(deps, settlementId)
  if (verdict?.dueAt === undefined || verdict.dueAt > deps.now()) return
  const claim = { ...verdict, dueAt: addMs(deps.now(), CLAIM_MS) }
  if (!(await moveAudit(deps, verdict, { dueAt: claim.dueAt }))) return
  const client = await findAuditedClient(deps, verdict.clientId)
  if (client === undefined) return
  const books = await readClientBooks(deps, client)
  const { key, judge } = settlementPart(deps, books, settlementId)
  const row = settlementIn(books, settlementId)
  const result =
    row && isLong(deps, row.settlement)
      ? await judgeLong(deps, books, row, claim)
      : { ...(await confirmedDifferences(deps, judge)), seen: [] }
  if (result === undefined) {
    await sendAudit(deps, { settlement_id: settlementId }, client.clientId)
    return
  }
  const { differences, isInconclusive, seen } = result
  const at = deps.now()
  if (!isInconclusive) {
    const standing = await recordFindings(
      deps,
      verdict.clientId,
      new Map([[key, differences]]),
      undefined,
    )
    // Other standing differences were reported when they were found.
    const ownDifferences = standing.filter(({ part }) => part === key)
    await alertDifferences(deps, verdict.clientId, ownDifferences)
  }
  const state = isInconclusive ? 'inconclusive' : 'audited'
  await deps.table.write(
    recordAuditResult(settlementId, { state, auditedAt: at, dueAt: addMs(at, MINUTE_MS), seen }),
  )
  deps.log.info('audit.completed', {
    client_id: verdict.clientId,
    balanced: String(differences.length === 0),
  })
}

/** The most differences that the verdict keeps between runs. */
const MAX_KEPT = 50

/**
 * One run of the audit of a long settlement. Undefined: its progress is stored, and the next run
 * continues. A difference counts when the next pass finds it again. `seen`: the differences of this
 * pass.
 */
async function judgeLong(
  deps: AuditDeps,
  books: ClientBooks,
  row: StoredSettlement,
  claim: SettlementVerdict,
) {
  const isOver = runLimit(deps, RUN_MS)
  // Progress that cannot be read is lost: the pass begins again.
  const progressBefore = ifValid(RecountSchema, claim.progress)
  const { isWhole, differences, ...recount } = await recountSettlement(
    deps,
    books,
    row,
    progressBefore,
    isOver,
  )
  // Entries after the last whole block are read again by the next run.
  const distinct = differences.filter(
    (difference, at) => differences.findIndex((earlier) => isIdentical(difference, earlier)) === at,
  )
  if (!isWhole) {
    const progress = { ...recount, differences: distinct.slice(0, MAX_KEPT) }
    await moveAudit(deps, claim, { dueAt: deps.now(), progress })
    return undefined
  }
  const found = await auditSettlement(deps, books, row, { ...recount, differences: distinct })
  const lasting = found.filter((difference) =>
    claim.seen.some((before) => isSame(before, difference)),
  )
  if (found.length === 0 || lasting.length > 0)
    return { differences: lasting, isInconclusive: false, seen: [] }
  return { differences: [], isInconclusive: true, seen: found.slice(0, MAX_KEPT) }
}

/** Sends a message for each client, and one for the gateway. Safe to repeat. */
export async function startAudits(deps: Pick<Deps, 'table' | 'queues' | 'log'>) {
  await sendAudit(deps, { gateway: true }, GATEWAY_OWNER)
  const clients = await sendForEachClient(deps, (clientId) =>
    sendAudit(deps, { client_id: clientId }, clientId),
  )
  deps.log.info('audits.started', { clients })
  return { clients }
}

/**
 * Audits a whole client now, and lists and reports every difference. Inconclusive: the books
 * changed during the read, or are too many for one run. Changes no money. Throws 404 for an unknown
 * client.
 */
export async function auditLedger(
  deps: AuditDeps & Pick<Deps, 'alerts' | 'log'>,
  clientId: ClientId,
) {
  const client = await findAuditedClient(deps, clientId)
  if (client === undefined) throw notFound('client')
  const parts = await partsOf(deps, client, isAlwaysDue)
  const { findings, byOwnVerdict, stoppedAt, unclear } = await judgeParts(deps, parts, WHOLE_RUN_MS)
  const standing = await recordFindings(deps, clientId, findings, undefined)
  const logFailure = (cause: unknown) =>
    deps.log.error('alert.failed', { client_id: clientId }, cause)
  // The daily audit repeats the alert.
  await alertDifferences(deps, clientId, standing).catch(logFailure)
  const differences = [...findings.values(), ...byOwnVerdict.values()].flat()
  return auditAnswer(differences, unclear.length > 0 || stoppedAt !== undefined)
}
