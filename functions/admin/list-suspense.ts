import * as v from 'valibot'
import { pageFields, pageOf, pagination } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'
import { SUSPENSE_STATUSES } from '../../shared/suspense/suspense.ts'
import { toSuspenseDto } from '../../shared/suspense/suspense-dto.ts'
import { listSuspense } from '../../shared/suspense/suspense-store.ts'

const summary =
  'Money that was credited to nobody and findings the books cannot explain, newest first: all, or those of a status.'
const input = v.strictObject({ status: v.optional(v.picklist(SUSPENSE_STATUSES)), ...pageFields })

export const handler = adminHandler({ summary, input }, async ({ status, ...request }, deps) => {
  const page = pageOf(request)
  const items = await listSuspense(deps, status, page)
  return { data: items.map(toSuspenseDto), pagination: pagination(page) }
})
