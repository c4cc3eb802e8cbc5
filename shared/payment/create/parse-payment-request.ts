import * as v from 'valibot'
import { channelOf, isSupportedBank } from '../../channel/channels.ts'
import { assertInvariant, type GatewayError, invalid } from '../../errors.ts'
import {
  errorOf,
  errorsByField,
  type FieldError,
  optionalField,
  shownField,
} from '../../field-errors.ts'
import {
  isJsonObject,
  isLosslessNumber,
  isWellFormedDeep,
  type LosslessNumber,
  memberText,
  readBody,
  scanJson,
  toInteger,
} from '../../json.ts'
import { minor } from '../../money.ts'
import { isPaymentMethod, PAYMENT_METHODS } from '../../payment-status.ts'
import type { Provider } from '../../provider/provider.ts'
import type { Timestamp } from '../../time.ts'
import type { PaymentRequest } from '../payment.ts'

export const MAX_KEY_LENGTH = 255

/**
 * Printable ASCII. Clients send other characters of a header as UTF-8 or as Latin-1, so one key of
 * the merchant would be two keys here, with two payments.
 */
export const KEY_CHARACTERS = /^[ -~]*$/
export const KEY_CHARACTERS_MESSAGE = 'must have only printable ASCII characters'

export type ParsedRequest =
  | { readonly ok: true; readonly request: PaymentRequest }
  | { readonly ok: false; readonly error: GatewayError }

type RuleFacts = { readonly now: Timestamp; readonly provider: Pick<Provider, 'isNonWalletCode'> }

const integer = v.pipe(
  v.custom<LosslessNumber>(isLosslessNumber, 'must be a number'),
  v.transform(toInteger),
  v.check((value) => Number.isInteger(value), 'must be an integer'),
)

const text = v.pipe(
  v.string(),
  v.check((value) => value.isWellFormed(), 'must be well-formed Unicode'),
)

const CustomerBodySchema = v.object({
  name: optionalField(text),
  email: optionalField(text),
  phone: optionalField(text),
})

export const PaymentBodySchema = v.object({
  method: optionalField(text),
  channel_code: optionalField(text),
  amount: optionalField(integer),
  currency: optionalField(text),
  external_reference: optionalField(text),
  customer: optionalField(
    v.pipe(
      v.unknown(),
      // valibot takes arrays and lossless numbers for objects.
      v.custom(isJsonObject, 'must be an object'),
      CustomerBodySchema,
    ),
  ),
  description: optionalField(text),
  metadata: optionalField(v.unknown()),
  expires_in_seconds: optionalField(integer),
})

/**
 * Parses the body of POST /v1/payments (spec 4.1). A bad body does not throw, because its key may
 * have a payment. A field with a wrong type gets no second error; the other fields are checked by
 * the rules.
 */
export function parsePaymentRequest(rawBody: Buffer, facts: RuleFacts): ParsedRequest {
  const json = readBody(rawBody)
  if (!json.ok) return { ok: false, error: invalid(`invalid JSON body: ${json.reason}`) }
  const shapeErrors = shapeErrorsIn(json.value)
  const unreadFields = new Set(shapeErrors.map(({ field }) => topFieldOf(field)))
  const readableFields = Object.entries(json.value).filter(([field]) => !unreadFields.has(field))
  const body = v.parse(PaymentBodySchema, Object.fromEntries(readableFields))
  const metadata = readMetadata(body.metadata, json.text)
  const ruleErrors = checkPaymentRules(body, metadata.fault, facts).filter(
    ({ field }) => !unreadFields.has(topFieldOf(field)),
  )
  const errors = [...shapeErrors.slice(0, 20), ...ruleErrors]
  const [first] = errors
  if (first) {
    const message =
      shapeErrors.length > 0 ? `invalid JSON body: ${first.field}: ${first.message}` : first.message
    return { ok: false, error: invalid(message, errorsByField(errors)) }
  }
  const { method, amount, customer } = body
  assertInvariant(
    isPaymentMethod(method) && amount !== undefined,
    'the rules passed a body without method or amount',
  )
  const request: PaymentRequest = {
    method,
    notionalMinor: minor(amount),
    currency: 'IDR',
    // An empty channel counts as absent (design section 5), and so does a customer without members.
    channelCode: body.channel_code || undefined,
    externalReference: body.external_reference,
    customer:
      customer && Object.values(customer).some((member) => member !== undefined)
        ? customer
        : undefined,
    description: body.description,
    metadata: metadata.text,
    expiresInSeconds: body.expires_in_seconds || undefined,
  }
  return { ok: true, request }
}

/** Unknown fields of the body and of its customer, and wrong types (spec 4.1, rule 1). */
function shapeErrorsIn(body: Readonly<Record<string, unknown>>): readonly FieldError[] {
  const unknownInCustomer = unknownKeys(body['customer'], CustomerBodySchema.entries).map(
    (key) => `customer.${key}`,
  )
  const unknownFields = [...unknownKeys(body, PaymentBodySchema.entries), ...unknownInCustomer]
  return [
    ...unknownFields.map((field) => ({ field: shownField(field), message: 'unknown field' })),
    ...(v.safeParse(PaymentBodySchema, body).issues ?? []).map(errorOf),
  ]
}

function unknownKeys(value: unknown, entries: object): readonly string[] {
  return isJsonObject(value) ? Object.keys(value).filter((key) => !Object.hasOwn(entries, key)) : []
}

