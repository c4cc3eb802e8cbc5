import * as fc from 'fast-check'
import type { HttpCall, HttpOutcome } from '../../../shared/provider/call-json.ts'
import { xenditProvider } from '../../../shared/provider/xendit/xendit-provider.ts'
import { callbackSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { hostileJson, nearly, weighted } from '../../support/hostile-values.ts'
import type { Seen } from '../../support/recount/books.ts'
import {
  CAPTURED_PAYMENT,
  PAID_REQUEST,
  PROVIDER_SECRET,
  SETTLED_TRANSACTION,
  VA_NUMBER,
} from '../../support/scripted-provider.ts'
import type { TestDeps } from '../../support/test-deps.ts'

export const CALLBACK_TOKEN = 'a-token-of-tests'

/** A virtual account and its money. Texts that begin with a dollar are replaced by the ids of the tested payment. */
const IDS = { payment_request_id: '$request', reference_id: '$reference' }
const SHOWN = [VA_NUMBER]
const OPEN = { status: 'REQUIRES_ACTION', latest_payment_id: null, request_amount: 100_000, actions: SHOWN }
const REQUEST = { ...PAID_REQUEST, ...IDS, ...OPEN }

const requestOthers = {
  payment_request_id: ['pr-other'],
  reference_id: ['00000000-0000-4000-8000-000000000000-1', 'not-ours'],
  status: ['FAILED', 'EXPIRED', 'CANCELED', 'SUCCEEDED'],
  latest_payment_id: ['$payment', '', null],
  request_amount: ['100000', 99_999],
  actions: [[], [{ descriptor: 'VIRTUAL_ACCOUNT_NUMBER' }], [SHOWN[0], { value: 7 }]],
}

const ENDED = ['FAILED', 'EXPIRED', 'CANCELED'].map((status) => ({ status }))
const request = fc
  .constantFrom({}, ...ENDED, { status: 'SUCCEEDED', latest_payment_id: '$payment' })
  .chain((state) => nearly({ ...REQUEST, ...state }, requestOthers))

const captured = (...amounts: readonly unknown[]) => amounts.map((capture_amount) => ({ capture_amount }))

const CAPTURED = { ...CAPTURED_PAYMENT, ...IDS, payment_id: '$payment', captures: captured(100_000) }

const payment = nearly(CAPTURED, {
  payment_id: ['py-other'],
  payment_request_id: ['pr-other'],
  reference_id: ['00000000-0000-4000-8000-000000000000-1', 'not-ours'],
  currency: ['PHP'],
  status: ['FAILED', 'AUTHORIZED', 'CANCELED'],
  captures: [[], [50_000, 50_000], [50_000], ['100000'], [99_999.5, 0.5], [100_000, -1]].map((of) => captured(...of)),
})

const TIMES = ['2026-11-20T03:00:00Z', '2026-11-20T03:00:00.123456', '9999-12-31T23:59:59-23:59', 'yesterday']

const ABOUT = { product_id: '$payment', reference_id: '$reference', product_data: { payment_request_id: '$request' } }
const AMOUNTS = { amount: 100_000, net_amount: 95_560 }
const [PAST] = TIMES
const SETTLED = { ...SETTLED_TRANSACTION, ...ABOUT, ...AMOUNTS, estimated_settlement_time: PAST, updated: PAST }

const transaction = nearly(SETTLED, {
  type: ['REFUND', 'CHARGEBACK_REVERSAL', 'TYPE_OF_TOMORROW'],
  id: ['txn-2', 'x'.repeat(3_000)],
  product_id: ['py-other', '', 'p'.repeat(3_000)],
  reference_id: ['not-ours', ''],
  status: ['PENDING', 'REVERSED', 'FAILED'],
  currency: ['PHP'],
  amount: ['100000', 7],
  net_amount: [100_000, -3_000, 200_000, null],
  settlement_status: ['PENDING', 'EARLY_SETTLED'],
  estimated_settlement_time: TIMES,
  updated: TIMES,
  fee: [{ status: 'PENDING' }, { status: 'CANCELED' }, { status: '' }, {}],
  product_data: [{}, null],
})

const aPage = fc.record({
  has_more: fc.constantFrom(false, false, true),
  data: fc.array(transaction, { maxLength: 3 }),
})
const nearlyAPage = fc.array(transaction, { maxLength: 2 }).chain((data) => nearly({ has_more: false, data }))
const transactions = weighted<object>([6, aPage], [1, nearlyAPage])

const error = nearly(
  { error_code: 'INACTIVE_PAYMENT_REQUEST' },
  { error_code: ['INELIGIBLE_TRANSACTION_STATUS', 'DUPLICATE_ERROR', 'DATA_NOT_FOUND', 'TEMPORARILY_UNAVAILABLE'] },
)

const BODIES = { create: request, request, payment, cancel: request, transactions }
type Kind = keyof typeof BODIES

/** The network's answers to each kind of call, used in turn. */
export type Outcomes = { readonly [kind in Kind]?: readonly HttpOutcome[] }

const CODES = [200, 201, 202, 204, 302, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503]

const answered = (status: fc.Arbitrary<number>, json: fc.Arbitrary<unknown>): fc.Arbitrary<HttpOutcome> =>
  fc.record({ kind: fc.constant('answered' as const), status, json })

/** The outcome of one call: mostly an almost valid answer, otherwise any status and body, or no answer. */
export const anyOutcome = (kind: Kind): fc.Arbitrary<HttpOutcome> =>
  weighted(
    [8, answered(fc.constant(200), BODIES[kind])],
    [2, answered(fc.constantFrom(...CODES), fc.oneof(BODIES[kind], error, hostileJson))],
    [1, answered(fc.constantFrom(...CODES), fc.constant(undefined))],
    [1, fc.constant<HttpOutcome>({ kind: 'not_sent', reason: 'ECONNREFUSED' })],
    [1, fc.constant<HttpOutcome>({ kind: 'lost', reason: 'timeout' })],
  )

/** One answer of the network, and the kind of its call. */
export type Answered = { readonly kind: Kind; readonly status: number; readonly json: unknown }

const kindOf = ({ method, url }: HttpCall): Kind => {
  if (url.pathname.endsWith('/cancel')) return 'cancel'
  if (url.pathname.startsWith('/transactions')) return 'transactions'
  if (url.pathname.startsWith('/v3/payments/')) return 'payment'
  return method === 'POST' ? 'create' : 'request'
}

/** So long that a run of the sync reaches its time limit, even if the provider always has more pages. */
const CALL_SECONDS = 20

/** The real adapter on a network with planned answers. `said`: all answers so far. */
export const hostileNetwork = (deps: TestDeps, outcomes: Outcomes) => {
  const said: Answered[] = []
  const calls = new Map<Kind, number>()
  deps.secretValues.set(providerSecretName('test'), PROVIDER_SECRET)
  deps.secretValues.set(callbackSecretName('test'), JSON.stringify({ callback_tokens: [CALLBACK_TOKEN] }))
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
  const { secrets } = deps
  const options = { baseUrl: 'https://provider.example', stage: 'test', secrets, nowMs: Date.now, call: respond }
  return { provider: xenditProvider(options), said }
}

/** For invariants that read only the books. */
export const SEEN_NOTHING: Seen = {
  webhooks: [],
  secretOfUrl: new Map(),
  captured: new Map(),
  turned: [],
  bookedBack: [],
  endpointsOfClient: new Map(),
  destinationsOfKey: new Map(),
  paymentsOfKey: new Map(),
  logLines: [],
  digestBlock: 1_000,
  confidential: [],
}

type Fields = Readonly<Record<string, unknown>>

const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

const number = (value: unknown): number =>
  typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN

/** The sum of a payment's captures; undefined if the answer proves no money. */
const capturedBy = ({ kind, status, json }: Answered): number | undefined => {
  const { status: state, captures } = fields(json)
  if (kind !== 'payment' || status !== 200 || state !== 'SUCCEEDED') return undefined
  if (!Array.isArray(captures) || captures.length === 0) return undefined
  return captures.reduce<number>((sum, capture) => sum + number(fields(capture)['capture_amount']), 0)
}

type About = { readonly paymentId: string; readonly paymentRequestId: string; readonly amount: number }

const names = ({ json }: Answered, paymentId: string): boolean =>
  text(fields(json)['reference_id']).startsWith(`${paymentId}-`)

/** The rows of a page that say that exactly the amount was received, in rupiah. */
const rowsOfCaptures = ({ kind, status, json }: Answered, amount: number): readonly Fields[] => {
  const { data } = fields(json)
  if (kind !== 'transactions' || status !== 200 || !Array.isArray(data)) return []
  return data
    .map(fields)
    .filter((row) => row['type'] === 'PAYMENT' && row['status'] === 'SUCCESS' && row['currency'] === 'IDR')
    .filter((row) => Math.floor(number(row['amount'])) === amount)
}

/** The provider said, in the payment or in its row, that exactly the amount was received for it, in rupiah. */
export const isFullCapture = (answer: Answered, { paymentId, amount }: About): boolean =>
  (names(answer, paymentId) &&
    fields(answer.json)['currency'] === 'IDR' &&
    Math.floor(capturedBy(answer) ?? Number.NaN) === amount) ||
  rowsOfCaptures(answer, amount).some(
    ({ product_id, reference_id }) => text(product_id).startsWith('py-') && reference_id === `${paymentId}-1`,
  )

/** The provider said that something else was received on the payment's own request. */
export const isWrongCapture = (answer: Answered, about: About): boolean =>
  names(answer, about.paymentId) &&
  fields(answer.json)['payment_request_id'] === about.paymentRequestId &&
  capturedBy(answer) !== undefined &&
  !isFullCapture(answer, about)

/** The provider said that the payment's own request ended without money. */
export const isFinalEnd = (answer: Answered, { paymentId, paymentRequestId }: About): boolean => {
  const { payment_request_id: id, id: otherName, status } = fields(answer.json)
  return (
    answer.kind === 'request' &&
    answer.status === 200 &&
    names(answer, paymentId) &&
    (id ?? otherName) === paymentRequestId &&
    ['FAILED', 'EXPIRED', 'CANCELED'].includes(text(status))
  )
}
