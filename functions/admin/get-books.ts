import * as v from 'valibot'
import { periodFields } from '../../shared/books/book-period.ts'
import { getBooks } from '../../shared/books/get-books.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const input = v.pipe(
  v.strictObject({
    client_id: v.optional(v.string()),
    ...periodFields,
    provider_balance: v.optional(v.boolean(), false),
  }),
  v.check(
    ({ client_id, format, provider_balance }) =>
      !provider_balance || (client_id === undefined && format === 'json'),
    'provider_balance covers the whole account: omit client_id, and use format json',
  ),
)

export const handler = adminHandler(
  {
    summary:
      'The books of a merchant, or of all merchants and the house, for days of Jakarta: what ' +
      'came in, went back and was paid out, what is owed, and the trial balance. Without dates, ' +
      'this month so far. Changes nothing.',
    input,
  },
  getBooks,
)
