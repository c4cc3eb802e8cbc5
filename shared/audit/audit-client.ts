import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import { notFound } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { balanceOf } from '../ledger/ledger-store.ts'
import { runLimit } from '../settlement/sum-entries.ts'
import { sendForEachClient } from '../settlement/sweep-settlements.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { DAY_MS, dayNumber, MINUTE_MS, msBetween } from '../time.ts'
import {
  alertDifferences,
  askForAudit,
  type ClientVerdict,
  readClientVerdict,
  recordFindings,
} from '../verdict/client-verdict-store.ts'
import { auditAnswer, compare, type Difference } from '../verdict/difference.ts'
import { type AuditDeps, figureParts, historyParts, type Part } from './history.ts'
import { findAuditedClient, readableLedger } from './judged/client-books.ts'

type RunDeps = AuditDeps & Pick<Deps, 'queues' | 'alerts' | 'log'>

/** After this time a run begins no further part and no page. Its function has five minutes. */
const RUN_MS = 2.5 * MINUTE_MS

/**
 * Audits a client daily (design section 4, "Audit"), in one order: first the figures and what is
 * open, then the day's share of the history. A long history takes several runs, each of which keeps
 * its progress. Safe to repeat: an audit changes no money.
 */
export async function auditClient(deps: RunDeps, clientId: ClientId): Promise<void> {
  const client = await findAuditedClient(deps, clientId)
  if (client === undefined) return reportMissingClient(deps, clientId)
  const before = await readClientVerdict(deps, clientId)
  const today = dayNumber(deps.now())
  const isOver = runLimit(deps, RUN_MS)
  const isBegun = before.progress && before.figuresAt && dayNumber(before.figuresAt) === today
  const figures = isBegun ? undefined : await auditFigures(deps, client, before, isOver)
  const verdict = await readClientVerdict(deps, clientId)
  const day = verdict.progress?.day ?? today
  const parts = await historyParts(deps, client, verdict, day)
  const history = await judgeHistory(deps, { clientId, parts, day, isOver }, verdict)
  await alertRun(deps, clientId, [figures, history])
  if (history.isWhole) deps.log.info('audit.completed', { client_id: clientId, audit_of: 'client' })
  else await askForAudit(deps, clientId)
}

async function auditFigures(
  deps: RunDeps,
  client: Client,
  verdict: ClientVerdict,
  isOver: () => boolean,
) {
  const { clientId } = client
  const figuresAt = deps.now()
  const debt = await alertOwing(deps, clientId, verdict)
  const findings = await judgeAll(await figureParts(deps, client), isOver)
  const recorded = await recordFindings(deps, clientId, findings, { figuresAt, ...debt })
  return { ...recorded, findings, isWhole: false }
}

type Judged = Awaited<ReturnType<typeof auditFigures>>

/** Once a day all standing differences are told, and by each run before that what it has found. */
async function alertRun(
  deps: RunDeps,
  clientId: ClientId,
  judged: readonly (Judged | undefined)[],
) {
  const [last] = judged.slice(-1)
  const news = judged.flatMap((one) => one?.news ?? [])
  const open = last?.isWhole ? last.open : news
  await alertDifferences(deps, clientId, { open, news })
}

/** Parts that take one run, in their order. */
async function judgeAll(parts: readonly Part[], isOver: () => boolean) {
  const findings = new Map<string, readonly Difference[]>()
  for (const { key, judge } of parts)
    findings.set(key, (await judge(undefined, isOver)).differences)
  return findings
}

type History = {
  readonly clientId: ClientId
  readonly parts: readonly Part[]
  readonly day: number
  readonly isOver: () => boolean
}

/** The most differences of an unfinished part that its next run knows. */
const MAX_KEPT = 50
const MAX_LONG = 30

/** Each part's findings are recorded when the part is judged whole. */
async function judgeHistory(
  deps: RunDeps,
  { clientId, parts, day, isOver }: History,
  { progress, longSettlements }: ClientVerdict,
) {
  const isRunning = progress?.day === day
  let done = isRunning ? progress.done : ''
  const partsLeft = parts.filter(({ order }) => order > done)
  const isBegun = isRunning && progress.part === partsLeft[0]?.key
  let [state, found] = isBegun ? [progress.state, progress.found] : [undefined, []]
  const findings = new Map<string, readonly Difference[]>()
  const digests = new Map(Object.entries(longSettlements))
  const record = (changed: Partial<ClientVerdict>) => {
    // Ids are in the order of time. Settlements before the last of them are paid.
    const newest = [...digests].toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(-MAX_LONG)
    const kept = { longSettlements: Object.fromEntries(newest) }
    return recordFindings(deps, clientId, findings, { ...kept, ...changed })
  }
  for (const { key, order, judge, ends } of partsLeft) {
    const { differences, state: next } = await judge(state, isOver)
    const all = [...found, ...differences]
    if (next !== undefined) {
      const kept = { day, done, part: key, state: next, found: all.slice(0, MAX_KEPT) }
      return { ...(await record({ progress: kept })), findings, isWhole: false }
    }
    findings.set(key, all)
    if (ends) digests.set(...ends)
    done = order
    state = undefined
    found = []
    if (isOver() && order !== partsLeft.at(-1)?.order) {
      return { ...(await record({ progress: { day, done, found } })), findings, isWhole: false }
    }
  }
  const recorded = await record({ historyDay: day, progress: undefined })
  return { ...recorded, findings, isWhole: true }
}

/** The register names the client, so its row is lost. */
async function reportMissingClient(deps: RunDeps, clientId: ClientId): Promise<void> {
  const missing = compare('client', clientId, 'present', 'missing')
  await alertDifferences(
    deps,
    clientId,
    await recordFindings(deps, clientId, new Map([['register', missing]])),
  )
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

/**
 * Sends a message for each client, and one for the gateway. A client whose message fails is audited
 * by the next call; it stops no other. Safe to repeat.
 */
export async function startAudits(deps: Pick<Deps, 'table' | 'queues' | 'log'>) {
  const body = { gateway: true }
  await deps.queues.send('audits', { body, delaySeconds: 0, group: GATEWAY_OWNER })
  const clients = await sendForEachClient(deps, (clientId) => askForAudit(deps, clientId))
  deps.log.info('audits.started', { clients })
  return { clients }
}

/**
 * Audits a whole client now, and lists and reports every difference. `inconclusive`: no time was
 * left for its whole history; the worker judges the share that the daily audits have missed.
 * Changes no money. Throws 404 for an unknown client.
 */
export async function auditLedger(deps: RunDeps, clientId: ClientId) {
  const client = await findAuditedClient(deps, clientId)
  if (client === undefined) throw notFound('client')
  const before = await readClientVerdict(deps, clientId)
  const endsAtMs = deps.monotonicMs() + RUN_MS
  const isOver = () => deps.monotonicMs() >= endsAtMs
  const figures = await auditFigures(deps, client, before, isOver)
  const everything = { ...before, historyDay: undefined, progress: undefined }
  const day = dayNumber(deps.now())
  const parts = await historyParts(deps, client, everything, day)
  const history = await judgeHistory(deps, { clientId, parts, day, isOver }, everything)
  await alertRun(deps, clientId, [figures, history])
  const { isWhole, findings } = history
  if (!isWhole) await askForAudit(deps, clientId)
  return auditAnswer([...figures.findings.values(), ...findings.values()].flat(), !isWhole)
}
