import * as v from 'valibot'
import { assertInvariant, invalid } from '../../errors.ts'
import { isJsonObject, readJson } from '../../json.ts'
import { minor } from '../../money.ts'
import { isPaymentMethod } from '../../payment-method.ts'
import type { PaymentRequest } from '../payment.ts'
import {
  checkPaymentRules,
  type PaymentBody,
  PaymentBodySchema,
  type RuleFacts,
  readMetadata,
  unknownFields,
} from './payment-body.ts'
import { type ParsedRequest, refuseJson, refuseRules, refuseShape } from './refuse-body.ts'

const MAX_BODY_BYTES = 65_536
export const MAX_KEY_LENGTH = 255

/**
 * Parses the body of POST /v1/payments (spec 4.1, design section 5). Never throws for bad input: when the key has a
 * payment, even a bad body is answered with it, so the caller decides what an error means.
 */
export const parsePaymentRequest = (rawBody: Buffer, facts: RuleFacts): ParsedRequest => {
  if (rawBody.length > MAX_BODY_BYTES) return refuseJson('the body is larger than 64 KB')
  const json = readJson(rawBody)
  if (!json.ok) return refuseJson(json.reason)
  if (!isJsonObject(json.value)) return refuseJson('expected an object')
  const shape = v.safeParse(PaymentBodySchema, json.value)
  const unknown = unknownFields(json.value)
  if (!shape.success || unknown.length > 0) {
    return refuseShape({ unknown, issues: shape.issues ?? [], body: json.value, text: json.text, facts })
  }
  const metadata = readMetadata(shape.output.metadata, json.text)
  const broken = checkPaymentRules(shape.output, metadata, facts)
  if (broken.length > 0) return refuseRules(broken)
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
