import { searchSettlements, settlementSearch } from '../../shared/books/search-settlements.ts'
import { adminHandler } from '../../shared/runtime/admin-handler.ts'

export const handler = adminHandler(
  {
    summary:
      'With client_id: its settlements, newest first, or those of a status or of days. With ' +
      'status recorded alone: what is to be paid out. Else by days of Jakarta on which periods ' +
      'end; without days, this month so far. The file for the bank is payout-file.',
    input: settlementSearch,
  },
  searchSettlements,
)
