import * as v from 'valibot'
import { derivedUuid, UuidSchema } from '../ids.ts'
import { type Entry, newEntry, paymentsIn } from '../journal/entry.ts'
import { less } from '../money.ts'
import type { Timestamp } from '../time.ts'
import { unprovenIn } from './entry-sums.ts'
import type { Settlement } from './settlement.ts'

/**
 * The re-credit that replaces an entry outside its settlement: its figures, eligible at once. Its id is derived from
 * the entry, so each entry has one. `settlement`: the one whose window contains the entry.
 */
export const leftOutRecredit = (
  { sweptFrom }: Pick<Settlement, 'sweptFrom'>,
  entry: Entry,
  postedAt: Timestamp,
): Entry =>
  newEntry({
    entryId: v.parse(UuidSchema, derivedUuid('recredit of an entry', entry.entryId)),
    type: 'recredit',
    eligibleAt: postedAt,
    postedAt,
    grossMinor: entry.grossMinor,
    feeMinor: entry.feeMinor,
    markupMinor: entry.markupMinor,
    netMinor: entry.netMinor,
    providerMinor: entry.providerMinor,
    bankMinor: entry.bankMinor,
    suspenseMinor: entry.suspenseMinor,
    standsForEntryId: entry.entryId,
    standsForType: entry.type,
    standsForPostedAt: entry.postedAt,
    paymentCount: paymentsIn(entry),
    provenMinor: less(entry.netMinor, unprovenIn(entry, sweptFrom)),
    externalReference: entry.externalReference,
    method: entry.method,
    channelCode: entry.channelCode,
    paidAt: entry.paidAt,
  })
