import * as v from 'valibot'
import type { CallbackSubject, ParseCallback } from '../provider.ts'
import { ProviderIdSchema, ReferenceSchema } from './xendit-schema.ts'

/** Events about a payment; in the older ones `id` is the payment's. */
const PAYMENT_EVENTS: ReadonlySet<string> = new Set([
  'payment.capture',
  'payment.failure',
  'payment.authorization',
  'payment.succeeded',
  'payment.failed',
  'payment.pending',
])

/** Events about the request itself; documented under one name and seen under the other, with either id field. */
const REQUEST_EVENTS: ReadonlySet<string> = new Set(['payment_request.expiry', 'payment_request.expired'])

/** About money that goes back, in one body or another: what the provider has booked says it all. */
const isMoneyBack = (event: string): boolean => /^(?:refund|dispute)\./.test(event)

/** A field that is missing or of another form is as none; it does not spoil the others. */
const readable = (schema: v.GenericSchema<string>) => v.fallback(v.optional(schema), undefined)

const EventSchema = v.pipe(v.string(), v.parseJson(), v.looseObject({ event: v.string() }))

const CallbackSchema = v.pipe(
  EventSchema,
  v.object({
    event: v.string(),
    data: v.object({
      id: readable(ProviderIdSchema),
      payment_id: readable(ProviderIdSchema),
      payment_request_id: readable(ProviderIdSchema),
      reference_id: readable(ReferenceSchema),
    }),
  }),
)

/** Of another product's event, of one without a usable id and of no such body at all: nothing. */
export const parseCallback: ParseCallback = (text) => {
  const named = v.safeParse(EventSchema, text)
  if (named.success && isMoneyBack(named.output.event)) return 'money_back'
  const parsed = v.safeParse(CallbackSchema, text)
  if (!parsed.success) return undefined
  const { event, data } = parsed.output
  if (PAYMENT_EVENTS.has(event)) {
    return usable({
      paymentRequestId: data.payment_request_id,
      providerPaymentId: data.payment_id ?? data.id,
      reference: data.reference_id,
    })
  }
  if (!REQUEST_EVENTS.has(event)) return undefined
  return usable({
    paymentRequestId: data.payment_request_id ?? data.id,
    providerPaymentId: undefined,
    reference: data.reference_id,
  })
}

/** A reference alone is of no use: the provider cannot be asked by it. */
const usable = (subject: CallbackSubject): CallbackSubject | undefined =>
  subject.paymentRequestId === undefined && subject.providerPaymentId === undefined ? undefined : subject
