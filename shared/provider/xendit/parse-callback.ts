import * as v from 'valibot'
import { ifValid } from '../../if-valid.ts'
import { minor } from '../../money.ts'
import type { DisputeNews } from '../../suspense/dispute.ts'
import { DISPUTE_STATES } from '../../suspense/suspense.ts'
import { withoutMark } from '../call-json.ts'
import type { CallbackSubject } from '../provider.ts'
import { ID_LENGTH, lenient, ProviderIdSchema, ReferenceSchema, Time } from './xendit-schema.ts'

/** The sample of the provider's dashboard has ids of 37 characters. */
const CallbackId = v.pipe(ProviderIdSchema, v.length(ID_LENGTH))

const Data = v.object({
  id: lenient(CallbackId),
  payment_id: lenient(CallbackId),
  payment_request_id: lenient(CallbackId),
  reference_id: lenient(ReferenceSchema),
})
const CallbackSchema = v.pipe(
  v.string(),
  v.transform(withoutMark),
  v.parseJson(),
  v.looseObject({ event: v.string() }),
)

/** Undefined for an event of another product, an event without a usable id, and any other body. */
export function parseCallback(
  text: string,
): CallbackSubject | DisputeNews | 'money_back' | undefined {
  const body = ifValid(CallbackSchema, text)
  if (body === undefined) return undefined
  const { event } = body
  // The callback's body is not read, because the transactions carry the facts.
  if (event.startsWith('refund.')) return 'money_back'
  if (event.startsWith('dispute.')) return parseDispute(body)
  const ids = ifValid(Data, body['data'])
  // Older events carry the payment id as `id`.
  if (/^payment\.(capture|failure|authorization|succeeded|failed|pending)$/.test(event))
    return usableSubject({
      paymentRequestId: ids?.payment_request_id,
      providerPaymentId: ids?.payment_id ?? ids?.id,
      reference: ids?.reference_id,
    })
  // The event has a documented and an observed name. Either id field may be set.
  if (!/^payment_request\.(expiry|expired)$/.test(event)) return undefined
  return usableSubject({
    paymentRequestId: ids?.payment_request_id ?? ids?.id,
    providerPaymentId: undefined,
    reference: ids?.reference_id,
  })
}

const DisputeAmount = v.pipe(
  v.union([v.number(), v.pipe(v.string(), v.nonEmpty(), v.transform(Number))]),
  v.number(),
  v.minValue(0),
  v.maxValue(Number.MAX_SAFE_INTEGER),
)
/**
 * The documented form. The case of a dispute has its id, and held money has the id of a payment,
 * which never begins so.
 */
const DisputeId = v.pipe(v.string(), v.regex(/^mi-[\w-]{1,97}$/))
const DisputeFields = v.object({
  id: lenient(DisputeId),
  currency: v.fallback(v.nullish(v.string(), 'IDR'), 'IDR'),
  amount: lenient(v.object({ initial: v.nullish(DisputeAmount) })),
  payment_id: lenient(CallbackId),
  reference_id: lenient(ReferenceSchema),
  updated_at: lenient(Time),
  due_date: lenient(Time),
})

function parseDispute(body: v.InferOutput<typeof CallbackSchema>): DisputeNews {
  // The fields stand beside `event` in the published examples, and under `data` in one of them.
  const data = Object.entries(Object(body['data'])).filter(([, value]) => value !== null)
  const said = v.parse(DisputeFields, { ...body, ...Object.fromEntries(data) })
  const initial = said.amount?.initial
  const state = DISPUTE_STATES.find((one) => body.event === `dispute.${one}`)
  const isInIdr = said.currency === 'IDR' && typeof initial === 'number'
  return {
    kind: 'dispute',
    disputeId: said.id ?? `dispute of ${said.payment_id ?? said.reference_id ?? 'no payment'}`,
    state,
    reference: said.reference_id,
    providerPaymentId: said.payment_id,
    amountMinor: isInIdr ? minor(Math.ceil(initial)) : undefined,
    answerBy: said.due_date,
    // The time of another event would make an answer, win or loss that comes after it old news.
    saidAt: state && said.updated_at,
    isReminder: body.event === 'dispute.due_date_approaching',
  }
}

/** A reference alone is not usable, because the provider has no lookup by reference. */
function usableSubject(subject: CallbackSubject) {
  return subject.paymentRequestId === undefined && subject.providerPaymentId === undefined
    ? undefined
    : subject
}
