import * as v from 'valibot'
import { type ClientId, UuidSchema } from '../../../shared/ids.ts'
import { type Entry, newEntry } from '../../../shared/journal/entry.ts'
import { putEntry } from '../../../shared/journal/entry-store.ts'
import { minor, ZERO } from '../../../shared/money.ts'
import type { Timestamp } from '../../../shared/time.ts'
import type { TestDeps } from '../test-deps.ts'

/** An entry of a payment of 20,000 by its number, for a journal of any length. */
export const aStoredLine = (number: number, eligibleAt: Timestamp): Entry =>
  newEntry({
    entryId: v.parse(UuidSchema, `00000000-0000-8000-8000-${String(number).padStart(12, '0')}`),
    type: 'payment',
    eligibleAt,
    postedAt: eligibleAt,
    grossMinor: minor(20_000),
    feeMinor: minor(4_000),
    markupMinor: minor(20),
    netMinor: minor(15_980),
    providerMinor: minor(16_000),
    bankMinor: ZERO,
    suspenseMinor: ZERO,
    providerTransactionId: `txn_${number}`,
    method: 'virtual_account',
  })

/** Entries in a client's journal. The ledger is not changed. */
export const putEntries = async (deps: TestDeps, clientId: ClientId, entries: readonly Entry[]): Promise<void> => {
  await Promise.all(entries.map((entry) => deps.table.write(putEntry({ clientId }, entry))))
}
