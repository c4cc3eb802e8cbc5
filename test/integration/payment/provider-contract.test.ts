import * as v from 'valibot'
import { describe, expect } from 'vitest'
import type { Provider, TransactionFilter } from '../../../shared/provider/provider.ts'
import { timestampOf } from '../../../shared/time.ts'
import {
  CHANNEL_FACTS,
  CHANNELS,
  type ChannelFacts,
  REQUESTS,
} from '../../support/provider-facts.ts'
import {
  API_HEADERS,
  aRequestBody,
  type aSimulator,
  simulatorIt as it,
} from '../../support/provider-simulator-harness.ts'
import { aCreateInput, scriptedProvider } from '../../support/scripted-provider.ts'
import { json } from '../../support/scripted-server.ts'
import {
  ANSWERS,
  CALLBACK_HEADERS,
  CALLBACKS,
  ErrorBody,
  RateLimitHeaders,
} from './provider-answer-facts.ts'

/*
 * Goal: adapter and simulator cannot agree on something that the provider refuses. Method: the
 * tests compare each request of the real adapter, and each answer and callback of the real
 * simulator, field by field with the facts of the provider's documents (support/provider-facts.ts,
 * provider-answer-facts.ts). The facts import neither of the two.
 */

const PR = 'pr-73762759-0c9b-8178-b48f-0480d694b643'
const PY = 'py-4e0209e9-67a2-449a-9748-57df6a8bddad'

function violationsOf(facts: v.GenericSchema, value: unknown): readonly string[] {
  return (v.safeParse(facts, value).issues ?? []).map(
    (issue) => `${v.getDotPath(issue) ?? ''}: ${issue.message}`,
  )
}

const DAY = timestampOf(Date.UTC(2026, 10, 20))
const SPAN = { updatedFrom: DAY, updatedTo: DAY }

type Ask = (provider: Provider) => Promise<unknown>
type Question = readonly [keyof typeof REQUESTS, string, Ask]

function createChannel({ method, channelCode }: ChannelFacts): Ask {
  const channelFields =
    method === 'virtual_account'
      ? { expiresAt: DAY, description: 'Kopi Ú' }
      : { description: undefined }
  const input = aCreateInput({ method, channelCode, phone: '+6281234567890', ...channelFields })
  return (provider) => provider.createRequest(input, 5_000)
}
function listFor(filter: TransactionFilter): Ask {
  return (provider) => provider.listTransactions(filter)
}

it.for<Question>([
  ...CHANNEL_FACTS.map(
    (channel): Question => ['create', channel.providerCode, createChannel(channel)],
  ),
  ['getRequest', 'by id', (provider) => provider.getRequest(PR)],
  ['getPayment', 'by id', (provider) => provider.getPayment(PY)],
  ['cancel', 'by id', (provider) => provider.cancelRequest(PR)],
  ['balance', 'of the cash account', (provider) => provider.getBalance()],
  ['transactions', 'of one payment', listFor({ providerPaymentId: PY, limit: 10 })],
  ['transactions', 'of one reference', listFor({ reference: 'ref-1', limit: 50 })],
  [
    'transactions',
    'of a span, all types',
    listFor({ ...SPAN, allTypes: true, afterId: 'txn_1', limit: 50 }),
  ],
])('we send each request as the provider documents it: %s, %s', async ([name, , ask]) => {
  const facts = REQUESTS[name]
  const { provider, server } = await scriptedProvider(json(500, {}))

  await ask(provider)

  const [request, secondRequest] = server.requests
  if (!request || secondRequest) throw new Error('the provider did not receive exactly one request')
  const { method, url, headers, body } = request
  const { pathname, searchParams } = new URL(url, 'https://api.provider.example')
  expect(method).toBe(facts.method)
  expect(pathname).toMatch(facts.path)
  expect(violationsOf(facts.headers, headers)).toStrictEqual([])
  expect(violationsOf(facts.query, Object.fromEntries(searchParams))).toStrictEqual([])
  expect(violationsOf(facts.body, body === '' ? '' : JSON.parse(body))).toStrictEqual([])
})

type Simulator = Awaited<ReturnType<typeof aSimulator>>
type Created = { readonly payment_request_id: string; readonly latest_payment_id: string }
type Answer = { readonly status: number; readonly body: unknown; readonly headers: Headers }

function expectAnswer(name: keyof typeof ANSWERS, { status, body, headers }: Answer) {
  expect(status).toBe(ANSWERS[name].status)
  expect(violationsOf(ANSWERS[name].body, body)).toStrictEqual([])
  expectHeaders(headers)
}

function expectHeaders(headers: Headers) {
  expect(headers.get('content-type')).toMatch(/^application\/json/)
  expect(violationsOf(RateLimitHeaders, Object.fromEntries(headers))).toStrictEqual([])
}

