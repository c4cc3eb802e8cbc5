import * as v from 'valibot'
import { PAYER_NAME, PHONE_FORM } from '../../../../shared/channel/channel-facts.ts'
import { amountsOf, type Channel, requireChannel } from '../channels.ts'
import { takeFault } from '../faults.ts'
import { ProviderError, parseInput } from '../provider-error.ts'
import { type Action, BUSINESS_ID, type PaymentRequest } from '../provider-objects.ts'
import { nextInSequence, timestampNow, type World } from '../world.ts'
import { failRequest } from './end-request.ts'
import { qrisString } from './qris-string.ts'

const ReturnUrl = v.pipe(
  v.string(),
  v.maxLength(2048),
  v.url(),
  v.regex(/^https?:/, 'must be an http(s) URL'),
)
const Instant = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/, 'must be an ISO 8601 UTC time'),
  v.check((value) => !Number.isNaN(Date.parse(value)), 'must be an ISO 8601 UTC time'),
)

/** The fields of `POST /v3/payment_requests` that all channels share. Other fields are ignored. */
const CreateRequestBody = v.object({
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
      // The provider documents that it refuses dashes. So a UUID is refused.
      reference_id: v.pipe(v.string(), v.regex(/^[0-9A-Za-z]{1,255}$/, 'must be alphanumeric')),
      email: v.optional(v.string()),
      mobile_number: v.optional(v.string()),
    }),
  ),
})

const VirtualAccountProperties = v.strictObject({
  display_name: v.pipe(v.string(), v.regex(PAYER_NAME, 'must be 3 to 50 letters and spaces')),
  expires_at: v.optional(Instant),
  success_return_url: v.optional(ReturnUrl),
})

const PushProperties = v.strictObject({
  account_mobile_number: v.pipe(
    v.string(),
    v.regex(/^\+[0-9]\d{1,14}$/, 'must be a phone number in E.164 form'),
    v.check(
      (phone) => !phone.startsWith('+62') || PHONE_FORM.test(phone),
      'must be a phone number of the country',
    ),
  ),
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

/**
 * `POST /v3/payment_requests`. As at the real provider, every call creates a new payable request. A
 * `reference_id` may repeat, and an idempotency key has no effect.
 */
export function createPaymentRequest(world: World, input: unknown): PaymentRequest {
  const { customer: _customer, ...body } = parseInput(CreateRequestBody, input)
  const { request_amount: amount } = body
  const channel = requireChannel(body.channel_code)
  const channelProperties = parseChannelProperties(channel, body.channel_properties)
  requireAmount(body.channel_code, amount)
  const expiresAtMs = expiryOf(world, channel, channelProperties)
  const requestId = `pr-${world.newUuid()}`
  const created = timestampNow(world)
  const request: PaymentRequest = {
    payment_request_id: requestId,
    business_id: BUSINESS_ID,
    ...body,
    capture_method: 'AUTOMATIC',
    channel_properties: channelProperties,
    actions: destinationActions(world, channel, { requestId, amount }),
    status: channel.destination === 'push' ? 'PENDING' : 'REQUIRES_ACTION',
    created,
    updated: created,
  }
  world.store.requests.put({ id: requestId, expiresAtMs, request })
  world.agenda.add({ kind: 'expire', id: requestId, dueMs: expiresAtMs })
  const failureCode = takeFault(world, 'create', 'failed')?.value
  if (failureCode !== undefined) return failRequest(world, requestId, { failure_code: failureCode })
  // A push needs an action for a moment only, and shows none.
  return channel.destination === 'push' ? { ...request, status: 'REQUIRES_ACTION' } : request
}

/** By the kind of destination. It refuses the properties of other kinds. */
const CHANNEL_PROPERTIES = {
  virtual_account_number: VirtualAccountProperties,
  push: PushProperties,
  checkout_url: CheckoutProperties,
  qr_string: QrProperties,
} satisfies Record<Channel['destination'], v.GenericSchema>

function parseChannelProperties(
  channel: Channel,
  properties: Record<string, unknown>,
): Record<string, string> {
  const schema = v.object({ channel_properties: CHANNEL_PROPERTIES[channel.destination] })
  return parseInput(schema, { channel_properties: properties }).channel_properties
}

/**
 * The provider documents the limits, but not which of two possible error codes it answers. This
 * code is a guess.
 */
function requireAmount(code: string, amount: number) {
  const { least: min = 1, most: max = amount } = amountsOf(code) ?? {}
  if (amount >= min && amount <= max) return
  throw new ProviderError('INVALID_VALUE_ERROR', `request_amount must be between ${min} and ${max}`)
}

function expiryOf(world: World, channel: Channel, properties: Readonly<Record<string, string>>) {
  const expiresAt = properties['expires_at']
  if (expiresAt === undefined) return world.nowMs() + channel.lifetimeSeconds * 1000
  const expiresAtMs = Date.parse(expiresAt)
  if (expiresAtMs > world.nowMs()) return expiresAtMs
  throw new ProviderError(
    'API_VALIDATION_ERROR',
    'channel_properties.expires_at must be in the future',
  )
}

/** Empty for a push channel. */
function destinationActions(
  world: World,
  channel: Channel,
  { requestId, amount }: { readonly requestId: string; readonly amount: number },
): Action[] {
  switch (channel.destination) {
    case 'virtual_account_number':
      return [presentAction('VIRTUAL_ACCOUNT_NUMBER', accountNumber(world, channel))]
    case 'qr_string':
      return [presentAction('QR_STRING', qrisString(amount, referenceLabel(requestId)))]
    case 'checkout_url':
      return (channel.hasApp ? (['DEEPLINK_URL', 'WEB_URL'] as const) : ['WEB_URL' as const]).map(
        (descriptor) => ({
          type: 'REDIRECT_CUSTOMER',
          descriptor,
          value:
            descriptor === 'WEB_URL'
              ? `${world.baseUrl()}/checkout/${requestId}`
              : `${channel.transactionCode.slice(3).toLowerCase()}://pay/${requestId}`,
        }),
      )
    case 'push':
      return []
    default:
      return channel.destination satisfies never
  }
}

function presentAction(descriptor: 'VIRTUAL_ACCOUNT_NUMBER' | 'QR_STRING', value: string): Action {
  return { type: 'PRESENT_TO_CUSTOMER', descriptor, value }
}

function accountNumber(world: World, channel: Channel) {
  const { prefix, length } = channel.virtualAccount ?? { prefix: '', length: 16 }
  return prefix + permutedDigits(nextInSequence(world, 'virtual_account'), length - prefix.length)
}

// The factor is coprime to 10, so different ordinals give different numbers until all of `digits`
// digits are used. They look random.
function permutedDigits(ordinal: number, digits: number) {
  return String((BigInt(ordinal) * 6_180_339_887n + 1_234_567n) % 10n ** BigInt(digits)).padStart(
    digits,
    '0',
  )
}

// The tag holds 25 characters, fewer than an id has. All ids begin alike, so it gets the end.
function referenceLabel(requestId: string) {
  return requestId
    .replaceAll(/[^0-9A-Za-z]/g, '')
    .toUpperCase()
    .slice(-25)
}

function text(maxLength: number) {
  return v.pipe(v.string(), v.minLength(1), v.maxLength(maxLength))
}
