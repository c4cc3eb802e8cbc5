import * as v from 'valibot'
import { ifValid } from '../../if-valid.ts'
import type { CallbackSubject, ParseCallback } from '../provider.ts'
import { ProviderIdSchema, ReferenceSchema } from './xendit-schema.ts'

/** Events about a payment; older ones carry the payment id as `id`. */
const PAYMENT_EVENTS: ReadonlySet<string> = new Set([
  'payment.capture',
  'payment.failure',
  'payment.authorization',
  'payment.succeeded',
  'payment.failed',
  'payment.pending',
])

/** Events about the request: the documented and the observed name. Either id field may be set. */
const REQUEST_EVENTS: ReadonlySet<string> = new Set(['payment_request.expiry', 'payment_request.expired'])

/** A refund or dispute. Its body is not read, because the transactions carry the facts. */
const isMoneyBack = (event: string): boolean => /^(?:refund|dispute)\./.test(event)

/** An invalid field counts as absent; the other fields stay valid. */
const readable = (schema: v.GenericSchema<string>) => v.fallback(v.optional(schema), undefined)

const Data = v.object({
  id: readable(ProviderIdSchema),
  payment_id: readable(ProviderIdSchema),
  payment_request_id: readable(ProviderIdSchema),
  reference_id: readable(ReferenceSchema),
})
const NO_DATA = { id: undefined, payment_id: undefined, payment_request_id: undefined, reference_id: undefined }
const CallbackSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ event: v.string(), data: v.fallback(v.optional(Data, {}), NO_DATA) }),
)

/** Undefined for an event of another product, an event without a usable id, and any other body. */
export const parseCallback: ParseCallback = (text) => {
  const parsed = ifValid(CallbackSchema, text)
  if (parsed === undefined) return undefined
  const { event, data } = parsed
  if (isMoneyBack(event)) return 'money_back'
  const { id, payment_id, payment_request_id, reference_id: reference } = data
  if (PAYMENT_EVENTS.has(event)) {
    return usable({ paymentRequestId: payment_request_id, providerPaymentId: payment_id ?? id, reference })
  }
  if (!REQUEST_EVENTS.has(event)) return undefined
  return usable({ paymentRequestId: payment_request_id ?? id, providerPaymentId: undefined, reference })
}

/** A reference alone is not usable, because the provider has no lookup by reference. */
const usable = (subject: CallbackSubject): CallbackSubject | undefined =>
  subject.paymentRequestId === undefined && subject.providerPaymentId === undefined ? undefined : subject
