import * as v from 'valibot'
import { minor } from '../money.ts'
import type { Adjusted } from './adjust-ledger.ts'
import { ADJUSTMENT_KINDS } from './adjustment-store.ts'

/** The same bound as for amounts of payments. */
const MOST_MINOR = 1_000_000_000_000

const ascii = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x7e]{1,100}$/, 'must be 1 to 100 printable ASCII characters without spaces'),
)

/** The fields of an adjustment, under their names in design section 7. */
export const ADJUSTMENT_FIELDS = {
  kind: v.picklist(ADJUSTMENT_KINDS),
  amount_minor: v.pipe(
    v.number(),
    v.safeInteger(),
    v.check((amount) => Math.abs(amount) <= MOST_MINOR, `at most ${MOST_MINOR} either way`),
    v.transform(minor),
  ),
  reference: ascii,
  provider_transaction_id: v.optional(ascii),
}

/** The entry of an adjustment as operators see it (design section 7). */
export const toAdjustmentDto = ({ adjustment, entry }: Adjusted) => ({
  id: entry.entryId,
  client_id: adjustment.clientId,
  type: entry.type,
  reference: adjustment.reference,
  posted_at: entry.postedAt,
  client_net_minor: entry.netMinor,
  provider_minor: entry.providerMinor,
  bank_minor: entry.bankMinor,
  house_minor: entry.houseMinor,
  provider_transaction_id: entry.providerTransactionId ?? null,
  notes: adjustment.notes ?? null,
})
