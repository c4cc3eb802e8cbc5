import * as v from 'valibot'
import {
  CHANNEL_FACTS,
  CHANNELS,
  Country,
  Currency,
  fitsChannel,
  id,
  memberOf,
  Rupiah,
  Time,
  text,
} from './provider-facts.ts'

/**
 * What the provider's documents (`facts.json`) say of its answers and callbacks, as schemas of the
 * values. A test compares the names of the fields.
 */

const ErrorCode = v.pipe(v.string(), v.regex(/^[A-Z0-9_]+$/))

const Action = v.strictObject({
  type: memberOf('action.type'),
  descriptor: memberOf('action.descriptor'),
  value: text(1, 2_048),
})

const commonFields = {
  business_id: v.pipe(v.string(), v.regex(/^[0-9a-f]{24}$/)),
  reference_id: text(1, 255),
  payment_request_id: id('payment_request_id'),
  type: memberOf('paymentRequest.type'),
  country: Country,
  currency: Currency,
  request_amount: Rupiah,
  capture_method: memberOf('capture_method'),
  channel_code: v.picklist(CHANNELS),
  failure_code: v.optional(memberOf('payment.failure_code')),
  metadata: v.optional(v.record(v.string(), v.unknown())),
  created: Time,
  updated: Time,
}

const PaymentRequest = v.pipe(
  v.strictObject({
    ...commonFields,
    latest_payment_id: v.optional(id('payment_id')),
    channel_properties: v.record(v.string(), v.unknown()),
    actions: v.array(Action),
    status: memberOf('paymentRequest.status'),
    description: v.optional(text(1, 1_000)),
  }),
  v.check((request) => fitsChannel(request), 'channel_properties do not fit the channel'),
)

const Capture = v.strictObject({
  capture_id: id('capture_id'),
  capture_amount: Rupiah,
  capture_timestamp: Time,
})

const Payment = v.strictObject({
  ...commonFields,
  payment_id: id('payment_id'),
  captures: v.optional(v.array(Capture)),
  status: memberOf('payment.status'),
  payment_details: v.record(v.string(), v.unknown()),
})

const Amount = v.number()

const Fee = v.strictObject({
  xendit_fee: Amount,
  value_added_tax: Amount,
  xendit_withholding_tax: Amount,
  third_party_withholding_tax: Amount,
  status: memberOf('fee.status'),
})

const Transaction = v.strictObject({
  id: v.pipe(v.string(), v.regex(/^txn_[0-9a-f-]+$/)),
  product_id: v.string(),
  // The provider books chargeback reversals although its list of types does not name them.
  type: v.union([memberOf('transaction.type'), memberOf('transaction.type outside the list')]),
  status: memberOf('transaction.status'),
  channel_category: memberOf('transaction.channel_category'),
  channel_code: v.nullable(v.picklist(CHANNEL_FACTS.map(({ transactionCode }) => transactionCode))),
  reference_id: v.string(),
  account_identifier: v.nullable(v.string()),
  currency: Currency,
  amount: Amount,
  net_amount: Amount,
  net_amount_currency: Currency,
  cashflow: memberOf('transaction.cashflow'),
  settlement_status: v.nullable(memberOf('transaction.settlement_status')),
  estimated_settlement_time: v.nullable(Time),
  business_id: commonFields.business_id,
  created: Time,
  updated: Time,
  fee: Fee,
  product_data: v.nullable(
    v.strictObject({
      capture_id: v.nullable(id('capture_id')),
      payment_request_id: v.nullable(id('payment_request_id')),
      payment_link_id: v.nullable(v.string()),
      reusable_payment_link_id: v.nullable(v.string()),
    }),
  ),
})

const Link = v.strictObject({
  href: text(1, 2_048),
  rel: v.literal('next'),
  method: v.literal('GET'),
})
const TransactionPage = v.strictObject({
  has_more: v.boolean(),
  data: v.array(Transaction),
  links: v.array(Link),
})

/** A dispute's callback has its fields beside `event`. */
export const Dispute = v.strictObject({
  event: memberOf('dispute event'),
  id: text(1, 255),
  status: text(1, 64),
  status_reason: v.nullable(v.string()),
  channel_code: text(1, 64),
  currency: Currency,
  amount: v.strictObject({ initial: v.nullable(v.string()), terminal: v.nullable(v.string()) }),
  payment_id: v.nullable(id('payment_id')),
  reference_id: v.nullable(v.string()),
  created_at: Time,
  updated_at: Time,
  due_date: v.nullable(Time),
})

/** The objects whose field names `facts.json` lists. */
export const OBJECTS = {
  paymentRequest: PaymentRequest,
  payment: Payment,
  transaction: Transaction,
  fee: Fee,
  dispute: Dispute,
}

export const ANSWERS = {
  create: { status: 201, body: PaymentRequest },
  getRequest: { status: 200, body: PaymentRequest },
  cancel: {
    status: 200,
    body: v.strictObject({ ...PaymentRequest.entries, status: v.literal('CANCELED') }),
  },
  getPayment: { status: 200, body: Payment },
  transactions: { status: 200, body: TransactionPage },
} as const

export const ErrorBody = v.strictObject({
  error_code: ErrorCode,
  message: v.string(),
  errors: v.optional(v.array(v.unknown())),
})

const WholeNumber = v.pipe(v.string(), v.regex(/^\d+$/))
export const RateLimitHeaders = v.object({
  'rate-limit-limit': WholeNumber,
  'rate-limit-remaining': WholeNumber,
  'rate-limit-reset': v.pipe(v.string(), v.regex(/^\d+\.\d+$/)),
})

/** A callback has a static token and an id of the webhook. It names no fee. */
export const CALLBACK_HEADERS = v.object({
  'x-callback-token': text(1, 255),
  'webhook-id': text(1, 255),
  'content-type': v.literal('application/json'),
})

export const CALLBACKS = {
  captured: envelope(
    'payment.capture',
    v.strictObject({ ...Payment.entries, status: v.literal('SUCCEEDED') }),
  ),
  failed: envelope(
    'payment.failure',
    v.strictObject({ ...Payment.entries, status: v.literal('FAILED') }),
  ),
  // The provider does not publish this body. All received expiry callbacks had these three fields.
  expired: envelope(
    'payment_request.expiry',
    v.object({
      payment_request_id: id('payment_request_id'),
      reference_id: text(1, 255),
      status: v.literal('EXPIRED'),
    }),
  ),
} as const

function envelope<const Event extends string, Data extends v.GenericSchema>(
  name: Event,
  data: Data,
) {
  const event = v.literal(name)
  return v.strictObject({
    created: Time,
    business_id: commonFields.business_id,
    event,
    api_version: v.literal('v3'),
    data,
  })
}
