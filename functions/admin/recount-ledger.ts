import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { recountLedger } from '../../shared/recount/recount-ledger.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { MAX_DIFFERENCES } from '../../shared/verdict/difference.ts'

const summary =
  'Repairs incomplete transactions after a restore: give the differences exactly as audit-ledger shows them. If it ' +
  'cannot repair one, it names that one and writes nothing.'

const FIGURE = v.nullable(v.union([v.string(), v.number()]))

const input = v.strictObject({
  operator: OPERATOR,
  client_id: v.string(),
  expected: v.pipe(
    v.array(v.strictObject({ what: v.string(), id: v.string(), expected: FIGURE, found: FIGURE })),
    v.minLength(1, 'the differences that audit-ledger shows'),
    v.maxLength(MAX_DIFFERENCES),
  ),
})

export const handler = adminHandler({ summary, input }, ({ client_id, expected, operator }, deps) =>
  recountLedger(deps, { clientId: parseClientId(client_id), expected, operator }),
)
