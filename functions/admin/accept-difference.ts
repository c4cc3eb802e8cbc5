import * as v from 'valibot'
import { acceptDifference } from '../../shared/audit/accept-difference.ts'
import { adminHandler, NOTES, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { DifferenceSchema } from '../../shared/verdict/difference.ts'

const input = v.strictObject({
  operator: OPERATOR,
  client_id: v.optional(v.string()),
  ...DifferenceSchema.entries,
  notes: NOTES,
})

export const handler = adminHandler(
  {
    summary:
      'Accepts one difference of an audit, with the same values: it no longer blocks payouts. If ' +
      'its gap changes, the acceptance no longer counts. Without client_id: a difference of the ' +
      'gateway.',
    input,
    hasDryRun: true,
  },
  (deps, { clientId, operator, notes, ...difference }) =>
    acceptDifference(deps, { clientId, difference, operator, notes }),
)
