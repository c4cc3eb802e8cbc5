import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { firstOfPage, pageFields, pageOf, pagination } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'
import { SUSPENSE_STATUSES } from '../../shared/suspense/suspense.ts'
import { toSuspenseDto } from '../../shared/suspense/suspense-dto.ts'
import { listSuspense, suspenseAbout } from '../../shared/suspense/suspense-store.ts'

const summary =
  'Money that was not credited to any merchant, and findings that the books cannot explain, newest first. By status, ' +
  'merchant or payment; `complete` says whether all were read.'
const input = v.strictObject({
  status: v.optional(v.picklist(SUSPENSE_STATUSES)),
  client_id: v.optional(v.string()),
  payment_id: v.optional(v.string()),
  ...pageFields,
})

export const handler = adminHandler({ summary, input }, async ({ status, client_id, payment_id, ...request }, deps) => {
  const page = pageOf(request)
  if (client_id === undefined && payment_id === undefined) {
    const items = await listSuspense(deps, status, page)
    return { data: items.map(toSuspenseDto), pagination: pagination(page) }
  }
  const clientId = client_id === undefined ? undefined : parseClientId(client_id)
  const paymentIds = payment_id === undefined ? undefined : [payment_id]
  const { items, complete } = await suspenseAbout(deps, { status, clientId, paymentIds })
  const shown = items.slice(firstOfPage(page), firstOfPage(page) + page.perPage)
  return { data: shown.map(toSuspenseDto), pagination: pagination(page), complete }
})
