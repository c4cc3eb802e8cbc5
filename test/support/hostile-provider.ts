import * as fc from 'fast-check'
import type { HttpCall, HttpOutcome } from '../../shared/provider/http.ts'
import type { Provider } from '../../shared/provider/provider.ts'
import { xenditProvider } from '../../shared/provider/xendit.ts'
import { providerSecretName } from '../../shared/secrets.ts'
import { hostileJson, mostly, objectOf } from './hostile-values.ts'
import type { TestDeps } from './test-deps.ts'

export const CALLBACK_TOKEN = 'a-token-of-tests'

type Kind = 'create' | 'request' | 'payment' | 'cancel' | 'transactions'

/** What the network answers to each kind of call, in turns. */
export type Outcomes = { readonly [kind in Kind]?: readonly HttpOutcome[] }

/** Names with a dollar are replaced by the ids of the payment at hand. */
const request = objectOf({
  payment_request_id: mostly('$request', '$request', 'pr-other'),
  reference_id: mostly('$reference', '$reference', '00000000-0000-4000-8000-000000000000-1'),
  status: mostly('SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELED', 'REQUIRES_ACTION'),
  latest_payment_id: mostly('$payment', '', null),
  channel_code: mostly('BCA_VIRTUAL_ACCOUNT', 'QRIS'),
  request_amount: mostly(100_000, '100000', 99_999),
  actions: fc.oneof(
    { weight: 3, arbitrary: fc.constant([{ descriptor: 'VIRTUAL_ACCOUNT_NUMBER', value: '381652390000001' }]) },
    { weight: 1, arbitrary: fc.array(objectOf({ descriptor: mostly('VIRTUAL_ACCOUNT_NUMBER'), value: hostileJson })) },
    { weight: 1, arbitrary: hostileJson },
  ),
})

const payment = objectOf({
  payment_id: mostly('$payment', 'py-other'),
  payment_request_id: mostly('$request', '$request', 'pr-other'),
  reference_id: mostly('$reference', '$reference', 'not-ours'),
  currency: mostly('IDR', 'IDR', 'PHP'),
  status: mostly('SUCCEEDED', 'SUCCEEDED', 'FAILED', 'AUTHORIZED'),
  captures: fc.oneof(
    { weight: 4, arbitrary: fc.array(objectOf({ capture_amount: mostly(100_000, 50_000, '100000', 0.5) })) },
    { weight: 1, arbitrary: hostileJson },
  ),
})

const TIMES = ['2026-11-20T03:00:00Z', '2026-11-20T03:00:00.123456', '9999-12-31T23:59:59-23:59', 'yesterday']

const transaction = objectOf({
  id: mostly('txn-1', 'txn-2', 'x'.repeat(3_000)),
  product_id: mostly('$payment', '$payment', 'py-other', '', 'p'.repeat(3_000)),
  reference_id: mostly('$reference', '$reference', 'not-ours'),
  status: mostly('SUCCESS', 'SUCCESS', 'PENDING', 'REVERSED'),
  currency: mostly('IDR', 'IDR', 'PHP'),
  amount: mostly(100_000, 100_000, '100000', 7),
  net_amount: mostly(95_560, 100_000, -3_000, 200_000, null),
  settlement_status: mostly('SETTLED', 'SETTLED', 'PENDING', 'EARLY_SETTLED'),
  estimated_settlement_time: mostly(...TIMES),
  updated: mostly('2026-11-20T03:00:00Z', ...TIMES),
  fee: fc.oneof(objectOf({ status: mostly('COMPLETED', 'COMPLETED', 'PENDING', '') }), hostileJson),
  product_data: fc.oneof(objectOf({ payment_request_id: mostly('$request') }), hostileJson),
})

const transactions = objectOf({
  has_more: mostly(false, false, true),
  data: fc.oneof(
    { weight: 5, arbitrary: fc.array(transaction, { maxLength: 3 }) },
    { weight: 1, arbitrary: hostileJson },
  ),
})

const error = objectOf({
  error_code: mostly('INACTIVE_PAYMENT_REQUEST', 'INELIGIBLE_TRANSACTION_STATUS', 'DUPLICATE_ERROR', 'DATA_NOT_FOUND'),
})

const BODIES: Readonly<Record<Kind, fc.Arbitrary<unknown>>> = {
  create: request,
  request,
  payment,
  cancel: fc.oneof(request, error),
  transactions,
}

const CODES = [200, 201, 202, 204, 302, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503]

const answered = (status: fc.Arbitrary<number>, json: fc.Arbitrary<unknown>): fc.Arbitrary<HttpOutcome> =>
  fc.record({ kind: fc.constant('answered' as const), status, json })

/** What may come back of one call: mostly an answer near the truth, else one of any status and body, or none at all. */
export const anyOutcome = (kind: Kind): fc.Arbitrary<HttpOutcome> =>
  fc.oneof(
    { weight: 8, arbitrary: answered(fc.constant(200), BODIES[kind]) },
    { weight: 2, arbitrary: answered(fc.constantFrom(...CODES), fc.oneof(BODIES[kind], error, hostileJson)) },
    { weight: 1, arbitrary: answered(fc.constantFrom(...CODES), fc.constant(undefined)) },
    { weight: 1, arbitrary: fc.constant({ kind: 'not_sent' as const, reason: 'ECONNREFUSED' }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'lost' as const, reason: 'timeout' }) },
  )

/** One answer that was given, to what call. */
export type Answered = { readonly kind: Kind; readonly status: number; readonly json: unknown }

const kindOf = ({ method, url }: HttpCall): Kind => {
  if (url.pathname.endsWith('/cancel')) return 'cancel'
  if (url.pathname.startsWith('/transactions')) return 'transactions'
  if (url.pathname.startsWith('/v3/payments/')) return 'payment'
  return method === 'POST' ? 'create' : 'request'
}

/** A call takes so long that a run with a budget comes to its end, however much the provider has more. */
const CALL_SECONDS = 20

/** The real adapter on a network that answers as planned; `said` is what it has answered so far. */
export const hostileNetwork = (
  deps: TestDeps,
  outcomes: Outcomes,
): { readonly provider: Provider; readonly said: readonly Answered[] } => {
  const said: Answered[] = []
  const calls = new Map<Kind, number>()
  const secret = JSON.stringify({ secret_key: 'xnd_test', callback_tokens: [CALLBACK_TOKEN] })
  deps.secretValues.set(providerSecretName('test'), secret)
  const respond = async (made: HttpCall): Promise<HttpOutcome> => {
    const kind = kindOf(made)
    const number = calls.get(kind) ?? 0
    calls.set(kind, number + 1)
    if (kind === 'transactions') deps.clock.advance(CALL_SECONDS)
    const planned = outcomes[kind] ?? []
    const outcome: HttpOutcome = planned[number % planned.length] ?? { kind: 'lost', reason: 'timeout' }
    if (outcome.kind === 'answered') said.push({ kind, status: outcome.status, json: outcome.json })
    return outcome
  }
  const options = { baseUrl: 'https://provider.example', stage: 'test', secrets: deps.secrets, call: respond }
  return { provider: xenditProvider(options), said }
}
