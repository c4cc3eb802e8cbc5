import { searchSettlements, settlementSearch } from '../../shared/books/search-settlements.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

export const handler = adminHandler(
  {
    summary:
      'With client_id: its settlements, newest first, or of a status or of days. With ' +
      'status recorded alone: what is not paid, unless by the file of its batch. Else by ' +
      'days of Jakarta on which periods end; without days, this month so far.',
    input: settlementSearch,
  },
  searchSettlements,
)
