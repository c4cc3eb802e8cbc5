import * as v from 'valibot'
import { getBooks } from '../../shared/books/get-books.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

const summary =
  "What was received, credited, settled and paid out, and what the provider settled to us, each with its source. Of a merchant now; without one, of all as the day's comparison saw them. Changes nothing."
const input = v.strictObject({ client_id: v.optional(v.string()) })

export const handler = adminHandler({ summary, input }, (request, deps) => getBooks(deps, request))
