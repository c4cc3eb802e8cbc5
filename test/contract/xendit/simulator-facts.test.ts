import { describe, expect } from 'vitest'
import {
  API_HEADERS,
  aRequestBody,
  type aSimulator,
  simulatorIt as it,
} from '../../support/provider-simulator-harness.ts'
import {
  ANSWERS,
  CALLBACK_HEADERS,
  CALLBACKS,
  Dispute,
  ErrorBody,
  OBJECTS,
  RateLimitHeaders,
} from './answer-facts.ts'
import FACTS from './facts.json' with { type: 'json' }
import { CHANNELS, violationsOf } from './provider-facts.ts'

/*
 * Goal: adapter and simulator cannot agree on something that the provider does not do. Method: the
 * tests compare each answer and callback of the real simulator, field by field, with the facts of
 * the provider's documents (`facts.json`). The facts import nothing of the simulator.
 */

const PR = 'pr-73762759-0c9b-8178-b48f-0480d694b643'

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

  it('for a dispute that is raised, with a week to answer, and lost under the same id', async ({
    running: simulator,
  }) => {
    const { path, reference_id } = await simulator.create('QRIS')
    await simulator.call('POST', `${path}/simulate`, {})
    for (const [told, kind] of ['chargeback', 'dispute_lost'].entries()) {
      await simulator.callbacks(told + 1)
      await simulator.call('POST', `${path.replace('v3', '_simulator')}/reverse`, { kind })
    }

    const [, raised, lost] = (await simulator.callbacks(3)).map(({ body }) => body as object)
    const { id, created_at, due_date } = Object(raised)
    expect([raised, lost].flatMap((body) => violationsOf(Dispute, body))).toStrictEqual([])
    expect(raised).toMatchObject({ event: 'dispute.action_required', reference_id })
    expect(Date.parse(due_date) - Date.parse(created_at)).toBe(7 * 86_400_000)
    expect(lost).toMatchObject({ event: 'dispute.lost', id })
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

// `simulator-api.test.ts` tests permissions, limits, and a fault's status and code.
// `simulator-requests.test.ts` tests a second end of a request.
type Operation = keyof typeof FACTS.operations
type Refusal = readonly [
  case_: string,
  operation: Operation,
  status: number,
  code: string,
  ask: (simulator: Simulator) => Promise<Answer>,
]

it.for<Refusal>([
  ['no such request', 'getRequest', 404, 'DATA_NOT_FOUND', (sim) => show(sim, PR)],
  [
    'another id',
    'getPayment',
    400,
    'API_VALIDATION_ERROR',
    (sim) => sim.call('GET', '/v3/payments/x'),
  ],
  [
    'another key',
    'transactions',
    401,
    'INVALID_API_KEY',
    (sim) => sim.call('GET', '/transactions', undefined, wrongKey),
  ],
  ['no version', 'getRequest', 400, 'API_VALIDATION_ERROR', (sim) => show(sim, PR, versionless)],
  ['a bank’s older name', 'create', 400, 'API_VALIDATION_ERROR', (sim) => make(sim, 'BCA')],
  [
    'an unknown cursor',
    'transactions',
    400,
    'API_VALIDATION_ERROR',
    (sim) => sim.call('GET', '/transactions?after_id=txn_0'),
  ],
  ['a push that is cancelled', 'cancel', 400, 'INELIGIBLE_TRANSACTION_STATUS', cancelPush],
])(
  'the simulator refuses as the provider documents it: %s, %s: %i %s',
  async ([, operation, status, code, ask], { running }) => {
    const { errors } = FACTS.operations[operation]

    const answer = await ask(running)

    expect(Object.entries(errors)).toContainEqual([String(status), expect.arrayContaining([code])])
    expect(answer).toMatchObject({ status, body: { error_code: code } })
    expect(violationsOf(ErrorBody, answer.body)).toStrictEqual([])
    expectHeaders(answer.headers)
  },
)

it.each(Object.entries(OBJECTS))('the schema of a %s has the documented fields', (name, schema) => {
  const { required, optional } = FACTS.objects[name as keyof typeof OBJECTS]
  const fields = Object.keys(schema.entries)

  expect(fields).toStrictEqual(expect.arrayContaining(required))
  expect([...required, ...optional]).toStrictEqual(expect.arrayContaining(fields))
})
