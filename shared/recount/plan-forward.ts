import * as v from 'valibot'
import { auditEvent } from '../audit/judged/audit-event.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import { mapInChunks } from '../chunks.ts'
import { typeOfEvent } from '../event/event.ts'
import { type PaymentId, paymentIdOf, referenceOf } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { countTransition, credit } from '../ledger/shard-store.ts'
import { commitSucceeded, putPointers } from '../payment/creating-store.ts'
import { newPayment } from '../payment/new-payment.ts'
import { askForNews, type NewsSubject } from '../payment/news/ask-for-news.ts'
import { requestsOf } from '../payment/news/refresh-payment.ts'
import { paidBy } from '../payment/news/succeed-payment.ts'
import type { CreatingPayment, Payment, StoredPayment } from '../payment/payment.ts'
import { findStoredPayment, leavePending, transitioned } from '../payment/payment-store.ts'
import { FAILURE_REASONS } from '../payment-status.ts'
import type { ProviderPayment } from '../provider/provider.ts'
import { providerFailure } from '../provider/provider-failure.ts'
import { findSuspense } from '../suspense/suspense-store.ts'
import type { Steps } from '../table/table.ts'
import { bringMoneyForward } from './bring-money-forward.ts'
import { keptEvent, rebuiltEvent } from './complete-payment.ts'
import {
  ADVICE,
  providerRows,
  type RecountBy,
  type RecountDeps,
  type Repair,
  repairOf,
  type StrayEntry,
  type StrayEvent,
  type Strays,
} from './repair.ts'

const EventDetails = v.object({
  data: v.object({
    failure_reason: v.optional(v.picklist(FAILURE_REASONS)),
    payment_destination: v.optional(v.string()),
  }),
})

/** The payment fields that only the event has. */
const detailsOf = ({ event }: StrayEvent) => ifValid(EventDetails, JSON.parse(event.body))?.data ?? {}

type Forward = { readonly after: Payment; readonly steps: Steps<string>; readonly pointers?: boolean }

const succeeded = async (deps: RecountDeps, stray: StrayEvent, pending: Payment): Promise<Forward | undefined> => {
  const capture = await askCapture(deps, pending)
  if (capture === undefined) return undefined
  const after = paidBy(deps, pending, { capture, at: stray.event.firedAt, source: 'operator' })
  const ledger = credit({ ...after, from: 'pending' }, after.netMinor, deps.now())
  return { after, steps: { payment: leavePending(after), ledger } }
}

/** The payment was paid before its create ended: it became visible in the transaction that wrote this event. */
const succeededCreating = async (deps: RecountDeps, stray: StrayEvent, creating: CreatingPayment) => {
  const capture = await askCapture(deps, creating)
  if (capture === undefined) return undefined
  const { firedAt } = stray.event
  const upstream = { paymentRequestId: capture.paymentRequestId, destination: detailsOf(stray).payment_destination }
  const made = newPayment(creating, upstream, { createdAt: firedAt, expiresAt: undefined })
  const after = {
    ...paidBy(deps, made, { capture, at: firedAt, source: 'operator' }),
    rememberedProviderPaymentIds: undefined,
  }
  const ledger = credit({ ...after, from: undefined }, after.netMinor, deps.now())
  return { after, steps: { payment: commitSucceeded(after, deps.now()), ledger }, pointers: true }
}

const closed = (stray: StrayEvent, pending: Payment, status: 'failed' | 'expired'): Forward => {
  const { failure_reason: failureReason = 'other' } = detailsOf(stray)
  const after: Payment = {
    ...transitioned(pending, status, stray.event.firedAt, 'operator'),
    dueAt: undefined,
    ...(status === 'failed' && { failureReason }),
  }
  return {
    after,
    steps: { payment: leavePending(after), counts: countTransition({ ...after, from: 'pending', to: status }) },
  }
}

/**
 * Repairs a pending payment that has an entry: the restore tore two transactions. The payment succeeds at the entry's
 * `paidAt`, with its event; the next recount posts it. Undefined if the provider shows no capture.
 */
const bringForwardByEntry = async (
  deps: RecountDeps,
  by: RecountBy,
  { paymentId, entries }: { readonly paymentId: PaymentId; readonly entries: readonly StrayEntry[] },
): Promise<Repair | undefined> => {
  const pending = await findStoredPayment(deps, paymentId)
  const paidAt = entries[0]?.entry.paidAt
  if (pending?.status !== 'pending' || pending.clientId !== by.client.clientId || paidAt === undefined) return undefined
  const capture = await askCapture(deps, pending)
  if (capture === undefined) return undefined
  const after = paidBy(deps, pending, { capture, at: paidAt, source: 'operator' })
  return repairOf(deps, by, {
    subject: paymentId,
    of: [],
    towards: entries.map(({ difference }) => difference),
    steps: async () => ({
      ...(await rebuiltEvent(deps, after, 'payment.succeeded')),
      payment: leavePending(after),
      ledger: credit({ ...after, from: 'pending' }, after.netMinor, deps.now()),
    }),
  })
}

