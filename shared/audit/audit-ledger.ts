import { findClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import { notFound } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { MINUTE_MS, SECOND_MS } from '../time.ts'
import { type Difference, isSame, MAX_DIFFERENCES } from './difference.ts'
import { scanBooks } from './scan-books.ts'

/** How long live traffic, and the indexes behind it, have to settle before a difference is believed. */
const SECOND_LOOK_MS = 10 * SECOND_MS
/** A difference that is never seen twice alike is nobody's fault: then the answer is inconclusive. */
const LOOKS = 3
/** What was written just before a look may not be in the indexes yet. */
const INDEX_LAG_MS = SECOND_MS

/** Three looks and what is between them are over in less than four minutes. */
const LOOK_MS = MINUTE_MS

export type AuditResult = {
  readonly balanced: boolean | 'inconclusive'
  readonly differences: readonly Difference[]
}

/**
 * Recomputes a client's ledger from its payments and settlements and lists every difference (design section 4,
 * "Audit"). Payments move while they are read, so a difference counts only when the part of the books it is about
 * stood still while it was read, and when it is there again ten seconds later; else it is inconclusive. What was
 * sealed is not read again unless it is asked for in full. Books that one look cannot read say nothing of their sums:
 * inconclusive too. Changes nothing. Throws 404 for an unknown client.
 */
export const auditLedger = async (
  deps: Pick<Deps, 'table' | 'stage' | 'sleep' | 'now' | 'monotonicMs'>,
  clientId: ClientId,
  { full }: { readonly full: boolean } = { full: false },
): Promise<AuditResult> => {
  const client = await findClient(deps, clientId)
  if (client === undefined) throw notFound('client')
  const seen: Difference[] = []
  let last: readonly Difference[] = []
  for (let look = 1; look <= LOOKS; look++) {
    if (look > 1) await deps.sleep(SECOND_LOOK_MS)
    const endsAtMs = deps.monotonicMs() + LOOK_MS
    const isOver = () => deps.monotonicMs() >= endsAtMs
    const scan = await scanBooks(deps, client, { indexLagMs: look > 1 ? INDEX_LAG_MS : 0, full, isOver })
    last = [...scan.standing, ...scan.moving]
    if (last.length === 0) return { balanced: scan.isWhole ? true : 'inconclusive', differences: [] }
    const lasting = scan.standing.filter((difference) => seen.some((earlier) => isSame(earlier, difference)))
    if (lasting.length > 0) return { balanced: false, differences: lasting.slice(0, MAX_DIFFERENCES) }
    seen.push(...scan.standing)
  }
  return { balanced: 'inconclusive', differences: last.slice(0, MAX_DIFFERENCES) }
}
