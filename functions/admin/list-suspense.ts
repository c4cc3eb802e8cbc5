import * as v from 'valibot'
import { pageFields, pageOf, pagination } from '../../shared/page.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'
import { toSuspenseDto } from '../../shared/suspense/suspense.ts'
import { listSuspense } from '../../shared/suspense/suspense-store.ts'

/** Money that was credited to nobody and findings the books cannot explain, newest first. */
export const handler = adminHandler(v.strictObject(pageFields), async (input, deps) => {
  const page = pageOf(input)
  const items = await listSuspense(deps, page)
  return { data: items.map(toSuspenseDto), pagination: pagination(page) }
})
