import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type ClientId, type PaymentId, PaymentIdSchema } from '../ids.ts'
import { readableRows, readRows } from '../if-valid.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment, isForeign } from '../payment/payment-store.ts'
import type { Unanswered } from '../provider/provider.ts'
import { finding, recordFinding, reportSuspense } from '../suspense/record-suspense.ts'
import { FromItem, toItem } from '../table/attributes.ts'
import { paymentKey } from '../table/keys.ts'
import { queryPages } from '../table/list-items.ts'
import { addMs, DAY_MS, dayNumber, MINUTE_MS, TimestampSchema, timeLimit } from '../time.ts'
import { askForRows } from './ask-for-rows.ts'
import { postPayments, settledRowOf } from './post-payments.ts'

export type AssumeDeps = Pick<
  Deps,
  'stage' | 'table' | 'provider' | 'now' | 'monotonicMs' | 'log' | 'alerts'
>

/** How long a payment waits for its settled row before its fee is assumed. */
export const FEE_WAIT_MS = 7 * DAY_MS

/** Operators are then told, by another item than that of an assumed fee. */
const TELL_AFTER_MS = 9 * DAY_MS

/** The most payments that one run asks about, within a minute. */
const MAX_AT_ONCE = 50
/** After so many no run follows until the next day: the provider answers nothing now. */
const MAX_UNANSWERED = 5

/** A row of a client's list of open payments, by which the list continues. */
export const OpenRowSchema = v.pipe(
  FromItem,
  v.object({ openAt: TimestampSchema, id: PaymentIdSchema }),
)
export type OpenRow = v.InferOutput<typeof OpenRowSchema>

/**
 * Posts some of a client's overdue payments. Answers the last payment that it asked about if more
 * payments may wait. The next run begins after that payment, so that a payment that cannot be
 * posted delays no other payment.
 */
export async function postOverduePayments(
  deps: AssumeDeps,
  clientId: ClientId,
  startAfter?: OpenRow,
) {
  const isOver = timeLimit(deps, MINUTE_MS)
  const day = dayNumber(deps.now())
  const pages = queryPages(deps, {
    index: 'by-open',
    partition: [clientId],
    range: { atMost: addMs(deps.now(), -FEE_WAIT_MS) },
    // Payments without answers may fill a run. Another day's run begins at the other end.
    newestFirst: day % 2 === 1,
    limit: MAX_AT_ONCE,
    cursor: startAfter && {
      ...paymentKey(startAfter.id),
      ...toItem({ ...startAfter, owner: clientId }),
    },
  })
  let askedCount = 0
  let unansweredCount = 0
  // The index only suggests: each payment is read again.
  for await (const { items } of pages) {
    for (const row of readableRows(deps, 'payment', readRows(OpenRowSchema, items))) {
      const reason = await postOverduePayment(deps, row.id).catch((cause: unknown) => {
        deps.log.error('payment.check_failed', { work: 'posting', id: row.id }, cause)
        return 'refused' as const
      })
      if (reason && row.openAt < addMs(deps.now(), -TELL_AFTER_MS)) {
        await recordFinding(deps, {
          subject: `${row.id}#open`,
          cause: 'transaction_missing',
          payment: { paymentId: row.id, clientId },
        })
      }
      if (reason && reason !== 'refused') unansweredCount++
      const isSilent = unansweredCount >= MAX_UNANSWERED
      // No other payment would be answered now. They stay open, and the settlement continues.
      if (isSilent && (reason === 'rate_limited' || reason === 'misconfigured')) return undefined
      if (++askedCount === MAX_AT_ONCE || isOver()) return isSilent ? undefined : row
    }
  }
  return undefined
}

/** After a lost race one more read finds the payment posted. */
const MAX_TRIES = 3

/**
 * Posts a payment that has waited long enough. The provider is asked once more; without a settled
 * row the estimate becomes the fee, with a finding. Answers why the provider answers nothing. Then
 * the payment stays open.
 */
async function postOverduePayment(
  deps: AssumeDeps,
  paymentId: PaymentId,
): Promise<Unanswered['reason'] | undefined> {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const payment = await findStoredPayment(deps, paymentId)
    if (payment?.status !== 'succeeded' || payment.openAt === undefined) return undefined
    if (isForeign(payment)) {
      await recordFinding(deps, { subject: paymentId, cause: 'payment_foreign', payment })
      return undefined
    }
    const answer = await askForOwnRow(deps, payment)
    if (answer.kind === 'unanswered') return answer.reason
    const { row, contradicting, isKnown, isVoid } = answer
    // The sync closes the payment of a void row. Of a failed row an operator asks the provider.
    if (isVoid) return undefined
    // Without any row the provider may not have the money either.
    const cause = contradicting
      ? 'row_contradicts'
      : isKnown
        ? 'fee_assumed'
        : 'transaction_missing'
    const assumed = finding({ subject: payment.paymentId, cause, payment, now: deps.now() })
    const by = row ? { row } : { assumed, contradicting }
    const [posted] = await postPayments(deps, [{ payment, by }])
    if (posted === undefined) continue
    if (row === undefined) await reportSuspense(deps, assumed)
    return undefined
  }
  return undefined
}

/**
 * `row`: undefined until the payment's own row has settled with its final fee. `contradicting`:
 * that row, if it says nothing about the fee.
 */
export async function askForOwnRow(deps: Pick<Deps, 'provider' | 'stage'>, payment: Payment) {
  const providerPaymentId = payment.capture?.providerPaymentId
  // Without an id the provider lists every payment.
  const answer = providerPaymentId
    ? await askForRows(deps, providerPaymentId, payment.paymentId)
    : { kind: 'answered' as const, rows: [], isVoid: false, isWhole: true }
  if (answer.kind === 'unanswered') return answer
  const { kind, rows: ownRows, isVoid, isWhole } = answer
  const settled = ownRows.flatMap((ownRow) => settledRowOf(deps, payment, ownRow) ?? [])
  const row = settled.find(({ contradicts }) => !contradicts)
  const contradicting = settled.find(({ contradicts }) => contradicts)
  // An unreadable row of the capture may be the payment's own row.
  const isKnown = ownRows.length > 0 || !isWhole
  return { kind, row, ...(contradicting && { contradicting }), isKnown, isVoid }
}
