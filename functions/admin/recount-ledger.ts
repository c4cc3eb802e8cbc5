import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { recountLedger } from '../../shared/recount/recount-ledger.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { MAX_DIFFERENCES } from '../../shared/verdict/difference.ts'

const summary =
  'Repairs what a restore left of the last transactions: the differences of audit-ledger, exactly as it shows them. ' +
  'It refuses, by name, what it does not repair, and then writes nothing.'

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
