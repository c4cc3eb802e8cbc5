import * as v from 'valibot'
import {
  isJsonObject,
  isLosslessNumber,
  isWellFormedDeep,
  type LosslessNumber,
  memberText,
  scan,
  toInteger,
} from '../../json.ts'
import { isPaymentMethod, PAYMENT_METHODS } from '../../payment-status.ts'
import type { Provider } from '../../provider/provider.ts'
import type { Timestamp } from '../../time.ts'
import { channelOf, isSupportedBank } from '../channel/channels.ts'

const integer = v.pipe(
  v.custom<LosslessNumber>(isLosslessNumber, 'must be a number'),
  v.transform(toInteger),
  v.check((value) => Number.isInteger(value), 'must be an integer'),
)

const text = v.pipe(
  v.string(),
  v.check((value) => value.isWellFormed(), 'must be well-formed Unicode'),
)

/** An optional field; null counts as absent (design section 5). */
const maybe = <const Schema extends v.GenericSchema>(schema: Schema) => v.nullish(schema, () => undefined)

/** PHP writes an empty array for an object without members. */
const asObject = (value: unknown): unknown => (Array.isArray(value) && value.length === 0 ? {} : value)

const CustomerBodySchema = v.object({ name: maybe(text), email: maybe(text), phone: maybe(text) })

/** Types only. Unknown fields and the meaning of values are checked elsewhere. */
export const PaymentBodySchema = v.object({
  method: maybe(text),
  channel_code: maybe(text),
  amount: maybe(integer),
  currency: maybe(text),
  external_reference: maybe(text),
  // valibot takes arrays and lossless numbers for objects.
  customer: maybe(
    v.pipe(v.unknown(), v.transform(asObject), v.custom(isJsonObject, 'must be an object'), CustomerBodySchema),
  ),
  description: maybe(text),
  metadata: maybe(v.unknown()),
  expires_in_seconds: maybe(integer),
})
export type PaymentBody = v.InferOutput<typeof PaymentBodySchema>

const keysBeside = (value: unknown, known: object): readonly string[] =>
  isJsonObject(value) ? Object.keys(value).filter((key) => !Object.hasOwn(known, key)) : []

/** Strict decoding (spec 4.1, rule 1): the unknown fields of the body and of its customer. */
export const unknownFields = (body: Readonly<Record<string, unknown>>): readonly string[] => [
  ...keysBeside(body, PaymentBodySchema.entries),
  ...keysBeside(body['customer'], CustomerBodySchema.entries).map((key) => `customer.${key}`),
]

const MAX_BYTES = 16_384
const MAX_LEVELS = 32

type MetadataRead =
  | { readonly ok: true; readonly text: string | undefined }
  | { readonly ok: false; readonly reason: string }

/** Metadata as JSON text that comes back as it was sent, digit for digit and in its order (design section 5). */
export const readMetadata = (value: unknown, body: string): MetadataRead => {
  if (value === undefined) return { ok: true, text: undefined }
  if (Array.isArray(value) && value.length === 0) return { ok: true, text: '{}' }
  if (!isJsonObject(value)) return { ok: false, reason: 'must be an object' }
  const asSent = memberText(body, 'metadata') ?? ''
  if (scan(asSent).depth > MAX_LEVELS) return { ok: false, reason: `nested deeper than ${MAX_LEVELS} levels` }
  if (!isWellFormedDeep(value)) return { ok: false, reason: 'a string has a lone surrogate' }
  if (Buffer.byteLength(asSent) > MAX_BYTES) return { ok: false, reason: 'larger than 16 KB' }
  return { ok: true, text: asSent }
}

/** Bounds of design section 5; the API description states them too. */
export const MAX_AMOUNT = 1_000_000_000_000
export const MAX_EXPIRY_SECONDS = 365 * 86_400
export const MAX_REFERENCE = 255
export const MAX_DESCRIPTION = 1_000
export const MAX_CUSTOMER_FIELD = 255
export const CHANNEL_CODE = /^[A-Z0-9_]{1,64}$/
export const PHONE = /^\+62\d{7,13}$/

