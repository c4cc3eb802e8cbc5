/**
 * Goal: a request that is refused leaves nothing behind: no item, no call of the provider, no message. Method: requests
 * near right ones and requests made of anything, with a key and without, to every HTTP function of the manifest.
 */
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { anApiClient, call, type HttpHandler } from '../../support/api-event.ts'
import { hostileJson, hostileText, mostly, objectOf } from '../../support/hostile-values.ts'
import { type MemoryDeps, memoryDeps } from '../../support/memory-deps.ts'
import { aPendingPayment } from '../../support/payment-builders.ts'

// Hundreds of runs each, on a machine that may be busy with other files.
vi.setConfig({ testTimeout: 120_000 })

const RUNS = { numRuns: 400 }

/** What clients call; the provider's callback has its own rules and its own file. */
const ENDPOINTS = MANIFEST.filter(
  ({ trigger }) => (trigger.kind === 'http' && trigger.path.startsWith('/v1/')) || trigger.kind === 'http-default',
)

const anyBody = fc.oneof(
  {
    weight: 5,
    arbitrary: objectOf({
      method: mostly('virtual_account', 'virtual_account', 'qris', 'ewallet'),
      channel_code: mostly('BCA', 'BCA', 'OVO', ''),
      amount: mostly(100_000, 1, 0, 10 ** 12 + 1),
      currency: mostly('IDR', 'IDR', 'USD'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc
      .dictionary(
        fc.constantFrom('external_reference', 'customer', 'description', 'metadata', 'expires_in_seconds', 'odd'),
        hostileJson,
        { maxKeys: 2 },
      )
      .map((fields) => ({ method: 'qris', amount: 5_000, currency: 'IDR', ...fields })),
  },
  { weight: 1, arbitrary: hostileJson },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((octets) => Buffer.from(octets)) },
)

const anyRequest = fc.record({
  known: fc.boolean(),
  id: fc.oneof(fc.constant('$payment'), hostileText),
  body: anyBody,
  query: fc.dictionary(fc.constantFrom('page', 'per_page', 'status', 'currency', '__proto__'), hostileText),
  headers: fc.dictionary(fc.constantFrom('idempotency-key', 'content-type', 'x-odd'), hostileText),
})

const tracesOf = ({ changes, provider, sent, published }: MemoryDeps) => ({
  written: changes.length,
  asked: provider.calls.length,
  sent: sent.length,
  published: published.length,
})

describe('every endpoint with any request', () => {
  it.each(ENDPOINTS)('$name answers below 500, and has done nothing when it refuses', async ({ entry, trigger }) => {
    const { handler } = (await import(join(import.meta.dirname, '../../..', entry))) as { handler: HttpHandler }
    const route = trigger.kind === 'http' ? `${trigger.method} ${trigger.path}` : '$default'
    const deps = memoryDeps()
    const caller = await anApiClient(deps)
    const own = await aPendingPayment(deps, caller)

    await fc.assert(
      fc.asyncProperty(anyRequest, async ({ known, id, ...request }) => {
        const before = tracesOf(deps)

        const answer = await call(
          deps,
          { route, handler },
          { ...request, id: id === '$payment' ? own.paymentId : id, ...(known && { caller }) },
        )

        expect(answer.status).toBeLessThan(500)
        if (answer.status >= 400) expect(tracesOf(deps)).toStrictEqual(before)
        if (answer.status >= 400) expect(answer.body).toMatchObject({ code: expect.any(String) })
        if (!known) expect([401, 404]).toContain(answer.status)
      }),
      RUNS,
    )
  })
})
