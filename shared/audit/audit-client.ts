import { alertEndingKeys } from '../client/alert-ending-keys.ts'
import type { Client } from '../client/client.ts'
import { sendForEachClient } from '../client/client-register.ts'
import type { Deps } from '../deps.ts'
import { notFound } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { balanceOf } from '../ledger/ledger-store.ts'
import { RUN_MS, runLimit } from '../settlement/sum-entries.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { DAY_MS, dayNumber, MINUTE_MS, msBetween, type Timestamp, timeLimit } from '../time.ts'
import { auditAnswer, missingRow } from '../verdict/difference.ts'
import {
  addDifferences,
  alertDifferences,
  askForAudit,
  type ByPart,
  publishAlert,
  readVerdict,
  recordDifferences,
  type Verdict,
} from '../verdict/verdict-store.ts'
import { figureParts, historyParts } from './client-parts.ts'
import { type AuditDeps, type Part, REGISTERED } from './due-parts.ts'
import { auditUnderWay, judgeParts, judgeRange } from './judge-parts.ts'
import { findAuditedClient, readableLedger } from './judged/client-books.ts'

export type RunDeps = AuditDeps & Pick<Deps, 'newId' | 'queues' | 'alerts' | 'log'>

/**
 * Audits a client daily (design section 4, "Audit"), in one order: first the figures and what is
 * open, then the day's share of the history. A long history takes several runs, each of which keeps
 * its progress and sends `auditId` to the next run. Safe to repeat: an audit changes no money.
 */
export async function auditClient(deps: RunDeps, clientId: ClientId, auditId?: string) {
  const client = await findAuditedClient(deps, clientId)
  if (client === undefined) return reportMissingClient(deps, clientId)
  const before = await readVerdict(deps, clientId)
  const audit = auditUnderWay(deps, before, auditId)
  if (audit === undefined) return
  const { day } = audit
  const isOver = runLimit(deps)
  const isFirstRun = audit.auditId !== auditId
  const figures = isFirstRun ? await judgeFigures(deps, client, before) : undefined
  const verdict = await readVerdict(deps, clientId)
  const parts = await historyParts(deps, client, verdict, day)
  const { byPart, progress } = await judgeParts(parts, audit, isOver)
  const changed = progress ? { progress } : { historyDay: day, progress: undefined }
  await recordHistory(deps, clientId, figures, { parts, byPart, changed, readFrom: audit.beganAt })
  if (progress) await askForAudit(deps, clientId, { auditId: audit.auditId })
  else deps.log.info('audit.completed', { client_id: clientId, audit_of: 'client' })
  // Last, because an alert that fails ends this run. In the first run, because a later one may be
  // on another day, or never be.
  if (isFirstRun) await alertEndingKeys(deps, clientId)
}

async function judgeFigures(deps: RunDeps, client: Client, verdict: Verdict) {
  const { clientId } = client
  const figuresAt = deps.now()
  const debt = await alertOwing(deps, clientId, verdict)
  const { byPart } = await judgeRange(await figureParts(deps, client))
  const changed = { figuresAt, ...debt }
  const { added } = await recordDifferences(deps, clientId, byPart, changed, figuresAt)
  return { added, byPart }
}

type JudgedHistory = {
  readonly parts: readonly Part[]
  readonly byPart: ByPart
  readonly changed: Partial<Pick<Verdict, 'historyDay' | 'progress'>>
  readonly readFrom: Timestamp
}

/** The last run of an audit alerts about all standing differences, earlier runs about new ones. */
async function recordHistory(
  deps: RunDeps,
  clientId: ClientId,
  figures: Awaited<ReturnType<typeof judgeFigures>> | undefined,
  { parts, byPart, changed, readFrom }: JudgedHistory,
) {
  const changedIn = (verdict: Verdict) => {
    return { longSettlements: longSettlementsAfter(verdict, parts, byPart), ...changed }
  }
  const history = await recordDifferences(deps, clientId, byPart, changedIn, readFrom)
  const added = [...(figures?.added ?? []), ...history.added]
  const unaccepted = changed.historyDay === undefined ? added : history.unaccepted
  await alertDifferences(deps, clientId, { unaccepted, added })
}

const MAX_LONG = 30

/** The digests that a verdict keeps after parts were judged whole. */
function longSettlementsAfter(
  { longSettlements }: Verdict,
  parts: readonly Part[],
  byPart: ByPart,
) {
  const ended = parts.flatMap(({ key, longSettlement }) =>
    longSettlement && byPart.has(key) ? [longSettlement] : [],
  )
  const endedIds = new Set<string>(ended.map(([id]) => id))
  // Ids are in the order of time. A settlement whose audit ended now is still to be paid, however
  // old it is. The oldest of the others are paid.
  const earlier = Object.entries(longSettlements)
    .filter(([id]) => !endedIds.has(id))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries([...earlier, ...ended].slice(-MAX_LONG))
}

