import * as v from 'valibot'
import type { Channel } from '../channels.ts'

const text = (most: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(most))
const ReturnUrl = v.pipe(v.string(), v.maxLength(2048), v.url(), v.regex(/^https?:/, 'must be an http(s) URL'))
const Instant = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/, 'must be an ISO 8601 UTC time'),
  v.check((value) => !Number.isNaN(Date.parse(value)), 'must be an ISO 8601 UTC time'),
)

/** The body of `POST /v3/payment_requests` as far as all channels share it; other fields are ignored. */
export const CreateRequestBody = v.object({
  reference_id: text(255),
  type: v.literal('PAY'),
  country: v.literal('ID'),
  currency: v.literal('IDR'),
  request_amount: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  channel_code: text(64),
  channel_properties: v.optional(v.record(v.string(), v.unknown()), {}),
  capture_method: v.optional(v.literal('AUTOMATIC')),
  description: v.optional(text(1000)),
  metadata: v.optional(
    v.pipe(
      v.record(text(40), v.union([v.pipe(v.string(), v.maxLength(500)), v.number(), v.boolean()])),
      v.maxEntries(50),
    ),
  ),
  customer: v.optional(
    v.object({
      // The documented trap: dashes, as in a UUID, are refused here.
      reference_id: v.pipe(v.string(), v.regex(/^[0-9A-Za-z]{1,255}$/, 'must be alphanumeric')),
      email: v.optional(v.string()),
      mobile_number: v.optional(v.string()),
    }),
  ),
})

const VirtualAccountProperties = v.strictObject({
  display_name: text(250),
  expires_at: v.optional(Instant),
  virtual_account_number: v.optional(v.string()),
  success_return_url: v.optional(ReturnUrl),
})

const PushProperties = v.strictObject({
  account_mobile_number: v.pipe(v.string(), v.regex(/^\+[0-9]\d{1,14}$/, 'must be a phone number in E.164 form')),
})

const CheckoutProperties = v.strictObject({
  success_return_url: ReturnUrl,
  failure_return_url: v.optional(ReturnUrl),
  cancel_return_url: v.optional(ReturnUrl),
})

const QrProperties = v.strictObject({
  expires_at: v.optional(Instant),
  qr_string_type: v.optional(v.literal('DYNAMIC')),
})

/** What `channel_properties` must be, by the kind of destination. A property of another kind is refused. */
export const CHANNEL_PROPERTIES = {
  virtual_account_number: VirtualAccountProperties,
  push: PushProperties,
  checkout_url: CheckoutProperties,
  qr_string: QrProperties,
} satisfies Record<Channel['destination'], v.GenericSchema>
