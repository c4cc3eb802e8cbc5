import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type ClientId, type PaymentId, PaymentIdSchema } from '../ids.ts'
import type { Window } from '../ledger/ledger-store.ts'
import {
  deductedIn,
  findReversals,
  isDeducted,
  isPart,
  isReinstated,
  type LedgerReversal,
  standingParts,
} from '../ledger/reversal-store.ts'
import type { Payment } from '../payment/payment.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { reversedSums, type Settlement } from '../settlement/settlement.ts'
import type { Timestamp } from '../time.ts'
import { breaks, type Difference, differs } from './difference.ts'

const AMOUNTS = ['notionalMinor', 'providerFeeMinor', 'markupMinor', 'netMinor'] as const

/** A client's reversals by payment, and the payments they are about. */
export type ReversalBooks = {
  readonly reversals: readonly LedgerReversal[]
  readonly payments: ReadonlyMap<PaymentId, Payment>
  readonly byNumber: ReadonlyMap<number, LedgerReversal>
  /** Where payments were put back, oldest first. */
  readonly reinstated: ReadonlyMap<PaymentId, readonly Timestamp[]>
}

const readReversals = async (deps: Pick<Deps, 'table'>, clientId: ClientId): Promise<ReversalBooks> => {
  const reversals = await findReversals(deps, clientId)
  const ids = new Set(reversals.map(({ paymentId }) => paymentId))
  const payments = await findPaymentsByKey(deps, [...ids])
  const putBack = Map.groupBy(reversals.filter(isReinstated), ({ paymentId }) => paymentId)
  return {
    reversals,
    payments: new Map(payments.map((payment) => [payment.paymentId, payment])),
    byNumber: new Map(reversals.map((reversal) => [reversal.seq, reversal])),
    reinstated: new Map([...putBack].map(([id, all]) => [id, all.map(({ paidAt }) => paidAt)])),
  }
}

/** Reversals of which one cannot be read are a difference, not a failure of the audit. */
export const readableReversals = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
): Promise<ReversalBooks | undefined> => {
  try {
    return await readReversals(deps, clientId)
  } catch (error) {
    if (v.isValiError(error)) return undefined
    throw error
  }
}

const reinstatedAts = ({ reinstated }: ReversalBooks, id: PaymentId): readonly Timestamp[] => reinstated.get(id) ?? []

/** Whether it is about the place where its payment was put back, and not about its own. */
export const isBehindReinstated = (books: ReversalBooks, { paymentId, paidAt }: LedgerReversal): boolean =>
  reinstatedAts(books, paymentId).includes(paidAt)

/** What was undone and what undid it name each other. */
const ofPair = (
  { paymentId, seq, undoes, undoneBy }: LedgerReversal,
  { byNumber }: ReversalBooks,
): readonly Difference[] => {
  const named = byNumber.get(undoes ?? undoneBy ?? 0)
  const other = named?.paymentId === paymentId ? named : undefined
  return undoes === undefined
    ? differs('reversal.undone_by', paymentId, undoneBy === undefined ? undefined : seq, other?.undoes)
    : differs('reversal.undoes', paymentId, seq, other?.undoneBy)
}

/** Its fee may have become final since, and no sum is made of its amounts: but they add up. */
const ofPart = (
  { paymentId: id, at, paidAt, notionalMinor, providerFeeMinor, markupMinor, netMinor }: LedgerReversal,
  payment: Payment | undefined,
  places: readonly Timestamp[],
): readonly Difference[] => [
  ...breaks('reversal.part', id, payment?.reversal === undefined, 'of a payment of which something went back', at),
  ...breaks('reversal.paid_at', id, ![payment?.paidAt, ...places].includes(paidAt), 'where its payment stands', paidAt),
  ...differs('reversal.notional_minor', id, payment?.notionalMinor, notionalMinor),
  ...differs('reversal.markup_minor', id, payment?.markupMinor, markupMinor),
  ...differs('reversal.net_minor', id, notionalMinor - providerFeeMinor - markupMinor, netMinor),
]

const ofPayment = (reversal: LedgerReversal, books: ReversalBooks): readonly Difference[] => {
  const { paymentId: id, at, paidAt } = reversal
  const payment = books.payments.get(id)
  if (isPart(reversal)) return ofPart(reversal, payment, reinstatedAts(books, id))
  const isOwnPlace = !isBehindReinstated(books, reversal)
  return [
    ...(isDeducted(reversal) && isOwnPlace ? differs('reversal.at', id, payment?.reversal?.deductedAt, at) : []),
    ...(isOwnPlace ? differs('reversal.paid_at', id, payment?.paidAt, paidAt) : []),
    ...(isReinstated(reversal) ? differs('reversal.at', id, paidAt, at) : []),
    ...ofPair(reversal, books),
    ...AMOUNTS.flatMap((field) => differs(`reversal.${field}`, id, payment?.[field], reversal[field])),
  ]
}

/** Where a payment was put back last is what its last reinstatement says. */
const ofReinstated = (books: ReversalBooks, { paymentId, reversal }: Payment): readonly Difference[] => {
  const last = reinstatedAts(books, paymentId).at(-1)
  return differs('payment.reinstated_at', paymentId, last, reversal?.reinstatedAt)
}

