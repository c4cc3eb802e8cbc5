import * as v from 'valibot'
import { type FieldErrors, type GatewayError, invalid } from '../errors.ts'
import { describeIssue } from '../field-errors.ts'
import { isLosslessNumber, type LosslessNumber, readJson, toNumber } from '../json.ts'
import { minor } from '../money.ts'
import type { Timestamp } from '../time.ts'
import { readMetadata } from './metadata.ts'
import { PAYMENT_METHODS, type PaymentMethod, type PaymentRequest } from './payment.ts'
import { checkPaymentRules } from './payment-rules.ts'

const MAX_BODY_BYTES = 65_536
const MAX_KEY_LENGTH = 255

export type ParsedRequest =
  | { readonly ok: true; readonly request: PaymentRequest }
  | { readonly ok: false; readonly error: GatewayError }

const integer = v.pipe(
  v.custom<LosslessNumber>(isLosslessNumber, 'must be a number'),
  v.transform(toNumber),
  v.check((value) => Number.isInteger(value), 'must be an integer'),
)

const text = v.pipe(
  v.string(),
  v.check((value) => value.isWellFormed(), 'must be well-formed Unicode'),
)

/** Shape only: unknown fields and wrong types. What the values mean is checked by the rules, in the spec's order. */
const BodySchema = v.strictObject({
  method: v.optional(text),
  channel_code: v.optional(text),
  amount: v.optional(integer),
  currency: v.optional(text),
  external_reference: v.optional(text),
  customer: v.optional(v.strictObject({ name: v.optional(text), email: v.optional(text), phone: v.optional(text) })),
  description: v.optional(text),
  metadata: v.optional(v.unknown()),
  expires_in_seconds: v.optional(integer),
})
export type PaymentBody = v.InferOutput<typeof BodySchema>

const refuseShape = (reason: string, fieldErrors?: FieldErrors): ParsedRequest => ({
  ok: false,
  error: invalid(`invalid JSON body: ${reason}`, fieldErrors),
})

const shapeErrors = (issues: readonly v.BaseIssue<unknown>[]): ParsedRequest => {
  const errors = issues.map((issue) => {
    const field = v.getDotPath(issue)
    return field !== null && field.isWellFormed() && field.length <= 100
      ? ([field, describeIssue(issue)] as const)
      : (['body', issue.expected === 'never' ? 'unknown field' : 'expected an object'] as const)
  })
  const [field, reason] = errors[0] ?? ['body', 'not valid']
  const fieldErrors = Object.fromEntries(errors.slice(0, 20).map(([name, why]) => [name, [why]]))
  return refuseShape(`${field}: ${reason}`, fieldErrors)
}

const isMethod = (method: string | undefined): method is PaymentMethod =>
  PAYMENT_METHODS.some((known) => known === method)

/** Text that is empty has no value: the field counts as left out. */
const filled = (value: string | undefined) => (value === '' ? undefined : value)

const toRequest = (body: PaymentBody, metadata: string | undefined): PaymentRequest | undefined => {
  if (!isMethod(body.method) || body.amount === undefined) return undefined
  return {
    method: body.method,
    notionalMinor: minor(body.amount),
    currency: 'IDR',
    channelCode: filled(body.channel_code),
    externalReference: filled(body.external_reference),
    customer: body.customer,
    description: filled(body.description),
    metadata,
    expiresInSeconds: body.expires_in_seconds === 0 ? undefined : body.expires_in_seconds,
  }
}

/**
 * Parses the body of POST /v1/payments (spec 4.1, design section 5). Never throws for bad input: a body that fails is
 * still answered with the original payment when its key has one, so the caller decides what a failure means.
 */
export const parsePaymentRequest = (rawBody: Buffer, now: Timestamp): ParsedRequest => {
  if (rawBody.length > MAX_BODY_BYTES) return refuseShape('the body is larger than 64 KB')
  const json = readJson(rawBody)
  if (!json.ok) return refuseShape(json.reason)
  if (
    typeof json.value !== 'object' ||
    json.value === null ||
    Array.isArray(json.value) ||
    isLosslessNumber(json.value)
  ) {
    return refuseShape('expected an object')
  }
  const shape = v.safeParse(BodySchema, json.value)
  if (!shape.success) return shapeErrors(shape.issues)

  const metadata = readMetadata(shape.output.metadata)
  const errors = checkPaymentRules(shape.output, metadata, now)
  const request = toRequest(shape.output, metadata.ok ? metadata.text : undefined)
  const [first] = errors
  if (first || !request) {
    const fieldErrors = Object.fromEntries(errors.map(({ field, message }) => [field, [message]]))
    return { ok: false, error: invalid(first?.message ?? 'invalid JSON body: not valid', fieldErrors) }
  }
  return { ok: true, request }
}

/** The `Idempotency-Key` header: empty counts as none; longer than 255 characters is refused. */
export const parseIdempotencyKey = (header: string | undefined): string | undefined => {
  if (header !== undefined && header.length > MAX_KEY_LENGTH) {
    throw invalid(`Idempotency-Key must have at most ${MAX_KEY_LENGTH} characters`)
  }
  return filled(header)
}
