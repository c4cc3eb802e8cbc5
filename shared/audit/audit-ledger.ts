import { findClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import { notFound } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import type { Timestamp } from '../time.ts'
import type { Difference } from './difference.ts'
import { type Scan, scanBooks } from './scan-books.ts'

type AuditDeps = Pick<Deps, 'table' | 'sleep' | 'random'>

/** How long live traffic has to settle before a difference in the open tail counts. */
const SECOND_LOOK_MS = 10_000

/** A tampered ledger can differ everywhere; the answer stays readable and fits a Lambda's. */
const MAX_DIFFERENCES = 1_000

export type AuditResult = {
  readonly balanced: boolean | 'inconclusive'
  readonly differences: readonly Difference[]
}

const gap = ({ expected, found }: Difference) =>
  typeof expected === 'number' && typeof found === 'number' ? found - expected : undefined

/** The same difference: both figures may have moved with the traffic, the gap between them may not. */
const isSame = (a: Difference, b: Difference): boolean => a.what === b.what && a.id === b.id && gap(a) === gap(b)

const result = (differences: readonly Difference[], openTail: readonly Difference[]): AuditResult => {
  const balanced = differences.length > 0 ? false : openTail.length > 0 ? ('inconclusive' as const) : true
  return { balanced, differences: [...differences, ...openTail].slice(0, MAX_DIFFERENCES) }
}

/**
 * Recomputes a client's ledger from its payments and settlements and lists every difference (design section 4,
 * "Audit"). What is settled is judged at once. In the open tail payments move while they are read, so a difference
 * counts only if it is there again ten seconds later; one that changed meanwhile is inconclusive. Changes nothing.
 */
export const auditLedger = async (deps: AuditDeps, clientId: ClientId): Promise<AuditResult> => {
  const client = await findClient(deps, clientId)
  if (client === undefined) throw notFound('client')
  const scan = (): Promise<Scan> => scanBooks(deps, clientId, client.createdAt satisfies Timestamp)
  const first = await scan()
  if (first.openTail.length === 0) return result(first.settled, [])
  await deps.sleep(SECOND_LOOK_MS)
  const second = await scan()
  const lasting = second.openTail.filter((difference) => first.openTail.some((seen) => isSame(seen, difference)))
  const moving = second.openTail.filter((difference) => !lasting.includes(difference))
  return result([...second.settled, ...lasting], moving)
}
