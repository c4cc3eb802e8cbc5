import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type ClientId, PaymentIdSchema } from '../ids.ts'
import { less, type Minor, MinorSchema, plus, ZERO } from '../money.ts'
import { type PaidPayment, sumsOf } from '../settlement/paid-payments.ts'
import { addSums, NO_SUMS, SumsSchema } from '../settlement/sums.ts'
import { unchanged } from '../table/condition.ts'
import { countedBooksKey } from '../table/keys.ts'
import { put } from '../table/step.ts'
import { TimestampSchema } from '../time.ts'

const counted = {
  sums: SumsSchema,
  /** What the provider has settled to us, its fees kept. */
  settledMinor: MinorSchema,
  /** What it never will, since all of it went back before. */
  returnedMinor: MinorSchema,
}

/**
 * A client's paid payments up to a place, counted once: those of which nothing changes any more are in the sums. Of the
 * others some wait by their ids and are looked at each time.
 */
const PaidCountSchema = v.object({
  ...counted,
  place: v.optional(v.object({ paidAt: TimestampSchema, id: PaymentIdSchema })),
  waitingIds: v.optional(v.set(PaymentIdSchema)),
  version: v.optional(v.number()),
})
export type PaidCount = v.InferOutput<typeof PaidCountSchema>

const NOTHING_COUNTED: PaidCount = { sums: NO_SUMS, settledMinor: ZERO, returnedMinor: ZERO }

export const readPaidCount = async (deps: Pick<Deps, 'table'>, clientId: ClientId): Promise<PaidCount> => {
  const item = await deps.table.get(countedBooksKey(clientId))
  return item === undefined ? NOTHING_COUNTED : v.parse(PaidCountSchema, item)
}

/** Refused when somebody else has kept something since: who reads on from there is told the same. */
export const keepPaidCount = (deps: Pick<Deps, 'table'>, clientId: ClientId, count: PaidCount) => {
  const { waitingIds = new Set(), ...rest } = count
  const version = (count.version ?? 0) + 1
  // DynamoDB has no empty sets.
  const kept = { ...rest, ...(waitingIds.size > 0 && { waitingIds }), version }
  return deps.table.write(put(countedBooksKey(clientId), kept, unchanged('version', count.version)))
}

/** What became of a payment's money at the provider: what is settled stays so, what went back may come again. */
export type Standing = 'not_due' | 'overdue' | 'returned' | 'settled'

export type Amounts = Pick<PaidPayment, 'notionalMinor' | 'providerFeeMinor' | 'markupMinor' | 'netMinor'>

const received = ({ notionalMinor, providerFeeMinor }: Amounts): Minor => less(notionalMinor, providerFeeMinor)

/** With one payment more. */
export const addCounted = <Count extends Pick<PaidCount, keyof typeof counted>>(
  count: Count,
  payment: Amounts,
  standing: Standing,
): Count => ({
  ...count,
  sums: addSums(count.sums, sumsOf(payment)),
  ...(standing === 'settled' && { settledMinor: plus(count.settledMinor, received(payment)) }),
  ...(standing === 'returned' && { returnedMinor: plus(count.returnedMinor, received(payment)) }),
})

/** Of everything: what was kept, and what still waits. */
export type CountedPaid = Pick<PaidCount, keyof typeof counted> & {
  readonly notDueMinor: Minor
  readonly overdueMinor: Minor
  /** Nothing is waited for: all of it stays as it is, whatever the clock says. */
  readonly isFinal: boolean
}

export const addWaiting = (all: CountedPaid, payment: Amounts, standing: Standing): CountedPaid => ({
  ...addCounted(all, payment, standing),
  ...(standing === 'not_due' && { notDueMinor: plus(all.notDueMinor, received(payment)) }),
  ...(standing === 'overdue' && { overdueMinor: plus(all.overdueMinor, received(payment)) }),
})
