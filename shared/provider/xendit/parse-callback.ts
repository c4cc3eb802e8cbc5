import * as v from 'valibot'
import { ifValid } from '../../if-valid.ts'
import { withoutMark } from '../call-json.ts'
import type { CallbackSubject } from '../provider.ts'
import { ProviderIdSchema, ReferenceSchema } from './xendit-schema.ts'

/** The provider refuses every other length. The sample of its dashboard has ids of 37. */
const CallbackId = v.pipe(ProviderIdSchema, v.length(39))

const Data = v.object({
  id: optionalField(CallbackId),
  payment_id: optionalField(CallbackId),
  payment_request_id: optionalField(CallbackId),
  reference_id: optionalField(ReferenceSchema),
})
const CallbackSchema = v.pipe(
  v.string(),
  v.transform(withoutMark),
  v.parseJson(),
  v.object({ event: v.string(), data: v.fallback(Data, v.parse(Data, {})) }),
)

/** Undefined for an event of another product, an event without a usable id, and any other body. */
export function parseCallback(text: string): CallbackSubject | 'money_back' | undefined {
  const parsed = ifValid(CallbackSchema, text)
  if (parsed === undefined) return undefined
  const { event, data } = parsed
  // The callback's body is not read, because the transactions carry the facts.
  if (/^(refund|dispute)\./.test(event)) return 'money_back'
  const { id, payment_id, payment_request_id, reference_id: reference } = data
  // Older events carry the payment id as `id`.
  if (/^payment\.(capture|failure|authorization|succeeded|failed|pending)$/.test(event)) {
    return usableSubject({
      paymentRequestId: payment_request_id,
      providerPaymentId: payment_id ?? id,
      reference,
    })
  }
  // The event has a documented and an observed name. Either id field may be set.
  if (!/^payment_request\.(expiry|expired)$/.test(event)) return undefined
  return usableSubject({
    paymentRequestId: payment_request_id ?? id,
    providerPaymentId: undefined,
    reference,
  })
}

/** A reference alone is not usable, because the provider has no lookup by reference. */
function usableSubject(subject: CallbackSubject): CallbackSubject | undefined {
  return subject.paymentRequestId === undefined && subject.providerPaymentId === undefined
    ? undefined
    : subject
}

/** An invalid field counts as absent; the other fields stay valid. */
function optionalField(schema: v.GenericSchema<string>) {
  return v.fallback(v.optional(schema), undefined)
}
