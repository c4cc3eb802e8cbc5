import * as v from 'valibot'
import { requireClient } from '../../shared/client/client-store.ts'
import { itemsOfPage, listDto, pageFields } from '../../shared/page.ts'
import { findAnyPayment } from '../../shared/payment/payment-store.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'
import { showItems } from '../../shared/suspense/dispute-movements.ts'
import { listSuspense, searchSuspense } from '../../shared/suspense/list-suspense.ts'
import { SUSPENSE_KINDS, SUSPENSE_STATUSES } from '../../shared/suspense/suspense.ts'

const input = v.strictObject({
  status: v.optional(v.picklist(SUSPENSE_STATUSES)),
  kind: v.optional(v.picklist(SUSPENSE_KINDS)),
  client_id: v.optional(v.string()),
  payment_id: v.optional(v.string()),
  ...pageFields,
})

export const handler = adminHandler(
  {
    summary:
      'Money that was not credited to any merchant, findings that the books cannot explain, and ' +
      'cases of disputes and transfers, newest first. By status, kind, merchant or payment; ' +
      '`complete` says whether all were read.',
    input,
  },
  async (deps, { status, kind, clientId, paymentId, ...page }) => {
    if ((clientId ?? paymentId ?? kind) === undefined) {
      const read = await listSuspense(deps, status, page)
      return listDto(await showItems(deps, read.rows), read, page)
    }
    if (clientId !== undefined) await requireClient(deps, clientId)
    const paymentIds = paymentId === undefined ? undefined : [paymentId]
    const filter = { status, kind, clientId, paymentIds }
    const { items, complete, ...read } = await searchSuspense(deps, filter)
    // An empty list says that nothing is held, so a wrong id must not get one.
    if (paymentId !== undefined && items.length === 0) await findAnyPayment(deps, paymentId)
    const data = await showItems(deps, itemsOfPage(items, page))
    return { ...listDto(data, read, page), complete }
  },
)
