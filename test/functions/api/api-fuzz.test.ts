import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { API, type ApiRequest, anApiClient, aPaymentBody, call, type Endpoint } from '../../support/api-event.ts'
import { testDeps } from '../../support/test-deps.ts'

/*
 * Goal: whatever a caller sends, the answer is one of the contract's, and never a failure of ours.
 * Method: requests near valid ones and requests made of anything, to every endpoint's real handler; a failing input
 * is printed, shrunk, with the seed that repeats it.
 */

const RUNS = { numRuns: 300 }

const FIELDS = [
  'method',
  'channel_code',
  'amount',
  'currency',
  'external_reference',
  'customer',
  'description',
  'metadata',
  'expires_in_seconds',
]
const HOSTILE_NAMES = ['__proto__', 'constructor', 'toString', 'length', '']

const likelyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom('qris', 'ewallet', 'OVO', 'DANA', 'BNI', 'IDR', {}, { phone: '+6281234567890' }, 0, 1, 10 ** 12),
  fc.integer(),
)

const changed = (changes: Readonly<Record<string, unknown>>) => JSON.stringify({ ...aPaymentBody(), ...changes })

const anyBody = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((octets) => Buffer.from(octets)),
  fc.json({ maxDepth: 6 }),
  fc.string({ unit: 'binary', maxLength: 200 }).map((text) => text.toWellFormed()),
  fc.dictionary(fc.constantFrom(...FIELDS, ...HOSTILE_NAMES), likelyValue).map(changed),
  fc.record(Object.fromEntries(FIELDS.map((field) => [field, likelyValue])), { requiredKeys: [] }).map(changed),
)

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.lorem())

const anyQuery = fc.dictionary(
  fc.oneof(fc.constantFrom('page', 'per_page', 'status', 'currency', ...HOSTILE_NAMES), anyText),
  fc.oneof(
    fc.constantFrom('1', '-1', '1e3', '1.0', ' 1', '9'.repeat(400), 'pending', 'IDR', ''),
    fc.integer().map(String),
    anyText,
  ),
)

const anyHeaders = fc.dictionary(
  fc.oneof(fc.constantFrom('idempotency-key', 'content-type', 'content-encoding', '__proto__'), anyText),
  anyText,
)

describe('POST /v1/payments with any body', () => {
  it('answers 201 with a payment, or 422 and writes nothing', async () => {
    const deps = testDeps()
    const caller = await anApiClient(deps)
    let run = 0

    await fc.assert(
      fc.asyncProperty(anyBody, async (body) => {
        const key = `run-${run++}`

        const { status } = await call(deps, API.createPayment, { caller, body, headers: { 'idempotency-key': key } })

        const stored = await findStoredPayment(deps, paymentIdForKey(caller.clientId, key))
        expect(status).toBe(stored === undefined ? 422 : 201)
        expect(deps.provider.countOf('createRequest')).toBe(deps.provider.requests.size)
      }),
      RUNS,
    )
  })
})

const ALLOWED: readonly (readonly [keyof typeof API, statuses: readonly number[]])[] = [
  // A key drawn twice replays its payment.
  ['createPayment', [200, 201, 422]],
  ['listPayments', [200, 422]],
  ['getPayment', [404]],
  ['cancelPayment', [404]],
  ['getBalance', [200, 422]],
  ['listSettlements', [200, 422]],
  ['getSettlement', [404]],
]

const requestTo = (endpoint: Endpoint, id: string): ApiRequest => ({
  ...(endpoint.route.includes('{id}') && { id }),
  ...(endpoint === API.createPayment && { body: aPaymentBody() }),
})

describe('every endpoint with any headers, query string and id', () => {
  it.each(ALLOWED)('%s answers one of %j', async (name, statuses) => {
    const deps = testDeps()
    const caller = await anApiClient(deps)

    await fc.assert(
      fc.asyncProperty(anyHeaders, anyQuery, anyText, async (headers, query, id) => {
        const { authorization: _, ...rest } = headers

        const answer = await call(deps, API[name], { ...requestTo(API[name], id), caller, query, headers: rest })

        expect(statuses).toContain(answer.status)
        expect(answer.headers['content-type']).toBe('application/json')
      }),
      RUNS,
    )
  })

  it.each(ALLOWED)('%s answers 401 to any Authorization header that is no key', async (name) => {
    const deps = testDeps()

    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          anyText,
          anyText.map((text) => `Bearer ${text}`),
        ),
        anyQuery,
        async (authorization, query) => {
          const answer = await call(deps, API[name], { ...requestTo(API[name], ''), caller: { authorization }, query })

          expect([answer.status, answer.body]).toStrictEqual([401, { message: 'invalid credentials', code: 'auth' }])
        },
      ),
      RUNS,
    )
  })
})