/** Longer client values are cut, so that an error never echoes the body. */
const MAX_QUOTED = 64

export type RuleError = { readonly field: string; readonly message: string }

// The cut may split a surrogate pair.
const quoted = (value: string | undefined) => (value ?? '').slice(0, MAX_QUOTED).toWellFormed()

export type RuleFacts = { readonly now: Timestamp; readonly provider: Pick<Provider, 'isNonWalletCode'> }

const checkChannel = ({ method, channel_code: code }: PaymentBody, { now, provider }: RuleFacts) => {
  if (method === 'qris') return code ? 'channel_code must be omitted for method qris' : undefined
  if (method !== 'virtual_account' && method !== 'ewallet') return undefined
  if (!code) return `channel_code required for method ${method}`
  const isBank = isSupportedBank(code, now)
  const isForBank = method === 'virtual_account'
  if (!isForBank && !CHANNEL_CODE.test(code)) return 'channel_code must be 1 to 64 of A-Z, 0-9 and _'
  const isSupported = isForBank ? isBank : !isBank && !provider.isNonWalletCode(code)
  return isSupported ? undefined : `unsupported channel_code for method ${method}: ${quoted(code)}`
}

const checkPhone = ({ method, channel_code: code, customer }: PaymentBody) =>
  isPaymentMethod(method) && channelOf({ method, channelCode: code }).needs.phone && !PHONE.test(customer?.phone ?? '')
    ? `customer.phone required for channel ${quoted(code)} (E.164, +62...)`
    : undefined

/** Characters are code points: an emoji is one. */
const checkLength = (name: string, value: string | undefined, limit: number) =>
  value !== undefined && Array.from(value).length > limit ? `${name} must have at most ${limit} characters` : undefined

/** Checks the values in the order of design section 5. The first error is the message; all are `field_errors`. */
export const checkPaymentRules = (
  body: PaymentBody,
  metadata: MetadataRead,
  facts: RuleFacts,
): readonly RuleError[] => {
  const { customer, method, amount = 0, currency, expires_in_seconds: seconds = 0 } = body
  const isKnown = isPaymentMethod(method)
  const checks: readonly (readonly [string, string | false | undefined])[] = [
    ['method', !isKnown && `unsupported method: ${quoted(method)}`],
    ['method', !isKnown && `must be one of ${PAYMENT_METHODS.join(', ')}`],
    ['channel_code', checkChannel(body, facts)],
    ['amount', amount <= 0 && 'notional_minor must be > 0'],
    ['amount', amount > MAX_AMOUNT && `notional_minor must be <= ${MAX_AMOUNT}`],
    ['currency', currency !== 'IDR' && `unsupported currency: ${quoted(currency)}`],
    ['external_reference', checkLength('external_reference', body.external_reference, MAX_REFERENCE)],
    ['customer.phone', checkPhone(body) ?? checkLength('customer.phone', customer?.phone, MAX_CUSTOMER_FIELD)],
    ['customer.name', checkLength('customer.name', customer?.name, MAX_CUSTOMER_FIELD)],
    ['customer.email', checkLength('customer.email', customer?.email, MAX_CUSTOMER_FIELD)],
    ['description', checkLength('description', body.description, MAX_DESCRIPTION)],
    ['metadata', !metadata.ok && `metadata is not JSON-serialisable: ${metadata.reason}`],
    ['expires_in_seconds', seconds < 0 && 'expires_in_seconds must be >= 0'],
    ['expires_in_seconds', seconds > MAX_EXPIRY_SECONDS && `expires_in_seconds must be <= ${MAX_EXPIRY_SECONDS}`],
  ]
  return checks.flatMap(([field, message]) => (message ? [{ field, message }] : []))
}
