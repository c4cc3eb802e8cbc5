import * as v from 'valibot'
import type { ActionRequest } from '../action-request.ts'
import { requireClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { pageFields, pagination, unreadableDto } from '../page.ts'
import { SETTLEMENT_STATUSES } from '../settlement/settlement.ts'
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

/** Lists of settlements and of payouts have pages. The settlements of a period have a cursor. */
export async function searchSettlements(
  deps: Pick<Deps, 'table' | 'now' | 'monotonicMs'>,
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
    data: rows.map((settlement) => toOperatorSettlement(settlement)),
    ...unreadableDto(unreadableIds),
    pagination: pagination(page),
  }
}
