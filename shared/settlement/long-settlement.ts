import type { Deps, JournalDeps } from '../deps.ts'
import { laterError } from '../errors.ts'
import { sha256Hex } from '../ids.ts'
import { HISTORY_STEPS } from '../stage-settings.ts'
import { journalPk } from '../table/keys.ts'
import { queryPages } from '../table/list-items.ts'
import { addMs, MINUTE_MS } from '../time.ts'
import type { Verdict } from '../verdict/verdict-store.ts'
import { isLong, type Settlement } from './settlement.ts'
import { SUM_FIGURES } from './sum-entries.ts'

/**
 * Whether a settlement is long by its row, and also by the entries in its window: a row with a
 * wrong number of entries must not escape the sum of its entries.
 */
export async function hasLongWindow(deps: JournalDeps, settlement: Settlement) {
  const { clientId, sweptFrom, sweptUntil } = settlement
  if (!isLong(deps, settlement) || sweptUntil <= sweptFrom) return false
  const { rows, atOnce } = deps.stage.historySteps ?? HISTORY_STEPS
  const range = { between: [sweptFrom, sweptUntil] } as const
  const entries = { partition: [journalPk(clientId)], range, limit: rows, countOnly: true } as const
  let entryCount = 0
  for await (const { count } of queryPages(deps, entries)) {
    entryCount += count
    if (entryCount > atOnce) return true
  }
  return false
}

/** What the audit of a long settlement proves: sums that change later have another digest. */
export function digestOfSums(settlement: Settlement) {
  return sha256Hex(JSON.stringify(SUM_FIGURES.map((figure) => [figure, settlement[figure]])))
}

/** Throws 422 for a long settlement unless an audit of exactly its sums has ended. */
export function requireAudited(
  { now }: Pick<Deps, 'now'>,
  settlement: Settlement,
  { longSettlements }: Verdict,
) {
  const { settlementId: id, clientId } = settlement
  if (longSettlements[id] === digestOfSums(settlement)) return
  throw laterError(
    `the audit of the long settlement ${id} has not ended; audit-ledger --client_id ${clientId} begins it if none is under way`,
    addMs(now(), 5 * MINUTE_MS),
  )
}