/**
 * What was deducted before it was swept, and what came again, against the payments it is about; numbered without a gap up
 * to the window's number, so that one taken away is missed.
 */
export const auditReversals = (books: ReversalBooks, { reversalSeq = 0 }: Window): readonly Difference[] => {
  const inOrder = books.reversals.toSorted((a, b) => a.seq - b.seq)
  return [
    ...differs('window.reversal_seq', 'window', inOrder.length, reversalSeq),
    ...inOrder.flatMap(({ paymentId, seq }, at) => differs('reversal.seq', paymentId, at + 1, seq)),
    ...inOrder.flatMap((reversal) => ofPayment(reversal, books)),
    ...[...books.payments.values()].flatMap((payment) => ofReinstated(books, payment)),
  ]
}

/** Whether what a payment says of its going back is what its settlement must know. */
const isNotedOn = ({ settlementId }: Settlement, { reversal }: Payment): boolean =>
  reversal?.wholeAt !== undefined && reversal.whole?.settlementId === settlementId

/** What only the payments that are noted there can say: when the last of them went back, and what is owed for them. */
const ofNoted = (settlement: Settlement, known: readonly Payment[]): readonly Difference[] => {
  const { settlementId: id, reversedAt, receivableIds, recreditedAt, undoneCount } = settlement
  // Of one that came again the time stays, and what a re-credit left out before is owed by nobody.
  if (known.length === 0 || undoneCount !== undefined || recreditedAt !== undefined) return []
  if (!known.every((payment) => isNotedOn(settlement, payment))) return []
  const owed = known.map(({ reversal }) => `${reversal?.whole?.transactionId}#reversed_after_settlement`)
  return [
    ...breaks(
      'settlement.reversed_at',
      id,
      !known.some(({ reversal }) => reversal?.wholeAt === reversedAt),
      'when one of its payments went back',
      reversedAt,
    ),
    ...breaks(
      'settlement.receivable_ids',
      id,
      !owed.every((receivableId) => receivableIds?.has(receivableId)),
      'what is owed for its payments',
      receivableIds?.size,
    ),
  ]
}

/** What went back of a settlement since it was recorded, against the payments it names. */
export const auditReversedOf = async (
  deps: Pick<Deps, 'table'>,
  settlement: Settlement,
  books: ReversalBooks,
): Promise<readonly Difference[]> => {
  const { settlementId: id, reversedPaymentIds = new Set<string>(), reversedCount = 0, undoneCount = 0 } = settlement
  const ids = [...reversedPaymentIds].map((paymentId) => v.parse(PaymentIdSchema, paymentId))
  const payments = ids.length === 0 ? [] : await findPaymentsByKey(deps, ids)
  const leftOut = new Set(books.reversals.filter(({ leftOutOf }) => leftOutOf === id).map(({ paymentId }) => paymentId))
  const isIn = (place: Timestamp | undefined) =>
    place !== undefined && place >= settlement.periodStart && place < settlement.periodEnd
  const isOfIt = ({ clientId, paymentId, reversal, paidAt }: Payment) =>
    clientId === settlement.clientId &&
    // Not come again since, or put back behind its re-credit.
    (reversal?.wholeAt !== undefined || leftOut.has(paymentId)) &&
    [paidAt, ...reinstatedAts(books, paymentId)].some(isIn)
  const known = payments.filter(isOfIt)
  const parts = standingParts(books.reversals.filter(({ paidAt }) => isIn(paidAt)))
  const sum = (field: (typeof AMOUNTS)[number]) => known.reduce((total, payment) => total + payment[field], 0)
  const { grossMinor, providerFeesMinor, markupMinor, netMinor } = reversedSums(settlement)
  return [
    ...differs('settlement.reversed_payment_ids', id, known.length, reversedPaymentIds.size),
    ...breaks(
      'settlement.reversed_count',
      id,
      // More is only looked at more often: of parts that went back since nothing else counts how many they were.
      reversedCount - undoneCount < known.length + parts.length,
      'at least its payments, and the parts of them',
      reversedCount,
    ),
    ...ofNoted(settlement, known),
    ...differs('settlement.reversed_gross_minor', id, sum('notionalMinor'), grossMinor),
    ...differs('settlement.reversed_provider_fees_minor', id, sum('providerFeeMinor'), providerFeesMinor),
    ...differs('settlement.reversed_markup_minor', id, sum('markupMinor'), markupMinor),
    ...differs('settlement.reversed_net_minor', id, sum('netMinor'), netMinor),
  ]
}

/** A payment that says it was deducted, or put back, is among the reversals. */
export const auditDeducted = (books: ReversalBooks): ((payment: Payment) => readonly Difference[]) => {
  const own = books.reversals.filter((reversal) => isDeducted(reversal) && !isBehindReinstated(books, reversal))
  const deducted = deductedIn(own)
  const said = (isSaid: boolean) => (isSaid ? 'deducted' : 'not deducted')
  return (payment) => {
    const { paymentId: id, reversal } = payment
    const found = said(reversal?.deductedAt !== undefined)
    return [
      ...differs('payment.reversal', id, said(deducted.has(id)), found),
      ...(books.payments.has(id) ? [] : ofReinstated(books, payment)),
    ]
  }
}
