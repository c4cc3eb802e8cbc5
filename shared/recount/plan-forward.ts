import * as v from 'valibot'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import { judgeEvent } from '../audit/judged/judge-events.ts'
import { mapInChunks } from '../chunks.ts'
import { typeOfEvent } from '../event/event.ts'
import { type PaymentId, paymentIdOf, referenceOf } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { countTransition, creditShard } from '../ledger/shard-store.ts'
import { commitSucceeded, writePointers } from '../payment/creating-store.ts'
import { askForNews, type NewsSubject } from '../payment/news/ask-for-news.ts'
import { requestsOf } from '../payment/news/refresh-payment.ts'
import { creditedNewPayment, creditedPayment } from '../payment/news/succeed-payment.ts'
import type { Payment, StoredPayment } from '../payment/payment.ts'
import {
  findStoredPayment,
  isForeign,
  leavePending,
  withTransition,
} from '../payment/payment-store.ts'
import { FAILURE_REASONS } from '../payment-status.ts'
import { type ProviderPayment, providerFailure } from '../provider/provider.ts'
import { findSuspense } from '../suspense/suspense-store.ts'
import type { Steps } from '../table/table.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import { bringMoneyForward } from './bring-money-forward.ts'
import { completeEvent } from './complete-payment.ts'
import {
  ADVICE,
  listProviderRows,
  type RecountDeps,
  type Repair,
  type StrayEvent,
  type Strays,
} from './repair.ts'

const EventDetails = v.object({
  data: v.object({
    failure_reason: v.optional(v.picklist(FAILURE_REASONS)),
    payment_destination: v.optional(v.string()),
    created_at: v.optional(TimestampSchema),
    paid_at: v.optional(TimestampSchema),
  }),
})

/** Plans one payment after another because of the quota. */
export async function planForward(
  deps: RecountDeps,
  books: ClientBooks,
  { events, entries }: Strays,
): Promise<readonly Repair[]> {
  const ids = new Set([...events, ...entries].map(({ paymentId }) => paymentId))
  const repairs = await mapInChunks([...ids], 1, async (id) => {
    const payment = await findStoredPayment(deps, id)
    const isOwn = ({ paymentId }: { readonly paymentId: PaymentId }) => paymentId === id
    const strays = { events: events.filter(isOwn), entries: entries.filter(isOwn) }
    if (payment?.clientId !== books.clientId || isForeign(payment)) return undefined
    if (payment.status === 'succeeded') return bringMoneyForward(deps, books, payment, strays)
    const hasEnded = payment.status !== 'creating' && payment.status !== 'pending'
    return hasEnded ? undefined : planEnd(deps, books, payment, strays)
  })
  return repairs.flatMap((repair) => repair ?? [])
}

/**
 * Repairs a payment that has not ended, but whose event or entry shows its end. The payment gets
 * the status and time of its event. Without an event the restore tore two transactions. Then the
 * payment succeeds, at the time in its entry or in its movement's event. The next recount repairs
 * the remaining differences. The provider names the capture, so that later news of this capture is
 * not credited again.
 */
async function planEnd(
  deps: RecountDeps,
  books: ClientBooks,
  payment: StoredPayment,
  { events, entries }: Strays,
): Promise<Repair | undefined> {
  const stray = events.find(({ event: { name } }) => typeOfEvent(name) === name)
  const paidAt =
    entries[0]?.entry.paidAt ?? events.flatMap((event) => detailsOf(event).paid_at ?? [])[0]
  const endPlan = stray
    ? await planEndByEvent(deps, payment, stray)
    : payment.status === 'pending' && paidAt && (await planSuccess(deps, payment, paidAt))
  if (!endPlan) return undefined
  const { after, steps } = endPlan
  // The event must match the repaired payment.
  const by = { clientId: books.clientId, now: deps.now() }
  if (stray && judgeEvent(after, { ...stray.event, item: stray.item }, by).length > 0)
    return undefined
  return {
    subject: after.paymentId,
    targets: stray ? [stray.difference] : [],
    recordedTargets: (stray ? [stray] : [...entries, ...events]).map(
      ({ difference }) => difference,
    ),
    steps: async () => ({
      ...(await completeEvent(deps, after, stray?.event.name ?? 'payment.succeeded')),
      ...(await steps()),
    }),
  }
}

