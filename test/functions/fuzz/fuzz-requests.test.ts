/**
 * Goal: the answer to any request is one of the contract's, and never an internal error. A refused request has no
 * effect: no item, no call of the provider, no message. Method: almost valid and arbitrary requests, with a key and
 * without, to every HTTP function of the manifest.
 */
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { routeKeyOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { OPERATIONS } from '../../../infra/local/openapi/operations.ts'
import { anApiClient, aPaymentBody, call, type HttpHandler } from '../../support/api-event.ts'
import {
  filledIn,
  hostileJson,
  hostileText,
  mostly,
  objectOf,
  weighted,
} from '../../support/hostile-values.ts'
import { aPendingPayment } from '../../support/payment-builders.ts'
import { runs } from '../../support/runs.ts'
import { storedSettlement } from '../../support/settlement-builders.ts'
import { type MemoryDeps, memoryDeps } from '../../support/test-deps.ts'
import { ABANDONED, storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'

const ENDPOINTS = MANIFEST.flatMap((spec) => {
  const route = routeKeyOf(spec)
  return route === undefined || route.includes('/callbacks/') ? [] : [{ ...spec, route }]
})

const HOSTILE_NAMES = ['__proto__', 'constructor', 'toString', 'length', '']
const OPTIONAL = [
  'external_reference',
  'customer',
  'description',
  'metadata',
  'expires_in_seconds',
  'odd',
]

const anyText = fc.oneof(hostileText, fc.string({ unit: 'grapheme' }), fc.lorem())

const required = objectOf({
  method: mostly('virtual_account', 'virtual_account', 'qris', 'ewallet'),
  channel_code: mostly('BCA', 'BCA', 'OVO', 'DANA', 'BNI', ''),
  amount: mostly(100_000, 1, 0, 10 ** 12, 10 ** 12 + 1),
  currency: mostly('IDR', 'IDR', 'USD'),
})
const optional = fc
  .dictionary(
    fc.constantFrom(...OPTIONAL, ...HOSTILE_NAMES),
    fc.oneof(hostileJson, fc.constant({})),
    { maxKeys: 2 },
  )
  .map((fields) => aPaymentBody({ method: 'qris', channel_code: undefined, ...fields }))
const anyBody = weighted<unknown>(
  [5, required],
  [5, optional],
  [1, hostileJson],
  [1, fc.json({ maxDepth: 6 })],
  [1, fc.uint8Array({ maxLength: 200 }).map((octets) => Buffer.from(octets))],
)

const anyValue = fc.oneof(
  fc.constantFrom('1', '-1', '1e3', '1.0', ' 1', 'pending', 'abandoned', 'IDR'),
  fc.integer().map(String),
  anyText,
)

/** Mostly of the parameters that the endpoint knows: any other is refused before the rest is looked at. */
function queryOf(handler: HttpHandler) {
  const known = Object.keys(Object(Object(handler).query?.entries))
  const others = fc.dictionary(fc.oneof(fc.constantFrom(...HOSTILE_NAMES), anyText), anyValue)
  const own =
    known.length === 0 ? fc.constant({}) : fc.dictionary(fc.constantFrom(...known), anyValue)
  return weighted<Readonly<Record<string, string>>>([4, own], [1, others])
}

function anyRequestTo(handler: HttpHandler) {
  return fc.record({
    id: fc.oneof(fc.constantFrom('$payment', '$delivery', '$settlement'), anyText),
    body: anyBody,
    query: queryOf(handler),
    headers: fc.dictionary(
      fc.oneof(
        fc.constantFrom('idempotency-key', 'content-type', 'content-encoding', '__proto__'),
        anyText,
      ),
      anyText,
    ),
  })
}

/** Of who has a key, of who sends none, or of anything that is no key. */
const anyAuthorization = weighted<string | undefined>(
  [6, fc.constant('$own')],
  [1, fc.constant(undefined)],
  [1, anyText],
  [1, anyText.map((text) => `Bearer ${text}`)],
)

function tracesOf({ changes, provider, sent, published }: MemoryDeps) {
  return {
    written: changes.length,
    asked: provider.calls.length,
    sent: sent.length,
    published: published.length,
  }
}

it.each(ENDPOINTS)(
  '$route answers by the contract, and a refusal has no effect',
  async ({ name, entry, route }) => {
    // What the description of the API says. A key drawn twice replays its payment.
    const { success, errors } = OPERATIONS[name] ?? { success: {}, errors: [404] as const }
    const allowed = [
      ...Object.keys(success).map(Number),
      ...errors.filter((status) => status < 500),
    ]
    const { handler } = (await import(join(import.meta.dirname, '../../..', entry))) as {
      handler: HttpHandler
    }
    const deps = memoryDeps()
    const own = await anApiClient(deps)
    const { paymentId } = await aPendingPayment(deps, own)
    const { deliveryId } = await storedDelivery(deps, await storedEndpoint(deps, own), ABANDONED)
    const { settlementId } = await storedSettlement(deps, own)
    const ids = { $payment: paymentId, $settlement: settlementId, $delivery: deliveryId }

    await fc.assert(
      fc.asyncProperty(
        anyRequestTo(handler),
        anyAuthorization,
        async ({ id, headers, ...request }, authorization) => {
          const [before, made] = [tracesOf(deps), deps.provider.requests.size]
          const { authorization: _, ...others } = headers
          const caller =
            authorization === '$own' ? own : authorization !== undefined && { authorization }

          const sent = {
            ...request,
            headers: others,
            id: String(filledIn(id, ids)),
            ...(caller && { caller }),
          }
          const { status, body, ...answer } = await call(deps, { route, handler }, sent)

          expect(answer.headers['content-type']).toBe('application/json')
          if (caller === own) expect(allowed).toContain(status)
          else if (route === '$default') expect(status).toBe(404)
          else
            expect([status, body]).toStrictEqual([
              401,
              { message: 'invalid credentials', code: 'auth' },
            ])
          if (status >= 400) expect(tracesOf(deps)).toStrictEqual(before)
          if (status >= 400) expect(body).toMatchObject({ code: expect.any(String) })
          expect(deps.provider.requests.size - made).toBe(status === 201 ? 1 : 0)
          expect(deps.provider.countOf('createRequest')).toBe(deps.provider.requests.size)
        },
      ),
      { numRuns: runs(150) },
    )
  },
)
