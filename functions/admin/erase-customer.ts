import * as v from 'valibot'
import { eraseCustomers } from '../../shared/inquiry/erase-customers.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'

const input = v.pipe(
  v.strictObject({
    operator: OPERATOR,
    payment_id: v.optional(v.string()),
    client_id: v.optional(v.string()),
    external_reference: v.optional(v.pipe(v.string(), v.minLength(1, 'must not be empty'))),
  }),
  v.check(
    ({ payment_id: id, client_id: client, external_reference: reference }) =>
      [client, reference].every((field) => (field === undefined) === (id !== undefined)),
    'give payment_id, or client_id and external_reference',
  ),
)

export const handler = adminHandler(
  {
    summary:
      "Erases the customer's name, e-mail and phone from a payment and its events, permanently. " +
      'With client_id and external_reference: from up to 100 payments; `left` names those that ' +
      'cannot be erased yet. Repeat until `complete`.',
    input,
  },
  (deps, { operator, ...selection }) => eraseCustomers(deps, selection, operator),
)