/** The register names the client, so its row is lost. */
async function reportMissingClient(deps: RunDeps, clientId: ClientId) {
  const byPart = new Map([[REGISTERED, missingRow('client', clientId)]])
  await alertDifferences(deps, clientId, await recordDifferences(deps, clientId, byPart))
}

/** A debt is reported after each such time. New payments usually cover it earlier. */
const PATIENCE_MS = 7 * DAY_MS

/** Alerts if the client owes us money (design section 10). Answers the verdict's changed fields. */
async function alertOwing(deps: RunDeps, clientId: ClientId, { owesSince, owesToldAt }: Verdict) {
  const ledger = await readableLedger(deps, clientId)
  // An unreadable ledger is reported as a difference.
  if (ledger === undefined) return { owesSince, owesToldAt }
  const { pendingMinor, availableMinor } = balanceOf(ledger)
  const owedMinor = -(pendingMinor + availableMinor)
  if (owedMinor <= 0) return { owesSince: undefined, owesToldAt: undefined }
  const now = deps.now()
  const since = owesSince ?? now
  if (msBetween(owesToldAt ?? since, now) < PATIENCE_MS) return { owesSince: since, owesToldAt }
  const isTold = await publishAlert(deps, {
    kind: 'client.owes',
    subject: clientId,
    message:
      `Client ${clientId} has owed ${owedMinor} IDR since ${since}: refunds and disputes exceed its payments. ` +
      'No settlement is made before new payments cover it. Record a repayment by bank with ' +
      'adjust-ledger --kind recovered, or a write-off with --kind written_off.',
  })
  return { owesSince: since, owesToldAt: isTold ? now : owesToldAt }
}

/**
 * Sends a message for the gateway, and one for each client. If one fails, the schedule sends all
 * again. Safe to repeat.
 */
export async function startAudits(deps: Pick<Deps, 'table' | 'queues' | 'log'>) {
  await askForAudit(deps, undefined)
  const clients = await sendForEachClient(deps, (clientId) => askForAudit(deps, clientId))
  deps.log.info('audits.started', { clients })
  return { clients }
}

/** After `RUN_MS` a run begins no further part. The part that is read ends after this time. */
const LATE_MS = 4 * MINUTE_MS

/** Of an audit on demand. */
export function runTimes(deps: Pick<Deps, 'monotonicMs'>) {
  return { isOver: timeLimit(deps, RUN_MS), isLate: timeLimit(deps, LATE_MS) }
}

/**
 * Audits a whole client now, newest first, and lists and reports the differences. `inconclusive`:
 * this call had no time for the whole history. A call with `from`, the `next` of this answer,
 * continues. `unread`: a part that no call has time for. Each answer has the differences of its own
 * parts. Changes no money. Throws 404 for an unknown client.
 */
export async function auditLedger(deps: RunDeps, clientId: ClientId, from?: string) {
  const client = await findAuditedClient(deps, clientId)
  if (client === undefined) throw notFound('client')
  const before = await readVerdict(deps, clientId)
  const times = runTimes(deps)
  const figures = from === undefined ? await judgeFigures(deps, client, before) : undefined
  const readFrom = deps.now()
  const day = dayNumber(readFrom)
  const parts = await historyParts(deps, client, { ...before, historyDay: undefined }, day)
  const { byPart, partial, next, unread } = await judgeRange(parts, { from, ...times })
  // Only a call that began with the newest part knows that all parts were judged.
  const isWhole = from === undefined && next === undefined
  const changed = isWhole ? { historyDay: day, progress: undefined } : {}
  await recordHistory(deps, clientId, figures, { parts, byPart, changed, readFrom })
  if (!isWhole) await leaveToDailyAudit(deps, clientId, before, partial)
  const found = [figures?.byPart ?? [], byPart, partial].flatMap((some) => [...some.values()])
  return auditAnswer(found.flat(), next, unread)
}

/**
 * What a call has found in a part stands until an audit reads the part whole. The day's audit goes
 * on if it is under way: a long one would never end if each call began it anew.
 */
export async function leaveToDailyAudit(
  deps: RunDeps,
  clientId: ClientId | undefined,
  { progress }: Verdict,
  partial: ByPart,
) {
  const owner = clientId ?? GATEWAY_OWNER
  const { added } = await addDifferences(deps, owner, partial)
  await alertDifferences(deps, owner, { unaccepted: added, added })
  if (progress?.day !== dayNumber(deps.now())) await askForAudit(deps, clientId)
}
