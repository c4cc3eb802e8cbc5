import { auditChain } from '../audit/judged/audit-figures.ts'
import { auditSettlement, judgeSettlement } from '../audit/judged/audit-settlement.ts'
import { auditStraysOf } from '../audit/judged/audit-settlement-events.ts'
import { type ClientBooks, readClientBooks, withCarried } from '../audit/judged/client-books.ts'
import { auditMovedIn } from '../audit/rows/audit-moved.ts'
import type { Client } from '../client/client.ts'
import { requireClient, requirePayable } from '../client/client-store.ts'
import type { Deps, StoreDeps } from '../deps.ts'
import { invalid, laterError, refused } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { hasLongWindow, requireAudited } from '../settlement/long-settlement.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { REGISTER_BANK } from '../settlement/settlement-dto.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { addMs, dayNumber, HOUR_MS, MINUTE_MS } from '../time.ts'
import { type DatedDifference, unacceptedDifferences, withSince } from '../verdict/acceptances.ts'
import {
  confirmedDifferences,
  type Difference,
  mayBePaid,
  unreadableRow,
} from '../verdict/difference.ts'
import { readVerdict, requireSameVerdict, type Verdict } from '../verdict/verdict-store.ts'

export type GateDeps = Pick<Deps, 'table' | 'stage' | 'sleep' | 'now' | 'log'>

/**
 * The payout gate (design section 11). Throws 422 unless the settlement matches its entries, their
 * payments and its trail now, no difference of its client stands that finance has not accepted, and
 * the audits of client and gateway are fresh. Answers the conditions that keep that true, for the
 * payout's transaction.
 */
export async function passGate(deps: GateDeps, settlement: Settlement) {
  const { clientId } = settlement
  const { client, verdict } = await requireStoredChecks(deps, settlement)
  await requireMatching(deps, settlement, client, verdict)
  return { verdict: requireSameVerdict(clientId, verdict), client: requirePayable(clientId) }
}

/** Entries that became visible late are read after this time. */
const LEAST_AGE_MS = MINUTE_MS
/** The daily audits walk the clients in one order, so a day and two hours are enough. */
const FIGURES_MS = 26 * HOUR_MS
const HISTORY_DAYS = 3

/** The stored part of the gate: the hold, the standing differences, and the times of the audits. */
export async function requireStoredChecks(deps: GateDeps, settlement: Settlement) {
  const { clientId, createdAt } = settlement
  const client = await requireClient(deps, clientId)
  const [verdict, gateway] = await Promise.all([
    readVerdict(deps, clientId),
    readVerdict(deps, GATEWAY_OWNER),
  ])
  const now = deps.now()
  if (client.payoutHold !== undefined) {
    throw refused(
      `payouts of this client are on hold: ${client.payoutHold}`,
      `update-client --client_id ${clientId} --payout_hold null ends the hold.`,
    )
  }
  if (settlement.bank === undefined)
    throw refused('the settlement has no bank details', REGISTER_BANK)
  const retryAt = addMs(createdAt, LEAST_AGE_MS)
  if (now < retryAt) throw laterError('this settlement was recorded a moment ago', retryAt)
  const audit = `audit-ledger --client_id ${clientId}`
  const { restoredAt = '' } = gateway
  for (const [whose, command, { figuresAt = '' }] of [
    ['the gateway', 'audit-ledger', gateway],
    ['this client', audit, verdict],
  ] as const) {
    const isRecent = figuresAt >= addMs(now, -FIGURES_MS) && figuresAt <= addMs(now, MINUTE_MS)
    if (isRecent && restoredAt < figuresAt) continue
    const restored = restoredAt && restoredAt >= figuresAt ? `, restored at ${restoredAt}` : ''
    throw refused(
      `the books of ${whose} need an audit (last audited: ${figuresAt || 'never'}${restored})`,
      `Run ${command}. Then repeat the same call.`,
    )
  }
  if (dayNumber(now) - (verdict.historyDay ?? 0) > HISTORY_DAYS) {
    throw refused(
      'the daily audits of this client have not ended for three days',
      `${audit} judges its whole history. Then repeat the same call.`,
    )
  }
  await requireAccepted(deps, clientId, verdict.standing)
  return { client, verdict }
}

/** Throws 422 if a difference that payouts wait for is not accepted. */
async function requireAccepted(
  deps: StoreDeps,
  clientId: ClientId,
  standing: readonly DatedDifference[],
) {
  const blocking = standing.filter((difference) => !mayBePaid(difference))
  const open = await unacceptedDifferences(deps, clientId, blocking)
  if (open.length === 0) return
  throw invalid(
    `the books of this client do not balance (differences: ${open.length})`,
    { differences: open.slice(0, 10).map(({ what, id }) => `${what} of ${id}`) },
    `audit-ledger --client_id ${clientId} lists them with their figures. Pay out nothing before they are repaired, or accepted with accept-difference.`,
  )
}

/** For a settlement that a batch has claimed: throws 422 unless it still matches the books. */
export async function requireMatchingBooks(deps: GateDeps, settlement: Settlement) {
  const client = await requireClient(deps, settlement.clientId)
  const verdict = await readVerdict(deps, settlement.clientId)
  await requireMatching(deps, settlement, client, verdict)
}

async function requireMatching(
  deps: GateDeps,
  settlement: Settlement,
  client: Client,
  verdict: Verdict,
) {
  const differences = await judgeAgain(deps, client, settlement, verdict)
  await requireAccepted(deps, client.clientId, withSince(differences, verdict.standing, deps.now()))
}

/**
 * The differences at this moment of the settlement and of those that it carries, of their windows
 * and of their client. Throws 422 for a long one among them whose sums no audit has proven.
 */
async function judgeAgain(
  deps: GateDeps,
  client: Client,
  { settlementId }: Settlement,
  verdict: Verdict,
) {
  const { clientId } = client
  const books = await readClientBooks(deps, client)
  const own = books.settlements.find(({ settlement }) => settlement.settlementId === settlementId)
  if (own === undefined) return unreadableRow('settlement', settlementId)
  const carriers = withCarried(books, own)
  const settlements = carriers.map(({ settlement }) => settlement)
  const differences: Difference[] = []
  for (const stored of carriers) {
    const { settlement } = stored
    if (await hasLongWindow(deps, settlement)) {
      requireAudited(deps, settlement, verdict)
      differences.push(...(await auditSettlement(deps, books, stored, { sums: settlement })))
    } else differences.push(...(await judgeSettlement(deps, books, stored)).differences)
  }
  const around = await confirmedDifferences(deps, async (isAgain) => {
    const now = isAgain ? await readClientBooks(deps, client) : books
    const ids = idsAround(now, settlements)
    return [...now.differences, ...auditChain(now)].filter(({ id }) => ids.has(id))
  })
  const others = await confirmedDifferences(deps, async () => [
    ...(await auditStraysOf(deps, settlementId)),
    ...(await auditMovedIn(deps, clientId, settlements)),
  ])
  return [...differences, ...around, ...others]
}

/**
 * The client, the settlements, and those after them: a window that was extended over a later one
 * shows in the later one. A fault of another settlement waits for the audit that finds it.
 */
function idsAround({ clientId, settlements }: ClientBooks, judged: readonly Settlement[]) {
  const own = new Set<string>(judged.map(({ settlementId }) => settlementId))
  const ids = settlements.map(({ settlement }) => settlement.settlementId)
  const next = ids.filter((_, at) => own.has(ids[at - 1] ?? ''))
  return new Set<string>([clientId, ...own, ...next])
}
