import * as v from 'valibot'
import { auditEvent } from '../audit/judged/audit-event.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import { mapInChunks } from '../chunks.ts'
import { typeOfEvent } from '../event/event.ts'
import { type PaymentId, paymentIdOf, referenceOf } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { countTransition, credit } from '../ledger/shard-store.ts'
import { commitSucceeded, putPointers } from '../payment/creating-store.ts'
import { askForNews, type NewsSubject } from '../payment/news/ask-for-news.ts'
import { requestsOf } from '../payment/news/refresh-payment.ts'
import { asSucceeded, asSucceededFromCreating } from '../payment/news/succeed-payment.ts'
import type { Payment, StoredPayment } from '../payment/payment.ts'
import { findStoredPayment, leavePending, transitioned } from '../payment/payment-store.ts'
import { FAILURE_REASONS } from '../payment-status.ts'
import { type ProviderPayment, providerFailure } from '../provider/provider.ts'
import { findSuspense } from '../suspense/suspense-store.ts'
import type { Steps } from '../table/table.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import { bringMoneyForward } from './bring-money-forward.ts'
import { eventSteps } from './complete-payment.ts'
import {
  ADVICE,
  providerRows,
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

/** Plans the repair of payments whose events or entries show more than their row. One by one, for the quota. */
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
    if (payment?.clientId !== books.clientId) return undefined
    if (payment.status === 'succeeded') return bringMoneyForward(deps, books, payment, strays)
    const hasEnded = payment.status !== 'creating' && payment.status !== 'pending'
    return hasEnded ? undefined : end(deps, payment, strays)
  })
  return repairs.flatMap((one) => one ?? [])
}

/**
 * Repairs a payment that has not ended, but whose event or entry shows its end. It gets the status and time of its
 * event. Without an event the restore tore two transactions. Then the payment succeeds, with its event, at the time in
 * its entry or in its movement's event. The next recount does the rest. The provider names the capture, so that later
 * news of it is not credited again.
 */
async function end(
  deps: RecountDeps,
  payment: StoredPayment,
  { events, entries }: Strays,
): Promise<Repair | undefined> {
  const stray = events.find(({ event: { name } }) => typeOfEvent(name) === name)
  const paidAt =
    entries[0]?.entry.paidAt ?? events.flatMap((one) => detailsOf(one).paid_at ?? [])[0]
  const ended = stray
    ? await endedByEvent(deps, payment, stray)
    : payment.status === 'pending' && paidAt && (await succeeded(deps, payment, paidAt))
  if (!ended) return undefined
  const { after, steps } = ended
  // The event must match the repaired payment.
  if (stray && auditEvent(after, { ...stray.event, item: stray.item }, deps.now()).length > 0)
    return undefined
  return {
    subject: after.paymentId,
    of: stray ? [stray.difference] : [],
    towards: (stray ? [stray] : [...entries, ...events]).map(({ difference }) => difference),
    steps: async () => ({
      ...(await eventSteps(deps, after, stray?.event.name ?? 'payment.succeeded')),
      ...(await steps()),
    }),
  }
}

/** The payment fields that only the event has. */
function detailsOf({ event }: StrayEvent) {
  return ifValid(EventDetails, JSON.parse(event.body))?.data ?? {}
}

/** The payment as its event shows its end. Undefined without a capture at the provider, or a destination. */
async function endedByEvent(deps: RecountDeps, payment: StoredPayment, stray: StrayEvent) {
  const { type, firedAt } = stray.event
  if (type === 'payment.succeeded') return succeeded(deps, payment, firedAt, stray)
  if (payment.status === 'creating') return undefined
  const status = type === 'payment.failed' ? 'failed' : 'expired'
  const { failure_reason: failureReason = 'other' } = detailsOf(stray)
  const after: Payment = {
    ...transitioned(payment, status, firedAt, 'operator'),
    dueAt: undefined,
    ...(status === 'failed' && { failureReason }),
  }
  const counts = countTransition({ ...after, from: 'pending', to: status })
  return { after, steps: () => ({ payment: leavePending(after), counts }) }
}

type Ended = {
  readonly after: Payment
  readonly steps: () => Promise<Steps<string>> | Steps<string>
}

/** The payment after its capture. One still `creating` became visible in the transaction of the stray event. */
async function succeeded(
  deps: RecountDeps,
  payment: StoredPayment,
  at: Timestamp,
  stray?: StrayEvent,
): Promise<Ended | undefined> {
  const capture = await askCapture(deps, payment)
  if (capture === undefined) return undefined
  const paid = { capture, at, source: 'operator' } as const
  if (payment.status !== 'creating') {
    const after = asSucceeded(deps, payment, paid)
    const ledger = credit({ ...after, from: 'pending' }, after.netMinor, deps.now())
    return { after, steps: () => ({ payment: leavePending(after), ledger }) }
  }
  const { payment_destination: destination, created_at: createdAt } = stray ? detailsOf(stray) : {}
  const after = asSucceededFromCreating(deps, payment, destination, { ...paid, createdAt })
  const ledger = credit({ ...after, from: undefined }, after.netMinor, deps.now())
  const steps = async () => {
    await putPointers(deps, after)
    return { payment: commitSucceeded(after, deps.now()), ledger }
  }
  return { after, steps }
}

/** The capture that paid a payment, on any attempt, not one in suspense. Throws 502 if the provider does not answer. */
async function askCapture(
  deps: RecountDeps,
  payment: StoredPayment,
): Promise<ProviderPayment | undefined> {
  const references = Array.from({ length: payment.attempt }, (_, at) =>
    referenceOf(payment.paymentId, at + 1),
  )
  // The provider's payments under an attempt's reference, because an unanswered attempt has no known request id.
  const rows = await mapInChunks(references, 1, (reference) =>
    providerRows(deps, { reference, limit: 10 }),
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
