import * as v from 'valibot'
import { EVENT_TYPES, type Event, type EventType } from '../event/event.ts'
import { bpsFloor } from '../money.ts'
import type { Payment } from '../payment/payment.ts'
import { estimatePricing, netOf, tariffsAt } from '../payment/tariff.ts'
import { type Difference, differs } from './difference.ts'

/** The event a payment's status must have left behind. */
export const eventTypeOf = ({ status }: Payment): EventType | undefined =>
  EVENT_TYPES.find((type) => type === `payment.${status}`)

const auditAmounts = (payment: Payment): readonly Difference[] => {
  const { paymentId: id, notionalMinor, providerFeeMinor, markupMinor } = payment
  const tariffs = tariffsAt(payment.createdAt)
  return [
    ...differs('payment.markup', id, bpsFloor(notionalMinor, tariffs.markupBps), markupMinor),
    ...differs('payment.net', id, netOf(notionalMinor, providerFeeMinor, markupMinor), payment.netMinor),
    // An actual fee is the provider's word; the others must be what the tariff says.
    ...(payment.feeStatus === 'actual'
      ? []
      : differs('payment.fee', id, estimatePricing(payment, payment.createdAt).providerFeeMinor, providerFeeMinor)),
    ...(payment.status === 'succeeded' ? [] : differs('payment.fee_status', id, 'estimated', payment.feeStatus)),
  ]
}

const auditHistory = (payment: Payment): readonly Difference[] => {
  const { paymentId: id, transitions, status } = payment
  const last = transitions.at(-1)
  const first = transitions[0]
  const paid = status === 'succeeded'
  return [
    ...differs('payment.status', id, last?.status, status),
    // A payment that succeeded while it was being created has both transitions at one time.
    ...differs('payment.created_at', id, first?.at, payment.createdAt),
    ...differs('payment.paid_at', id, paid ? last?.at : undefined, payment.paidAt),
    ...differs('payment.credited', id, paid ? 1 : 0, payment.creditedPaymentId === undefined ? 0 : 1),
  ]
}

const EventBodySchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    data: v.object({
      id: v.string(),
      client_id: v.string(),
      notional_minor: v.number(),
      status: v.string(),
      created_at: v.string(),
      paid_at: v.optional(v.string()),
    }),
  }),
)

/** What was announced, in the words of the payment that was announced. */
const auditEvent = (payment: Payment, event: Event | undefined): readonly Difference[] => {
  const type = eventTypeOf(payment)
  const id = payment.paymentId
  if (type === undefined) return []
  if (event === undefined) return differs('payment.event', id, type, undefined)
  const body = v.safeParse(EventBodySchema, event.body)
  if (!body.success) return differs('event.body', event.eventId, 'readable', 'unreadable')
  const { data } = body.output
  return [
    ...differs('event.fired_at', event.eventId, payment.transitions.at(-1)?.at, event.firedAt),
    ...differs('event.data.id', event.eventId, id, data.id),
    ...differs('event.data.client_id', event.eventId, payment.clientId, data.client_id),
    ...differs('event.data.notional_minor', event.eventId, payment.notionalMinor, data.notional_minor),
    ...differs('event.data.status', event.eventId, payment.status, data.status),
    ...differs('event.data.created_at', event.eventId, payment.createdAt, data.created_at),
    ...differs('event.data.paid_at', event.eventId, payment.paidAt, data.paid_at),
  ]
}

/** Everything that can be said of one payment by itself, its history and its event. */
export const auditPayment = (payment: Payment, event: Event | undefined): readonly Difference[] => [
  ...auditAmounts(payment),
  ...auditHistory(payment),
  ...auditEvent(payment, event),
]