function topFieldOf(field: string) {
  return field.split('.')[0] ?? field
}

/**
 * JSON text that comes back as it was sent, digit for digit and in its order (design section 5).
 */
function readMetadata(
  value: unknown,
  body: string,
): { readonly text?: string; readonly fault?: string } {
  if (value === undefined) return {}
  if (!isJsonObject(value)) return { fault: 'must be an object' }
  const asSent = memberText(body, 'metadata') ?? ''
  if (scanJson(asSent).depth > 32) return { fault: 'nested deeper than 32 levels' }
  if (!isWellFormedDeep(value)) return { fault: 'a string has a lone surrogate' }
  return Buffer.byteLength(asSent) > 16_384 ? { fault: 'larger than 16 KB' } : { text: asSent }
}

export type PaymentBody = v.InferOutput<typeof PaymentBodySchema>

/** Bounds of design section 5. */
export const MAX_AMOUNT = 1_000_000_000_000
export const MAX_EXPIRY_SECONDS = 365 * 86_400
export const MAX_REFERENCE = 255
export const MAX_DESCRIPTION = 1_000
export const MAX_CUSTOMER_FIELD = 255

/** Checks in the order of design section 5: the first error becomes the message. */
function checkPaymentRules(
  body: PaymentBody,
  metadataFault: string | undefined,
  facts: RuleFacts,
): readonly FieldError[] {
  const { customer, method, amount = 0, currency, expires_in_seconds: seconds = 0 } = body
  const isKnown = isPaymentMethod(method)
  const checks: readonly (readonly [string, string | false | undefined])[] = [
    ['method', !isKnown && `unsupported method: ${excerptOf(method)}`],
    ['method', !isKnown && `must be one of ${PAYMENT_METHODS.join(', ')}`],
    ['channel_code', checkChannel(body, facts)],
    ['amount', amount <= 0 && 'notional_minor must be > 0'],
    ['amount', amount > MAX_AMOUNT && `notional_minor must be <= ${MAX_AMOUNT}`],
    ['currency', currency !== 'IDR' && `unsupported currency: ${excerptOf(currency)}`],
    [
      'external_reference',
      checkLength('external_reference', body.external_reference, MAX_REFERENCE),
    ],
    [
      'customer.phone',
      checkPhone(body) ?? checkLength('customer.phone', customer?.phone, MAX_CUSTOMER_FIELD),
    ],
    ['customer.name', checkLength('customer.name', customer?.name, MAX_CUSTOMER_FIELD)],
    ['customer.email', checkLength('customer.email', customer?.email, MAX_CUSTOMER_FIELD)],
    ['description', checkLength('description', body.description, MAX_DESCRIPTION)],
    [
      'metadata',
      metadataFault !== undefined && `metadata is not JSON-serialisable: ${metadataFault}`,
    ],
    ['expires_in_seconds', seconds < 0 && 'expires_in_seconds must be >= 0'],
    [
      'expires_in_seconds',
      seconds > MAX_EXPIRY_SECONDS && `expires_in_seconds must be <= ${MAX_EXPIRY_SECONDS}`,
    ],
  ]
  return checks.flatMap(([field, message]) => (message ? [{ field, message }] : []))
}

/** Longer client values are cut, so that an error never echoes the body. */
function excerptOf(value = '') {
  return value.slice(0, 64).toWellFormed()
}

export const CHANNEL_CODE = /^[A-Z0-9_]{1,64}$/

function checkChannel({ method, channel_code: code }: PaymentBody, { now, provider }: RuleFacts) {
  if (method === 'qris') return code ? 'channel_code must be omitted for method qris' : undefined
  if (method !== 'virtual_account' && method !== 'ewallet') return undefined
  if (!code) return `channel_code required for method ${method}`
  const isBank = isSupportedBank(code, now)
  const isForBank = method === 'virtual_account'
  if (!isForBank && !CHANNEL_CODE.test(code))
    return 'channel_code must be 1 to 64 of A-Z, 0-9 and _'
  const isSupported = isForBank ? isBank : !isBank && !provider.isNonWalletCode(code)
  return isSupported
    ? undefined
    : `unsupported channel_code for method ${method}: ${excerptOf(code)}`
}

/** Characters are code points, so an emoji counts once. */
function checkLength(name: string, value: string | undefined, limit: number) {
  return value !== undefined && Array.from(value).length > limit
    ? `${name} must have at most ${limit} characters`
    : undefined
}

export const PHONE = /^\+62[1-9]\d{6,12}$/

function checkPhone({ method, channel_code: code, customer }: PaymentBody) {
  return isPaymentMethod(method) &&
    channelOf({ method, channelCode: code }).needs.phone &&
    !PHONE.test(customer?.phone ?? '')
    ? `customer.phone required for channel ${excerptOf(code)} (E.164, +62...)`
    : undefined
}

/** An empty header counts as none. */
export function parseIdempotencyKey(header = ''): string | undefined {
  if (header.length > MAX_KEY_LENGTH)
    throw invalid(`Idempotency-Key must have at most ${MAX_KEY_LENGTH} characters`)
  if (!KEY_CHARACTERS.test(header)) throw invalid(`Idempotency-Key ${KEY_CHARACTERS_MESSAGE}`)
  return header || undefined
}
