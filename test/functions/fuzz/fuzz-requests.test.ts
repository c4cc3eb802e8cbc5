/**
 * Goal: the answer to any request is one of the contract's, and never an internal error. A refused
 * request has no effect: no item, no call of the provider, no message.
 */
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { routeKeyOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { OPERATIONS } from '../../../infra/local/openapi/operations.ts'
import { NO_FIGURES } from '../../../shared/journal/entry.ts'
import { anApiClient, aPaymentBody, call, type HttpHandler } from '../../support/api-event.ts'
import {
  fillIn,
  hostileJson,
  hostileText,
  mostlyOf,
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
  method: mostlyOf('virtual_account', 'virtual_account', 'qris', 'ewallet'),
  channel_code: mostlyOf('BCA', 'BCA', 'OVO', 'DANA', 'BNI', ''),
  amount: mostlyOf(100_000, 1, 0, 10 ** 12, 10 ** 12 + 1),
  currency: mostlyOf('IDR', 'IDR', 'USD'),
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

/** Mostly known parameters, because an unknown parameter is refused before any other check. */
function queryOf(handler: HttpHandler) {
  const names = Object.keys(Object(Object(handler).query?.entries))
  const anyQuery = fc.dictionary(fc.oneof(fc.constantFrom(...HOSTILE_NAMES), anyText), anyValue)
  const knownQuery =
    names.length === 0 ? fc.constant({}) : fc.dictionary(fc.constantFrom(...names), anyValue)
  return weighted<Readonly<Record<string, string>>>([4, knownQuery], [1, anyQuery])
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

const anyAuthorization = weighted<string | undefined>(
  [6, fc.constant('$client')],
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
    // A key drawn twice replays its payment.
    const { success, errors } = OPERATIONS[name] ?? { success: {}, errors: [404] }
    const allowed = [
      ...Object.keys(success).map(Number),
      ...errors.filter((status) => status < 500),
    ]
    const { handler } = (await import(join(import.meta.dirname, '../../..', entry))) as {
      handler: HttpHandler
    }
    const deps = memoryDeps()
    const client = await anApiClient(deps)
    const { paymentId } = await aPendingPayment(deps, client)
    const { deliveryId } = await storedDelivery(deps, await storedEndpoint(deps, client), ABANDONED)
    // It has no entries, so its sums are zeros: a statement compares them.
    const { settlementId } = await storedSettlement(deps, { ...client, ...NO_FIGURES })
    const ids = { $payment: paymentId, $settlement: settlementId, $delivery: deliveryId }

    await fc.assert(
      fc.asyncProperty(
        anyRequestTo(handler),
        anyAuthorization,
        async ({ id, headers, ...request }, authorization) => {
          const [before, requestsBefore] = [tracesOf(deps), deps.provider.requests.size]
          const { authorization: _, ...otherHeaders } = headers
          const caller =
            authorization === '$client' ? client : authorization !== undefined && { authorization }

          const sent = {
            ...request,
            headers: otherHeaders,
            id: String(fillIn(id, ids)),
            ...(caller && { caller }),
          }
          const { status, body, ...answer } = await call(deps, { route, handler }, sent)

          expect(answer.headers['content-type']).toBe('application/json')
          if (caller === client) expect(allowed).toContain(status)
          else if (route === '$default') expect(status).toBe(404)
          else
            expect([status, body]).toStrictEqual([
              401,
              { message: 'invalid credentials', code: 'auth' },
            ])
          if (status >= 400) expect(tracesOf(deps)).toStrictEqual(before)
          if (status >= 400) expect(body).toMatchObject({ code: expect.any(String) })
          expect(deps.provider.requests.size - requestsBefore).toBe(status === 201 ? 1 : 0)
          expect(deps.provider.countOf('createRequest')).toBe(deps.provider.requests.size)
        },
      ),
      { numRuns: runs(50) },
    )
  },
)
