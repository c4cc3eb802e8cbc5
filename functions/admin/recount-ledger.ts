import * as v from 'valibot'
import { recountLedger } from '../../shared/recount/recount-ledger.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'

/** The name of a part of the history. */
const PART = v.optional(v.pipe(v.string(), v.maxLength(100)))

const input = v.strictObject({
  operator: OPERATOR,
  client_id: v.optional(v.string()),
  plan: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be the digest of a plan'))),
  from: PART,
  until: PART,
})

export const handler = adminHandler(
  {
    summary:
      'Repairs incomplete transactions after a restore, of a client, or of the gateway without ' +
      'client_id. It answers a plan with its digest and repairs nothing. With plan, that digest, ' +
      'it writes exactly that plan, or answers 409 if the plan is another now. What it cannot ' +
      'repair of a client stops its payouts until an audit no longer finds it. It reads the ' +
      'history newest first. An answer with next has not read all of it: write its plan with ' +
      'until, that next, and then call with from, that next, for the following plan.',
    input,
  },
  recountLedger,
)
