import {
  type HouseEntry,
  putHouseEntry,
  ROW_TYPES,
  requireUnbooked,
} from '../journal/house-store.ts'
import { requireUnmoved } from '../suspense/suspense-store.ts'
import type { Steps } from '../table/table.ts'

/**
 * Books a row of the provider, or its void. Two processes may have read one row before and after
 * its payment was created or credited, so the row's own entry is refused also when the row is
 * booked as another type, or has moved a payment (design section 12).
 */
export function bookOnce(entry: HouseEntry): Steps<string> {
  const isOwnEntry = ROW_TYPES.some((type) => type === entry.type)
  const others = ROW_TYPES.filter((type) => type !== entry.type)
  return {
    ...putHouseEntry(entry),
    ...(isOwnEntry && {
      ...requireUnbooked(entry, others),
      ...requireUnmoved(entry.transactionId),
    }),
  }
}
