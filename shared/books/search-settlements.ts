import * as v from 'valibot'
import type { ActionRequest } from '../action-request.ts'
import { mapInChunks } from '../chunks.ts'
import { requireClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { pageFields, pagination, unreadableDto } from '../page.ts'
import { missingApproval, SIDE_BY_SIDE } from '../payout/judge-payouts.ts'
import { SETTLEMENT_STATUSES, type Settlement } from '../settlement/settlement.ts'
import { toOperatorSettlement } from '../settlement/settlement-dto.ts'
import { listPayouts, listSettlements } from '../settlement/settlement-store.ts'
import { periodFields } from './book-period.ts'
import { settlementsOfPeriod } from './settlements-of-period.ts'

const { format: _, ...days } = periodFields

/** The payload of an operator's `list-settlements` (design section 7). */
export const settlementSearch = v.pipe(
  v.strictObject({
    client_id: v.optional(v.string()),
    status: v.optional(v.picklist(SETTLEMENT_STATUSES)),
    ...days,
    ...pageFields,
  }),
  v.check(
    ({ client_id, status, from, to }) => (client_id ?? status ?? from ?? to) !== undefined,
    'give client_id, status, from or to',
  ),
)

type SettlementSearch = ActionRequest<v.InferOutput<typeof settlementSearch>>

type SearchDeps = Pick<Deps, 'table' | 'now' | 'monotonicMs' | 'log'>

/**
 * Lists of settlements and of payouts have pages, whose warnings name the figures of a payout. The
 * settlements of a period have a cursor, and are too many for these reads.
 */
export async function searchSettlements(
  deps: SearchDeps,
  search: SettlementSearch,
): Promise<object> {
  const { clientId, status, from, to, cursor, ...page } = search
  if (clientId !== undefined) await requireClient(deps, clientId)
  const hasDays = from !== undefined || to !== undefined
  const isPayouts = clientId === undefined && status === 'recorded' && !hasDays
  const isPaged = isPayouts || (status === undefined && !hasDays)
  if (isPaged && cursor !== undefined)
    throw invalid('cursor: use page instead', { cursor: ['use page instead'] })
  if (!isPaged && page.page > 1)
    throw invalid('page: use cursor instead', { page: ['use cursor instead'] })
  if (!isPaged) return settlementsOfPeriod(deps, search)
  const { rows, unreadableIds } = await (clientId === undefined
    ? listPayouts(deps, page)
    : listSettlements(deps, clientId, page))
  return {
    data: await mapInChunks(rows, SIDE_BY_SIDE, (settlement) => withWarning(deps, settlement)),
    ...unreadableDto(unreadableIds),
    pagination: pagination(page),
  }
}

async function withWarning(deps: SearchDeps, settlement: Settlement) {
  const shown = toOperatorSettlement(settlement)
  const { status, batch, bank } = settlement
  if (status !== 'recorded' || batch !== undefined || bank === undefined) return shown
  return { ...shown, warning: await missingApproval(deps, settlement) }
}
