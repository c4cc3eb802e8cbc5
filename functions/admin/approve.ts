import * as v from 'valibot'
import { APPROVED_ACTIONS, FiguresSchema } from '../../shared/operator/approval-store.ts'
import { approve } from '../../shared/operator/approve.ts'
import { adminHandler, NOTES, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { requireUnaccepted } from '../../shared/verdict/verdict-store.ts'

const input = v.strictObject({
  operator: OPERATOR,
  action: v.picklist(APPROVED_ACTIONS),
  payload: v.pipe(
    FiguresSchema,
    v.check(
      (figures) => JSON.stringify(figures).length <= 4_096,
      'at most 4096 characters as JSON',
    ),
  ),
  notes: v.optional(NOTES),
})

export const handler = adminHandler(
  {
    summary:
      'Approves one action of another person with exactly these figures. It holds for 72 hours ' +
      'and one use. The refusal of the action names the command.',
    input,
  },
  (deps, request) => approve(deps, request, () => requireUnaccepted(deps, request)),
)
