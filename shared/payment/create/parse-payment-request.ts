import * as v from 'valibot'
import { assertInvariant, type FieldErrors, type GatewayError, invalid } from '../../errors.ts'
import { describeIssue, shownField } from '../../field-errors.ts'
import { readBody } from '../../json.ts'
import { minor } from '../../money.ts'
import { isPaymentMethod } from '../../payment-status.ts'
import type { PaymentRequest } from '../payment.ts'
import {
  checkPaymentRules,
  type PaymentBody,
  PaymentBodySchema,
  type RuleError,
  type RuleFacts,
  readMetadata,
  unknownFields,
} from './payment-body.ts'

export const MAX_KEY_LENGTH = 255

/**
 * Parses the body of POST /v1/payments (spec 4.1). A bad one does not throw: its key may have a payment. A field with a
 * wrong type gets no second error; rule errors of the other fields are told too.
 */
export const parsePaymentRequest = (rawBody: Buffer, facts: RuleFacts): ParsedRequest => {
  const json = readBody(rawBody)
  if (!json.ok) return refuse(`invalid JSON body: ${json.reason}`)
  const misshapen = misshapenIn(json.value)
  const unread = new Set(misshapen.map(({ field }) => topOf(field)))
  const readable = Object.entries(json.value).filter(([field]) => !unread.has(field))
  const body = v.parse(PaymentBodySchema, Object.fromEntries(readable))
  const metadata = readMetadata(body.metadata, json.text)
  const broken = checkPaymentRules(body, metadata, facts).filter(({ field }) => !unread.has(topOf(field)))
  const errors = [...misshapen.slice(0, MAX_FIELDS), ...broken]
  const [first] = errors
  if (first === undefined) return { ok: true, request: toRequest(body, metadata.ok ? metadata.text : undefined) }
  return refuse(misshapen.length > 0 ? `invalid JSON body: ${first.field}: ${first.message}` : first.message, errors)
}

/** Unknown fields and wrong types. */
const misshapenIn = (body: Readonly<Record<string, unknown>>): readonly RuleError[] => [
  ...unknownFields(body).map((field) => ({ field: shownField(field), message: 'unknown field' })),
  ...(v.safeParse(PaymentBodySchema, body).issues ?? []).map((issue) => ({
    field: v.getDotPath(issue) ?? 'body',
    message: describeIssue(issue),
  })),
]

const topOf = (field: string) => field.split('.')[0] ?? field

/** The `Idempotency-Key` header: empty counts as none; longer than 255 characters is refused. */
export const parseIdempotencyKey = (header: string | undefined): string | undefined => {
  if (header !== undefined && header.length > MAX_KEY_LENGTH) {
    throw invalid(`Idempotency-Key must have at most ${MAX_KEY_LENGTH} characters`)
  }
  return filled(header)
}

/** An empty channel or key counts as left out (design section 5); what is echoed comes back as it came. */
const filled = (value: string | undefined) => (value === '' ? undefined : value)

/** A customer without members counts as absent. */
const known = (customer: PaymentBody['customer']) =>
  customer && Object.values(customer).some((member) => member !== undefined) ? customer : undefined

/** Only for a body without errors. */
const toRequest = (body: PaymentBody, metadata: string | undefined): PaymentRequest => {
  assertInvariant(
    isPaymentMethod(body.method) && body.amount !== undefined,
    'the rules passed a body without method or amount',
  )
  return {
    method: body.method,
    notionalMinor: minor(body.amount),
    currency: 'IDR',
    channelCode: filled(body.channel_code),
    externalReference: body.external_reference,
    customer: known(body.customer),
    description: body.description,
    metadata,
    expiresInSeconds: body.expires_in_seconds === 0 ? undefined : body.expires_in_seconds,
  }
}

export type ParsedRequest =
  | { readonly ok: true; readonly request: PaymentRequest }
  | { readonly ok: false; readonly error: GatewayError }

const MAX_FIELDS = 20

const refuse = (message: string, errors?: readonly RuleError[]): ParsedRequest => ({
  ok: false,
  error: invalid(message, errors && fieldErrors(errors)),
})

const fieldErrors = (errors: readonly RuleError[]): FieldErrors =>
  Object.fromEntries(
    Map.groupBy(errors, ({ field }) => field)
      .entries()
      .map(([field, found]) => [field, found.map(({ message }) => message)]),
  )