const forwardOf = async (deps: RecountDeps, stray: StrayEvent): Promise<Forward | undefined> => {
  const { payment, event } = stray
  const isSuccess = event.type === 'payment.succeeded'
  if (payment.status === 'creating') return isSuccess ? succeededCreating(deps, stray, payment) : undefined
  if (payment.status !== 'pending') return undefined
  if (isSuccess) return succeeded(deps, stray, payment)
  return closed(stray, payment, event.type === 'payment.failed' ? 'failed' : 'expired')
}

/**
 * Repairs a payment whose event tells its end but whose row does not: the payment gets the event's status and time. The
 * provider names the capture, so that later news of it is not credited again. Undefined if the provider shows no
 * capture, or the event does not match the repaired payment.
 */
const bringForward = async (deps: RecountDeps, by: RecountBy, stray: StrayEvent): Promise<Repair | undefined> => {
  const forward = await forwardOf(deps, stray)
  if (forward === undefined) return undefined
  const { after, steps, pointers } = forward
  if (auditEvent(after, { name: stray.event.name, item: stray.item }, deps.now()).length > 0) return undefined
  return repairOf(deps, by, {
    subject: after.paymentId,
    of: [stray.difference],
    steps: async () => {
      if (pointers) await putPointers(deps, after)
      return { ...(await keptEvent(deps, stray)), ...steps }
    },
  })
}

const amountOf = (payment: StoredPayment) =>
  payment.status === 'creating' ? payment.request.notionalMinor : payment.notionalMinor

const ROWS = 10

const subjectsOf = async (deps: RecountDeps, payment: StoredPayment): Promise<readonly NewsSubject[]> => {
  const references = Array.from({ length: payment.attempt }, (_, at) => referenceOf(payment.paymentId, at + 1))
  // The provider's payments under an attempt's reference, because an unanswered attempt has no known request id.
  const rows = await mapInChunks(references, 1, (reference) => providerRows(deps, { reference, limit: ROWS }))
  return [
    ...requestsOf(payment).map((paymentRequestId) => ({ paymentRequestId })),
    ...(payment.rememberedProviderPaymentIds ?? []).values().map((providerPaymentId) => ({ providerPaymentId })),
    ...rows.flat().flatMap(({ type, providerPaymentId }) => (type === 'payment' ? [{ providerPaymentId }] : [])),
  ]
}

const mayHavePaid = (payment: StoredPayment, { reference, currency, capturedMinor }: ProviderPayment): boolean =>
  paymentIdOf(reference) === payment.paymentId && currency === 'IDR' && capturedMinor === amountOf(payment)

/**
 * Asks the provider for the capture that paid a payment, on any of its attempts, because no event names it. A capture
 * in suspense is not it. Undefined if the provider shows none. Throws 502 if the provider does not answer.
 */
const askCapture = async (deps: RecountDeps, payment: StoredPayment): Promise<ProviderPayment | undefined> => {
  for (const subject of await subjectsOf(deps, payment)) {
    const answer = await askForNews(deps, subject)
    if (answer.kind === 'unanswered') throw providerFailure(answer, ADVICE)
    const capture = answer.kind === 'news' ? answer.news.capture : undefined
    if (capture === undefined || !mayHavePaid(payment, capture)) continue
    if ((await findSuspense(deps, capture.providerPaymentId)) === undefined) return capture
  }
  return undefined
}

const isOfStatus = ({ event: { name } }: StrayEvent): boolean => typeOfEvent(name) === name

/** Plans the repair of payments whose events or entries show more than their row. One by one, for the quota. */
export const planForward = async (
  deps: RecountDeps,
  by: RecountBy,
  { books, strays: { events, entries } }: { readonly books: ClientBooks; readonly strays: Strays },
): Promise<readonly Repair[]> => {
  const ended = await mapInChunks(events.filter(isOfStatus), 1, (stray) => bringForward(deps, by, stray))
  const moving = events.filter((stray) => !isOfStatus(stray))
  const ids = new Set([
    ...entries.map(({ paymentId }) => paymentId),
    ...moving.map(({ payment: { paymentId } }) => paymentId),
  ])
  const moved = await mapInChunks([...ids], 1, (paymentId) =>
    bringMoneyForward(deps, by, {
      paymentId,
      books,
      strays: {
        entries: entries.filter((one) => one.paymentId === paymentId),
        events: moving.filter(({ payment }) => payment.paymentId === paymentId),
      },
    }),
  )
  const repairs = [...ended, ...moved].flatMap((one) => one ?? [])
  const subjects = new Set<string>(repairs.map(({ subject }) => subject))
  const rest = Map.groupBy(
    entries.filter(({ paymentId }) => !subjects.has(paymentId)),
    ({ paymentId }) => paymentId,
  )
  const paid = await mapInChunks([...rest], 1, ([paymentId, own]) =>
    bringForwardByEntry(deps, by, { paymentId, entries: own }),
  )
  return [...repairs, ...paid.flatMap((one) => one ?? [])]
}