function detailsOf({ event }: StrayEvent) {
  return ifValid(EventDetails, JSON.parse(event.body))?.data ?? {}
}

/** Undefined without a capture at the provider, or a destination. */
async function planEndByEvent(deps: RecountDeps, payment: StoredPayment, stray: StrayEvent) {
  const { type, firedAt } = stray.event
  if (type === 'payment.succeeded') return planSuccess(deps, payment, firedAt, stray)
  if (payment.status === 'creating') return undefined
  const status = type === 'payment.failed' ? 'failed' : 'expired'
  const { failure_reason: failureReason = 'other' } = detailsOf(stray)
  const after: Payment = {
    ...withTransition(payment, status, firedAt, 'operator'),
    dueAt: undefined,
    ...(status === 'failed' && { failureReason }),
  }
  const counts = countTransition({ ...after, from: 'pending', to: status })
  return { after, steps: () => ({ payment: leavePending(after), counts }) }
}

type EndPlan = {
  readonly after: Payment
  readonly steps: () => Promise<Steps<string>> | Steps<string>
}

/** A payment that is still `creating` became visible in the transaction of the stray event. */
async function planSuccess(
  deps: RecountDeps,
  payment: StoredPayment,
  at: Timestamp,
  stray?: StrayEvent,
): Promise<EndPlan | undefined> {
  const capture = await askForCapture(deps, payment)
  if (capture === undefined) return undefined
  const success = { capture, at, source: 'operator' } as const
  if (payment.status !== 'creating') {
    const after = creditedPayment(deps, payment, success)
    const ledger = creditShard({ ...after, from: 'pending' }, after.netMinor, deps.now())
    return { after, steps: () => ({ payment: leavePending(after), ledger }) }
  }
  const { payment_destination: destination, created_at: createdAt } = stray ? detailsOf(stray) : {}
  const after = creditedNewPayment(deps, payment, destination, { ...success, createdAt })
  const ledger = creditShard({ ...after, from: undefined }, after.netMinor, deps.now())
  const steps = async () => {
    await writePointers(deps, after)
    return { payment: commitSucceeded(after, deps.now()), ledger }
  }
  return { after, steps }
}

/** The capture may be of any attempt. A capture in suspense does not count. */
async function askForCapture(
  deps: RecountDeps,
  payment: StoredPayment,
): Promise<ProviderPayment | undefined> {
  const references = Array.from({ length: payment.attempt }, (_, at) =>
    referenceOf(payment.paymentId, at + 1),
  )
  // The provider's payments under an attempt's reference, because an unanswered attempt has no
  // known request id.
  const rows = await mapInChunks(references, 1, (reference) =>
    listProviderRows(deps, { reference, limit: 10 }),
  )
  const subjects: readonly NewsSubject[] = [
    ...requestsOf(payment).map((paymentRequestId) => ({ paymentRequestId })),
    ...(payment.rememberedProviderPaymentIds ?? [])
      .values()
      .map((providerPaymentId) => ({ providerPaymentId })),
    ...rows
      .flat()
      .flatMap(({ type, providerPaymentId }) =>
        type === 'payment' ? [{ providerPaymentId }] : [],
      ),
  ]
  const { notionalMinor } = payment.status === 'creating' ? payment.request : payment
  for (const subject of subjects) {
    const answer = await askForNews(deps, subject)
    if (answer.kind === 'unanswered') throw providerFailure(answer, ADVICE)
    const capture = answer.kind === 'news' ? answer.news.capture : undefined
    if (capture === undefined || paymentIdOf(capture.reference) !== payment.paymentId) continue
    if (capture.currency !== 'IDR' || capture.capturedMinor !== notionalMinor) continue
    if ((await findSuspense(deps, capture.providerPaymentId)) === undefined) return capture
  }
  return undefined
}
