import { paymentSearch, searchPayments } from '../../shared/inquiry/search-payments.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

export const handler = adminHandler(
  {
    summary:
      'Finds payments by any known detail, newest first, with their suspense items; `complete` ' +
      'says whether all were read.',
    input: paymentSearch,
  },
  searchPayments,
)
