import { timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'
import { routeTable } from '../process/route-table.ts'
import type { Permission, RateLimit } from './account.ts'
import { type CallFaultName, type CallTarget, numberOf } from './faults.ts'
import { ProviderError, parseJson } from './provider-error.ts'
import type { SimulatorCore } from './simulator-core.ts'
import { PROVIDER_HEADERS, providerHeaders } from './simulator-keys.ts'

/** Header names are in lower case. */
type ProviderCall = {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
}

/** `silence`: the caller never gets an answer. `delayMs`: how long it takes. */
type ProviderAnswer =
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: unknown
      readonly delayMs: number
    }
  | { readonly kind: 'silence' }

type Call = {
  readonly needs: Permission
  readonly target?: CallTarget
  readonly status?: number
  readonly run: (core: SimulatorCore, call: ProviderCall, id: string) => unknown
}

const findCall = routeTable<Call>({
  'POST /v3/payment_requests': {
    needs: 'money_in',
    target: 'create',
    status: 201,
    run: (core, { body }) => core.createPaymentRequest(parseJson(body)),
  },
  'GET /v3/payment_requests/{id}': {
    needs: 'money_in',
    target: 'get',
    run: (core, _call, id) => core.getPaymentRequest(id),
  },
  'POST /v3/payment_requests/{id}/cancel': {
    needs: 'money_in',
    target: 'cancel',
    run: (core, _call, id) => core.cancelPaymentRequest(id),
  },
  'POST /v3/payment_requests/{id}/simulate': {
    needs: 'money_in',
    run: (core, { body }, id) => core.simulatePayment(id, parseJson(body)),
  },
  'GET /v3/payments/{id}': {
    needs: 'money_in',
    target: 'get',
    run: (core, _call, id) => core.getPayment(id),
  },
  'GET /transactions': {
    needs: 'transactions',
    target: 'transactions',
    run: (core, { query }) => core.listTransactions(query),
  },
  'GET /balance': { needs: 'money_out', run: (core, { query }) => core.getBalance(query) },
})

const Rows = v.object({ data: v.pipe(v.array(v.unknown()), v.minLength(1)) })

/**
 * Answers as the provider would, or with the effect of an armed fault. `timeout`, `http_*` and
 * `refuse` prevent the effect of the call; `timeout_after_commit` and `slow` change only its
 * answer. Undefined for an unknown path. Counts every other call, even a refused one, and every row
 * that a list returns.
 */
export function answerProviderCall(
  core: SimulatorCore,
  secretKey: string,
  call: ProviderCall,
): ProviderAnswer | undefined {
  const route = findCall(call.method, call.path)
  if (!route) return undefined
  const { routeKey, entry, pathParameters } = route
  core.countCall(routeKey)
  const rate = core.admitCall(routeKey)
  const refusal = attempt(() => {
    checkHeaders(call, secretKey)
    if (!rate.isAdmitted) throw new ProviderError('RATE_LIMIT_EXCEEDED', 'Too many requests')
    core.requirePermission(entry.needs)
  })
  if (refusal instanceof ProviderError) return refusalAnswer(refusal, rate)
  const fault = entry.target ? core.takeCallFault(entry.target) : undefined
  const faultAnswer = fault ? answerBeforeEffect(fault, rate) : undefined
  if (faultAnswer) return faultAnswer
  const result = attempt(() => entry.run(core, call, pathParameters['id'] ?? ''))
  if (fault?.fault === 'timeout_after_commit') return { kind: 'silence' }
  const delayMs = fault?.fault === 'slow' ? (numberOf(fault) ?? 0) : 0
  if (result instanceof ProviderError) return { ...refusalAnswer(result, rate), delayMs }
  if (v.is(Rows, result)) core.countCall(`rows ${routeKey}`, result.data.length)
  return {
    kind: 'answer',
    status: entry.status ?? 200,
    headers: limitHeaders(rate),
    body: result,
    delayMs,
  }
}

function attempt(step: () => unknown) {
  try {
    return step()
  } catch (error) {
    if (error instanceof ProviderError) return error
    throw error
  }
}

function checkHeaders(call: ProviderCall, secretKey: string) {
  const expected = Buffer.from(providerHeaders(secretKey).authorization)
  const authorization = Buffer.from(String(call.headers['authorization'] ?? ''))
  if (authorization.length !== expected.length || !timingSafeEqual(authorization, expected)) {
    throw new ProviderError('INVALID_API_KEY', 'API key in the request is missing or invalid')
  }
  if (!call.path.startsWith('/v3/')) return
  const version = call.headers['api-version']
  if (version === undefined)
    throw new ProviderError('API_VALIDATION_ERROR', 'API version in header is required')
  if (version !== PROVIDER_HEADERS['api-version'])
    throw new ProviderError('API_VALIDATION_ERROR', 'API version in header is not supported')
}

function refusalAnswer(error: ProviderError, rate: RateLimit) {
  return {
    kind: 'answer',
    status: error.status,
    headers: limitHeaders(rate),
    body: error.toBody(),
    delayMs: 0,
  } as const
}

/** The gateway waits this long in real time, and the tests with it. */
const SHORT_RESET_SECONDS = 0.5

/** Undefined for a fault that does not prevent the effect of the call. */
function answerBeforeEffect(
  fault: { fault: CallFaultName; value: unknown },
  rate: RateLimit,
): ProviderAnswer | undefined {
  const refuse = (code: string, message: string, limit = rate) =>
    refusalAnswer(new ProviderError(code, message), limit)
  switch (fault.fault) {
    case 'timeout':
      return { kind: 'silence' }
    case 'http_500':
      return refuse('SERVER_ERROR', 'An unexpected error occurred')
    case 'http_503':
      return refuse('CHANNEL_UNAVAILABLE', 'The payment channel is currently unavailable')
    case 'http_429': {
      const resetSeconds = numberOf(fault) ?? SHORT_RESET_SECONDS
      return refuse('RATE_LIMIT_EXCEEDED', 'Too many requests', {
        ...rate,
        remaining: 0,
        resetSeconds,
      })
    }
    case 'refuse':
      return refuse(String(fault.value), 'The request is refused')
    case 'timeout_after_commit':
    case 'slow':
      return undefined
    default:
      return fault.fault satisfies never
  }
}

function limitHeaders({ limit, remaining, resetSeconds }: RateLimit) {
  return {
    'Rate-Limit-Limit': String(limit),
    'Rate-Limit-Remaining': String(remaining),
    'Rate-Limit-Reset': resetSeconds.toFixed(3),
  }
}
