import * as v from 'valibot'
import { OPERATOR_RESOLUTIONS, resolveSuspense } from '../../shared/posting/resolve-suspense.ts'
import { adminHandler, NOTES, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { toSuspenseDto } from '../../shared/suspense/suspense.ts'

const input = v.strictObject({
  operator: OPERATOR,
  suspense_id: v.string(),
  resolution: v.picklist(OPERATOR_RESOLUTIONS),
  notes: v.optional(NOTES),
})

export const handler = adminHandler(
  {
    summary:
      'Closes a suspense item once: money as refunded by bank or written off, a finding as ' +
      'explained, a case also as answered or accepted. Moves no money.',
    input,
    hasDryRun: true,
  },
  async (deps, request) => toSuspenseDto(await resolveSuspense(deps, request)),
)
