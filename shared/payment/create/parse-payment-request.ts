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

/** Parses the body of POST /v1/payments (spec 4.1). A bad one does not throw: its key may have a payment. */
export const parsePaymentRequest = (rawBody: Buffer, facts: RuleFacts): ParsedRequest => {
  const json = readBody(rawBody)
  if (!json.ok) return refuseJson(json.reason)
  const shape = v.safeParse(PaymentBodySchema, json.value)
  const unknown = unknownFields(json.value)
  if (!shape.success || unknown.length > 0) {
    return refuseShape({ unknown, issues: shape.issues ?? [], body: json.value, text: json.text, facts })
  }
  const metadata = readMetadata(shape.output.metadata, json.text)
  const broken = checkPaymentRules(shape.output, metadata, facts)
  const [first] = broken
  if (first) return refuse(first.message, broken)
  return { ok: true, request: toRequest(shape.output, metadata.ok ? metadata.text : undefined) }
}

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

const refuseJson = (reason: string, errors?: readonly RuleError[]): ParsedRequest =>
  refuse(`invalid JSON body: ${reason}`, errors)

type Misshapen = {
  readonly unknown: readonly string[]
  readonly issues: readonly v.BaseIssue<unknown>[]
  readonly body: Readonly<Record<string, unknown>>
  readonly text: string
  readonly facts: RuleFacts
}

/** Refuses a body with unknown fields or wrong types. Rule errors of its other fields are told too. */
const refuseShape = ({ unknown, issues, ...read }: Misshapen): ParsedRequest => {
  const misshapen = [
    ...unknown.map((field) => ({ field: shownField(field), message: 'unknown field' })),
    ...issues.map((issue) => ({ field: v.getDotPath(issue) ?? 'body', message: describeIssue(issue) })),
  ].slice(0, MAX_FIELDS)
  const [first] = misshapen
  return refuseJson(`${first?.field}: ${first?.message}`, [...misshapen, ...brokenBeside(misshapen, read)])
}

/** Rule errors of the other fields. A field with a wrong type gets no second error. */
const brokenBeside = (
  misshapen: readonly RuleError[],
  { body, text, facts }: Omit<Misshapen, 'unknown' | 'issues'>,
): readonly RuleError[] => {
  const topOf = (field: string) => field.split('.')[0] ?? field
  const unread = new Set(misshapen.map(({ field }) => topOf(field)))
  const readable = Object.entries(body).filter(([field]) => !unread.has(field))
  const shape = v.safeParse(PaymentBodySchema, Object.fromEntries(readable))
  if (!shape.success) return []
  const broken = checkPaymentRules(shape.output, readMetadata(shape.output.metadata, text), facts)
  return broken.filter(({ field }) => !unread.has(topOf(field)))
}
