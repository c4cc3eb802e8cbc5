import * as v from 'valibot'
import { recountLedger } from '../../shared/recount/recount-ledger.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { DifferenceSchema, MAX_DIFFERENCES } from '../../shared/verdict/difference.ts'

const summary =
  'Repairs incomplete transactions after a restore: give the differences exactly as audit-ledger ' +
  'shows them. If it cannot repair one, it names that one and writes nothing.'

const input = v.strictObject({
  operator: OPERATOR,
  client_id: v.string(),
  expected: v.pipe(
    v.array(v.strictObject(DifferenceSchema.entries)),
    v.minLength(1, 'must name the differences that audit-ledger shows'),
    v.maxLength(MAX_DIFFERENCES),
  ),
})

export const handler = adminHandler({ summary, input }, (request, deps) =>
  recountLedger(deps, request),
)
