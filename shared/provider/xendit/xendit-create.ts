import * as v from 'valibot'
import type { HttpOutcome } from '../call-json.ts'
import type { CreateAnswer, CreateRequestInput } from '../provider.ts'
import { channelProperties, providerCodeOf } from './xendit-channels.ts'
import { errorCodeOf, RequestEchoSchema, RequestSchema } from './xendit-schema.ts'

/** Body of `POST /v3/payment_requests`: one payment of a fixed amount. No customer: the provider would keep personal data. */
export const createBody = (input: CreateRequestInput): object => ({
  reference_id: input.reference,
  type: 'PAY',
  country: 'ID',
  currency: 'IDR',
  request_amount: input.amountMinor,
  capture_method: 'AUTOMATIC',
  channel_code: providerCodeOf(input),
  channel_properties: channelProperties(input),
  ...(input.description && { description: input.description }),
})

const REFUSED_STATUSES: ReadonlySet<number> = new Set([400, 401, 403, 404, 422])

/** The provider's "not now", said before it did anything. */
const NOT_NOW: ReadonlySet<string> = new Set([
  'PAYMENT_REQUEST_RATE_LIMITED',
  'RATE_LIMIT_EXCEEDED',
  'TEMPORARILY_UNAVAILABLE',
])

/** "There is one already": under a reference used once, that one is ours. */
const EXISTS: ReadonlySet<string> = new Set(['DUPLICATE_ERROR', 'IDEMPOTENCY_ERROR'])

/** Refusals that no other payment would escape: our key, its rights, our address; by code where the status says less. */
const ACCOUNT_STATUSES: ReadonlySet<number> = new Set([401, 403, 404])
const ACCOUNT_CODES: ReadonlySet<string> = new Set([
  'INVALID_API_KEY',
  'REQUEST_FORBIDDEN_ERROR',
  'INVALID_MERCHANT_SETTINGS',
  'ACCOUNT_ACCESS_BLOCKED',
  'CHANNEL_NOT_ACTIVATED',
])

/**
 * What the outcome of a create call proves. Only a definite refusal and a connection that was never made prove that
 * nothing exists upstream; the provider documents no idempotency, so everything else is `unknown` (design section 4).
 */
export const createAnswer = (outcome: HttpOutcome, asked: CreateRequestInput): CreateAnswer => {
  if (outcome.kind === 'not_sent') return { kind: 'not_executed', reason: outcome.reason }
  if (outcome.kind === 'lost') return { kind: 'unknown', reason: outcome.reason }
  const { status, json } = outcome
  if (status === 200 || status === 201) return readCreated(json, asked)
  const code = errorCodeOf(json)
  if (status === 429) return { kind: 'not_executed', reason: code }
  if (!REFUSED_STATUSES.has(status) || EXISTS.has(code)) return unclear(`HTTP ${status} ${code}`)
  if (NOT_NOW.has(code)) return { kind: 'not_executed', reason: code }
  const ofAccount = ACCOUNT_STATUSES.has(status) || ACCOUNT_CODES.has(code)
  return { kind: 'refused', code, ...(ofAccount && { ofAccount }) }
}

const readCreated = (json: unknown, asked: CreateRequestInput): CreateAnswer => {
  const request = v.safeParse(RequestSchema, json)
  const echo = v.safeParse(RequestEchoSchema, json)
  if (!request.success || !echo.success) return unclear('unreadable answer')
  // Showing a customer the destination of another request would send the money astray.
  const isOurs = echo.output.reference_id === asked.reference && echo.output.request_amount === asked.amountMinor
  return isOurs ? { kind: 'created', request: request.output } : unclear('answer about another request')
}

const unclear = (reason: string): CreateAnswer => ({ kind: 'unknown', reason, answered: true })
