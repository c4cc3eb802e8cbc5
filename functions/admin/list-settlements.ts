import * as v from 'valibot'
import { settlementsOfPeriod } from '../../shared/books/settlements-of-period.ts'
import { periodFields } from '../../shared/books/walk-clients.ts'
import { requireClient } from '../../shared/client/client-store.ts'
import { invalid } from '../../shared/errors.ts'
import { pageFields, pagination } from '../../shared/page.ts'
import { payoutFile } from '../../shared/payout/payout-file.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'
import { SETTLEMENT_STATUSES } from '../../shared/settlement/settlement.ts'
import { toOperatorSettlement } from '../../shared/settlement/settlement-dto.ts'
import { listPayouts, listSettlements } from '../../shared/settlement/settlement-store.ts'

const summary =
  'With client_id alone: its settlements, newest first. With status recorded alone: what is to be paid out; format csv is ' +
  "the bank's file. Else by status and by days of Jakarta on which periods end; without days, this month so far."

const fields = v.strictObject({
  client_id: v.optional(v.string()),
  status: v.optional(v.picklist(SETTLEMENT_STATUSES)),
  ...periodFields,
  ...pageFields,
})
function isAsked({ client_id, status, from, to }: v.InferOutput<typeof fields>) {
  return (client_id ?? status ?? from ?? to) !== undefined
}
const input = v.pipe(fields, v.check(isAsked, 'give client_id, status, from or to'))

export const handler = adminHandler({ summary, input }, async (request, deps) => {
  const { clientId, status, format, from, to, cursor, ...page } = request
  if (clientId !== undefined) await requireClient(deps, clientId)
  const hasDays = from !== undefined || to !== undefined
  const isPayouts = clientId === undefined && status === 'recorded' && !hasDays
  const isPaged = format === 'json' && (isPayouts || (status === undefined && !hasDays))
  if (isPaged && cursor !== undefined)
    throw invalid('cursor: use page instead', { cursor: ['use page instead'] })
  if (!isPaged && page.page > 1)
    throw invalid('page: use cursor instead', { page: ['use cursor instead'] })
  if (!isPaged) return isPayouts ? payoutFile(deps, cursor) : settlementsOfPeriod(deps, request)
  const found =
    clientId === undefined
      ? await listPayouts(deps, page)
      : await listSettlements(deps, clientId, page)
  return {
    data: found.map((one) => toOperatorSettlement(one, deps.now())),
    pagination: pagination(page),
  }
})