function make(simulator: Simulator, channel: string) {
  return simulator.call<Created>(
    'POST',
    '/v3/payment_requests',
    aRequestBody(channel, { description: 'Kopi' }),
  )
}

function show(simulator: Simulator, id: string, headers?: Record<string, string>) {
  return simulator.call<Created>('GET', `/v3/payment_requests/${id}`, undefined, headers)
}

describe('the simulator answers as the provider documents it', () => {
  it.for(CHANNELS)(
    'for a %s payment that is created, shown, paid, booked and settled',
    async (channel, { running: simulator }) => {
      const created = await make(simulator, channel)
      const id = created.body.payment_request_id
      const openRequest = await show(simulator, id)

      await simulator.call('POST', `/v3/payment_requests/${id}/simulate`, {})

      const paidRequest = await show(simulator, id)
      const payment = await simulator.call(
        'GET',
        `/v3/payments/${paidRequest.body.latest_payment_id}`,
      )
      const bookedPage = await simulator.call('GET', '/transactions')
      simulator.clock.advance(7 * 86_400)
      const settledPage = await simulator.call('GET', '/transactions')
      expectAnswer('create', created)
      for (const request of [openRequest, paidRequest]) expectAnswer('getRequest', request)
      expectAnswer('getPayment', payment)
      for (const page of [bookedPage, settledPage]) expectAnswer('transactions', page)
      const [callback] = await simulator.callbacks(1)
      expect(violationsOf(CALLBACKS.captured, callback?.body)).toStrictEqual([])
      expect(violationsOf(CALLBACK_HEADERS, callback?.headers)).toStrictEqual([])
    },
  )

  it('for requests that end without money: cancelled, failed, expired', async ({
    running: simulator,
  }) => {
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await make(simulator, 'DANA')).body.payment_request_id),
    )

    const cancelled = await simulator.call('POST', `/v3/payment_requests/${ids[0]}/cancel`)
    await simulator.call('POST', `/_simulator/payment_requests/${ids[1]}/fail`, {})
    await simulator.callbacks(1)
    await simulator.call('POST', `/_simulator/payment_requests/${ids[2]}/expire`)

    expectAnswer('cancel', cancelled)
    for (const id of ids) expectAnswer('getRequest', await show(simulator, id))
    const [failed, expired] = await simulator.callbacks(2)
    expect(violationsOf(CALLBACKS.failed, failed?.body)).toStrictEqual([])
    expect(violationsOf(CALLBACKS.expired, expired?.body)).toStrictEqual([])
  })

  it('for a page of rows that no capture makes', async ({ running: simulator }) => {
    for (const type of ['REFUND', 'CHARGEBACK', 'CHARGEBACK_REVERSAL', 'WITHDRAWAL']) {
      await simulator.call('POST', '/_simulator/transactions', { type, status: 'REVERSED' })
    }

    const page = await simulator.call<{ readonly links: readonly unknown[] }>(
      'GET',
      '/transactions?limit=3',
    )

    expectAnswer('transactions', page)
    expect(page.body.links).toHaveLength(1)
  })
})

const { 'api-version': _, ...versionless } = API_HEADERS
const wrongKey = { ...API_HEADERS, authorization: 'Basic eHg6' }
async function cancelPush(simulator: Simulator) {
  const { body } = await make(simulator, 'OVO')
  return simulator.call('POST', `/v3/payment_requests/${body.payment_request_id}/cancel`)
}

// `simulator-api.test.ts` tests a fault's status and code; `simulator-requests.test.ts` tests a
// second end of a request.
it.for<readonly [string, number, string, (simulator: Simulator) => Promise<Answer>]>([
  ['no such request', 404, 'DATA_NOT_FOUND', (sim) => show(sim, PR)],
  [
    'another key',
    401,
    'INVALID_API_KEY',
    (sim) => sim.call('GET', '/transactions', undefined, wrongKey),
  ],
  ['no version', 400, 'API_VALIDATION_ERROR', (sim) => show(sim, PR, versionless)],
  ['a bank’s older name', 400, 'API_VALIDATION_ERROR', (sim) => make(sim, 'BCA')],
  [
    'an unknown cursor',
    400,
    'API_VALIDATION_ERROR',
    (sim) => sim.call('GET', '/transactions?after_id=txn_0'),
  ],
  ['a push that is cancelled', 400, 'INELIGIBLE_TRANSACTION_STATUS', cancelPush],
])(
  'the simulator refuses as the provider documents it: %s: %i %s',
  async ([, status, code, ask], { running }) => {
    const answer = await ask(running)

    expect(answer).toMatchObject({ status, body: { error_code: code } })
    expect(violationsOf(ErrorBody, answer.body)).toStrictEqual([])
    expectHeaders(answer.headers)
  },
)
