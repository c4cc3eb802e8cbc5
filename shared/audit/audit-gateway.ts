import { ClientIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { closeHouseDays } from '../journal/house-store.ts'
import { runLimit } from '../settlement/sum-entries.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { dayNumber, type Timestamp } from '../time.ts'
import { auditAnswer, type Difference, withoutClient } from '../verdict/difference.ts'
import {
  addDifferences,
  alertDifferences,
  askForAudit,
  type ByPart,
  readVerdict,
  recordDifferences,
  type Verdict,
} from '../verdict/verdict-store.ts'
import { leaveToDailyAudit, type RunDeps, runTimes } from './audit-client.ts'
import { type Part, REGISTERED, SUSPENSE } from './due-parts.ts'
import { gatewayParts } from './gateway-parts.ts'
import { auditUnderWay, judgeParts, judgeRange } from './judge-parts.ts'

/**
 * Audits the gateway daily: the house journal, suspense and the register of clients, new rows each
 * time and old rows in shares. Differences of one client stand on that client. The others stand on
 * the gateway, and refuse no payout. First it closes the days of the house journal that are over.
 * Long work takes several runs, each of which keeps its progress and sends `auditId` to the next
 * run; the figures are fresh after the last run. Throws at the end if the differences of a client
 * were not recorded. That stops no other client.
 */
export async function auditGateway(deps: RunDeps, auditId?: string) {
  await closeHouseDays(deps)
  const verdict = await readVerdict(deps, GATEWAY_OWNER)
  const audit = auditUnderWay(deps, verdict, auditId)
  if (audit === undefined) return
  const { day, beganAt: figuresAt } = audit
  const { parts, ofClients } = ownParts(await gatewayParts(deps, verdict, day))
  const { byPart, progress } = await judgeParts(parts, audit, runLimit(deps))
  const changed = progress ? { progress } : { figuresAt, historyDay: day, progress: undefined }
  const { isLacking } = audit
  await recordAll(deps, { byPart, ofClients, changed, readFrom: figuresAt, isLacking })
  if (progress) await askForAudit(deps, undefined, { auditId: audit.auditId })
  else deps.log.info('audit.completed', { client_id: GATEWAY_OWNER, audit_of: 'gateway' })
}

/**
 * Audits the whole gateway now, newest first, and lists and reports the differences.
 * `inconclusive`, `from` and `unread`: as of a client. Changes no money.
 */
export async function auditWholeGateway(deps: RunDeps, from?: string) {
  // The call that began has closed them, and a wrong `from` is refused before anything is written.
  if (from === undefined) await closeHouseDays(deps)
  const [day, figuresAt] = [dayNumber(deps.now()), deps.now()]
  const before = await readVerdict(deps, GATEWAY_OWNER)
  const all = await gatewayParts(deps, { ...before, historyDay: undefined }, day)
  const { parts, ofClients } = ownParts(all)
  const { byPart, partial, next, unread } = await judgeRange(parts, { from, ...runTimes(deps) })
  const isWhole = from === undefined && next === undefined
  const changed = isWhole ? { figuresAt, historyDay: day, progress: undefined } : {}
  await recordAll(deps, { byPart, ofClients, changed, readFrom: figuresAt })
  if (!isWhole) await leaveToDailyAudit(deps, undefined, before, partial)
  const own = [...byPart.values(), ...partial.values()]
  return auditAnswer([...own, ofClients.map(withoutClient)].flat(), next, unread)
}

/** The parts with the differences of no client. The differences of clients are put aside. */
function ownParts(parts: readonly Part[]) {
  const ofClients: Difference[] = []
  const own = parts.map(
    ({ judge, ...part }): Part => ({
      ...part,
      judge: async (state, isOver) => {
        const judged = await judge(state, isOver)
        const isOfClient = (one: Difference) => ownerOf(one) !== undefined
        ofClients.push(...judged.differences.filter(isOfClient))
        const differences = judged.differences.filter((one) => !isOfClient(one)).map(withoutClient)
        return { ...judged, differences }
      },
    }),
  )
  return { parts: own, ofClients }
}

type Found = {
  readonly byPart: ByPart
  readonly ofClients: readonly Difference[]
  readonly readFrom: Timestamp
  readonly changed: Partial<Pick<Verdict, 'figuresAt' | 'historyDay' | 'progress'>>
  readonly isLacking?: boolean | undefined
}

/**
 * How far the audit has come is recorded last: after a crash another run judges the same again.
 * After a failure in any of its runs the next audit does.
 */
async function recordAll(
  deps: RunDeps,
  { byPart, ofClients, changed, readFrom, isLacking }: Found,
) {
  const failures: unknown[] = []
  for (const [owner, found] of Map.groupBy(ofClients, ownerOf)) {
    if (owner !== undefined)
      await recordOfClient(deps, owner, found).catch((cause: unknown) => failures.push(cause))
  }
  const { historyDay: _, ...others } = changed
  const { progress } = changed
  const lacking = { ...others, ...(progress && { progress: { ...progress, isLacking: true } }) }
  const done = isLacking || failures.length > 0 ? lacking : changed
  const { added, ...all } = await recordDifferences(deps, GATEWAY_OWNER, byPart, done, readFrom)
  const unaccepted = changed.figuresAt ? all.unaccepted : added
  await alertDifferences(deps, GATEWAY_OWNER, { unaccepted, added })
  if (failures.length === 0) return
  const message = `the differences of ${failures.length} clients were not recorded`
  throw new Error(message, { cause: failures[0] })
}

/** From then on the daily audit of the client judges these parts. */
async function recordOfClient(deps: RunDeps, owner: string, found: readonly Difference[]) {
  const byPart = Map.groupBy(found, ({ what }) => (what === 'client' ? REGISTERED : SUSPENSE))
  await alertDifferences(deps, owner, await addDifferences(deps, owner, byPart))
}

function ownerOf({ clientId }: Difference) {
  return ifValid(ClientIdSchema, clientId)
}
