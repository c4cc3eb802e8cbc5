import { ifValid } from '../../if-valid.ts'
import type { HttpOutcome } from '../call-json.ts'
import type { CreateAnswer, CreateRequestInput } from '../provider.ts'
import { errorCodeOf, RequestEchoSchema, RequestSchema } from './xendit-schema.ts'

/** One payment of a fixed amount, without personal data of the customer. */
export function createBody(input: CreateRequestInput): object {
  return {
    reference_id: input.reference,
    type: 'PAY',
    country: 'ID',
    currency: 'IDR',
    request_amount: input.amountMinor,
    capture_method: 'AUTOMATIC',
    channel_code: providerCodeOf(input),
    channel_properties: {
      display_name: input.displayName,
      expires_at: input.expiresAt,
      account_mobile_number: input.phone,
      ...Object.fromEntries(
        Object.entries(input.returnUrls).map(([outcome, url]) => [`${outcome}_return_url`, url]),
      ),
    },
    ...(input.description && { description: cutDescription(input.description) }),
  }
}

/** The provider counts UTF-16 units. A merchant's 1,000 characters may be twice as many units. */
function cutDescription(description: string) {
  // A cut within a character leaves the first half of a surrogate pair.
  return description.slice(0, 1_000).replace(/[\uD800-\uDBFF]$/, '')
}

function providerCodeOf({ method, channelCode = '' }: CreateRequestInput) {
  switch (method) {
    case 'qris':
      return 'QRIS'
    case 'virtual_account':
      return `${channelCode}_VIRTUAL_ACCOUNT`
    case 'ewallet':
      return channelCode
  }
}

const REFUSED_STATUSES: ReadonlySet<number> = new Set([400, 401, 403, 404, 422])

/** Temporary refusals: the provider did nothing. */
const NOT_NOW: ReadonlySet<string> = new Set([
  'PAYMENT_REQUEST_RATE_LIMITED',
  'TEMPORARILY_UNAVAILABLE',
])

/** The request already exists. It is ours, because each reference is used once. */
const EXISTS: ReadonlySet<string> = new Set(['DUPLICATE_ERROR', 'IDEMPOTENCY_ERROR'])

/**
 * Refusals that affect all payments: our key, its permissions, our URL. Codes add what the status
 * does not tell.
 */
const ACCOUNT_STATUSES: ReadonlySet<number> = new Set([401, 403, 404])
const ACCOUNT_CODES: ReadonlySet<string> = new Set([
  'INVALID_API_KEY',
  'REQUEST_FORBIDDEN_ERROR',
  'ACCOUNT_ACCESS_BLOCKED',
])

/** A person activates each channel in the provider's dashboard. */
const NOT_ACTIVATED: ReadonlySet<string> = new Set([
  'INVALID_MERCHANT_SETTINGS',
  'CHANNEL_NOT_ACTIVATED',
])

/** Only a refusal or a missing connection proves that nothing exists upstream. */
export function createAnswer(outcome: HttpOutcome, input: CreateRequestInput): CreateAnswer {
  if (outcome.kind === 'not_sent') return { kind: 'not_executed', reason: outcome.reason }
  if (outcome.kind === 'lost') return { kind: 'unknown', reason: outcome.reason }
  const { status, json } = outcome
  if (status === 200 || status === 201) {
    const [request, echo] = [ifValid(RequestSchema, json), ifValid(RequestEchoSchema, json)]
    if (!request || !echo) return unclearAnswer('unreadable answer')
    // The destination of another request would send the customer's money to the wrong payment.
    const isOurs =
      echo.reference_id === input.reference &&
      echo.request_amount === input.amountMinor &&
      echo.currency === 'IDR' &&
      echo.channel_code === providerCodeOf(input)
    return isOurs ? { kind: 'created', request } : unclearAnswer('answer about another request')
  }
  const code = errorCodeOf(json)
  // A proxy may answer 4xx, although the provider has created the request.
  if (code === undefined) return unclearAnswer(`HTTP ${status} without an error code`)
  if (status === 429) return { kind: 'not_executed', reason: code }
  if (!REFUSED_STATUSES.has(status) || EXISTS.has(code))
    return unclearAnswer(`HTTP ${status} ${code}`)
  if (NOT_NOW.has(code)) return { kind: 'not_executed', reason: code }
  if (NOT_ACTIVATED.has(code)) return { kind: 'refused', code, isNotActivated: true }
  const isAccountWide = ACCOUNT_STATUSES.has(status) || ACCOUNT_CODES.has(code)
  return { kind: 'refused', code, ...(isAccountWide && { isAccountWide }) }
}

function unclearAnswer(reason: string): CreateAnswer {
  return { kind: 'unknown', reason, answered: true }
}
