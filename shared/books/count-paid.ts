import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import type { PaymentId } from '../ids.ts'
import { ZERO } from '../money.ts'
import { expectedSettlement } from '../payment/channel/expected-settlement.ts'
import type { Payment, Reversal } from '../payment/payment.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { type PaidPayment, paidPages } from '../settlement/paid-payments.ts'
import { addMs, DAY_MS, HOUR_MS, MINUTE_MS, type Timestamp, timestampOf } from '../time.ts'
import {
  addCounted,
  addWaiting,
  type CountedPaid,
  keepPaidCount,
  type PaidCount,
  readPaidCount,
  type Standing,
} from './paid-count-store.ts'

type CountDeps = Pick<Deps, 'table' | 'stage' | 'now'>

/** A difference counts from then on; and what is in no index by then is not late, it is missing. */
export const DIFFERENCE_AGE_MS = HOUR_MS
/** Behind the provider's own time the sync reads the hour in which it settles again (shared/sync/tail.ts). */
const READ_BY_MS = HOUR_MS + 10 * MINUTE_MS
/** Machines' clocks differ a little. */
const SKEW_MS = MINUTE_MS
const BEGINNING = timestampOf(0)

/**
 * How long what went back may be settled all the same: a dispute can be won, and what was refunded is often settled like
 * any other and taken from us by a row of its own. What was voided never is.
 */
const SETTLES_YET_MS: Readonly<Partial<Record<Reversal['kind'], number>>> = {
  chargeback: 180 * DAY_MS,
  refund: 30 * DAY_MS,
}

/** They lie in one item and are read one by one, each time; behind these nothing is kept until some are done. */
const MOST_WAITING = 1_000

const standingOf = (payment: Payment, now: Timestamp): Standing => {
  const { feeStatus, providerSettledAt, reversal, paidAt = now } = payment
  if (feeStatus !== 'estimated' && providerSettledAt !== undefined) return 'settled'
  if (feeStatus !== 'estimated' && reversal?.wholeAt !== undefined) return 'returned'
  if (providerSettledAt !== undefined) return 'not_due'
  return addMs(expectedSettlement(payment, paidAt), READ_BY_MS + DIFFERENCE_AGE_MS) < now ? 'overdue' : 'not_due'
}

/** Whether all of it went back, and it may be settled after all. */
const settlesYet = ({ reversal }: Payment, now: Timestamp): boolean => {
  const kind = reversal?.whole?.kind
  return kind !== undefined && addMs(reversal?.wholeAt ?? now, SETTLES_YET_MS[kind] ?? 0) > now
}

type Judged = {
  readonly id: PaymentId
  readonly payment: PaidPayment | Payment
  readonly standing: Standing
  readonly isFinal: boolean
}

const judge = (payment: Payment, now: Timestamp): Judged => {
  const standing = standingOf(payment, now)
  const isFinal = standing === 'settled' || (standing === 'returned' && !settlesYet(payment, now))
  return { id: payment.paymentId, payment, standing, isFinal }
}

const judgeById = async (deps: CountDeps, ids: readonly PaymentId[]): Promise<readonly Judged[]> => {
  const now = deps.now()
  const payments = ids.length === 0 ? [] : await findPaymentsByKey(deps, ids)
  return payments.map((payment) => judge(payment, now))
}

/** What the index shows as done is; of the others the payments themselves are read, unless they are too young for it. */
const judgeRows = async (deps: CountDeps, rows: readonly PaidPayment[]): Promise<readonly Judged[]> => {
  const young = addMs(deps.now(), -DIFFERENCE_AGE_MS)
  const known = new Map<PaymentId, Judged>()
  for (const payment of rows) {
    const isSettled = payment.feeStatus !== 'estimated' && payment.providerSettledAt !== undefined
    if (!isSettled && payment.paidAt < young) continue
    known.set(payment.id, { id: payment.id, payment, standing: isSettled ? 'settled' : 'not_due', isFinal: isSettled })
  }
  const unknown = rows.filter(({ id }) => !known.has(id)).map(({ id }) => id)
  for (const judged of await judgeById(deps, unknown)) known.set(judged.id, judged)
  return rows.flatMap(({ id }) => known.get(id) ?? [])
}

/** With what is final in the sums, and the rest waiting. */
const kept = (count: PaidCount, judged: readonly Judged[]): PaidCount => {
  const waitingIds = new Set(count.waitingIds)
  for (const { id, isFinal } of judged) {
    if (isFinal) waitingIds.delete(id)
    else waitingIds.add(id)
  }
  const final = judged.filter(({ isFinal }) => isFinal)
  return final.reduce((sum, { payment, standing }) => addCounted(sum, payment, standing), { ...count, waitingIds })
}

/** Behind one more page; undefined when it cannot be kept: too many would wait, or a row leads to no payment. */
const keptBehind = (
  count: PaidCount,
  rows: readonly PaidPayment[],
  judged: readonly Judged[],
): PaidCount | undefined => {
  const last = rows.at(-1)
  if (last === undefined) return count
  const next = kept(count, judged)
  const fits = judged.length === rows.length && (next.waitingIds?.size ?? 0) <= MOST_WAITING
  return fits ? { ...next, place: { paidAt: last.paidAt, id: last.id } } : undefined
}

const counted = (count: CountedPaid, judged: readonly Judged[]): CountedPaid =>
  judged.reduce(
    (sum, { payment, standing, isFinal }) => ({
      ...addWaiting(sum, payment, standing),
      isFinal: sum.isFinal && isFinal,
    }),
    count,
  )

/**
 * Counts all that a client was ever paid, and what has become of it at the provider. What is final is counted once and
 * kept, so that a count costs what is new and what waits; of two at once one is kept, and no answer depends on that.
 * Undefined when its time is over before the end: the next one goes on from there.
 */
export const countPaid = async (
  deps: CountDeps,
  { clientId }: Pick<Client, 'clientId'>,
  { parts, isOver }: { readonly parts: number; readonly isOver: () => boolean },
): Promise<CountedPaid | undefined> => {
  const found = await readPaidCount(deps, clientId)
  const waited = await judgeById(deps, [...(found.waitingIds ?? [])])
  const { sums, settledMinor, returnedMinor } = found
  let all = counted({ sums, settledMinor, returnedMinor, notDueMinor: ZERO, overdueMinor: ZERO, isFinal: true }, waited)
  let keeping = kept(found, waited)
  let isKeeping = true
  let isWhole = true
  const late = addMs(deps.now(), -DIFFERENCE_AGE_MS)
  const period = { start: found.place?.paidAt ?? BEGINNING, end: addMs(deps.now(), SKEW_MS) }
  for await (const { payments, more } of paidPages(deps, { clientId, parts, period, after: found.place })) {
    const judged = await judgeRows(deps, payments)
    all = counted(all, judged)
    // Younger rows may have others between them that the index does not show yet.
    const old = payments.filter(({ paidAt }) => paidAt < late)
    const ids = new Set(old.map(({ id }) => id))
    const next: PaidCount | undefined = isKeeping
      ? keptBehind(
          keeping,
          old,
          judged.filter(({ id }) => ids.has(id)),
        )
      : undefined
    keeping = next ?? keeping
    isKeeping = next !== undefined
    // Ending anywhere else the next one would come no further.
    if (more && isKeeping && old.length === payments.length && isOver()) {
      isWhole = false
      break
    }
  }
  if (keeping.place?.id !== found.place?.id || keeping.waitingIds?.size !== (found.waitingIds?.size ?? 0)) {
    await keepPaidCount(deps, clientId, keeping)
  }
  return isWhole ? all : undefined
}
