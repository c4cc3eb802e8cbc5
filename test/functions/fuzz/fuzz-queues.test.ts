/**
 * Goal: only the records that cannot be read return to their queue, and they change nothing. Method: batches of both
 * queues, with good records among arbitrary ones, to the real handlers.
 */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { handler as deliverWebhook } from '../../../functions/queue/deliver-webhook.ts'
import { handler as settleClient } from '../../../functions/queue/settle-client.ts'
import type { Deps } from '../../../shared/deps.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { hostileJson, hostileText, mostly, objectOf } from '../../support/hostile-values.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { runs } from '../../support/runs.ts'
import { rowOf, storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'

const RUNS = { numRuns: runs(80) }

type Batches = (event: never, context: never) => Promise<unknown>

/** Hands a batch over as Lambda does; what is in it need not be what the types say. */
const handOver = (handler: { readonly withDeps: (deps: Deps) => Batches }, deps: Deps, records: readonly unknown[]) =>
  handler.withDeps(deps)({ Records: records } as never, {} as never)

const anyMessage = fc.oneof(
  hostileText,
  hostileJson.map((value) => JSON.stringify(value)),
  objectOf({ delivery_id: mostly('$id', '', crypto.randomUUID().toUpperCase()), attempt: hostileJson }).map((value) =>
    JSON.stringify(value),
  ),
  objectOf({ client_id: mostly('$id', '') }).map((value) => JSON.stringify(value)),
  fc.constantFrom('['.repeat(20_000), '', '{"delivery_id":', 'null', '{"__proto__":{"delivery_id":"x","attempt":1}}'),
)

const asRecords = (bodies: readonly string[]) => bodies.map((body, at) => ({ messageId: `message-${at}`, body }))
const failures = (ids: readonly string[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
})

const messageAbout = ({ deliveryId, clientId, endpointId }: Delivery, attempt: unknown) => ({
  delivery_id: deliveryId,
  attempt,
  client_id: clientId,
  endpoint_id: endpointId,
})

describe('the webhooks queue with any messages in it', () => {
  it('fails those that cannot be read, alone, and writes and posts for the readable one only', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyMessage, { maxLength: 5 }), fc.nat(5), async (bodies, place) => {
        const deps = memoryDeps()
        const delivery = await storedDelivery(deps, await storedEndpoint(deps))
        const written = deps.changes.length
        const good = JSON.stringify(messageAbout(delivery, 1))
        const records = asRecords(bodies.toSpliced(place, 0, good))

        const answer = await handOver(deliverWebhook, deps, records)

        expect(answer).toStrictEqual(
          failures(records.filter(({ body }) => body !== good).map(({ messageId }) => messageId)),
        )
        expect(deps.webhooks).toHaveLength(1)
        expect(await rowOf(deps, delivery)).toMatchObject({ status: 'succeeded', attempts: 1 })
        // Its claim, and its result with the attempt.
        expect(deps.changes).toHaveLength(written + 2)
      }),
      RUNS,
    )
  })

  it('posts at most once, for any attempt number in the message', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(hostileJson, { minLength: 1, maxLength: 4 }), async (attempts) => {
        const deps = memoryDeps()
        const delivery = await storedDelivery(deps, await storedEndpoint(deps))
        const bodies = attempts.map((attempt) => JSON.stringify(messageAbout(delivery, attempt)))

        await handOver(deliverWebhook, deps, asRecords(bodies))

        expect(deps.webhooks.length).toBeLessThanOrEqual(1)
        const row = await rowOf(deps, delivery)
        expect(row.attempts).toBe(deps.webhooks.length)
        expect(row.claimToken).toBeUndefined()
      }),
      RUNS,
    )
  })
})

describe('the settlements queue with any messages in it', () => {
  it('fails every one that names no client, and writes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyMessage, { maxLength: 4 }), async (bodies) => {
        const deps = memoryDeps()
        const client = await aStoredClient(deps)
        const written = deps.changes.length
        const records = asRecords([...bodies, JSON.stringify({ client_id: client.clientId })])

        const answer = await handOver(settleClient, deps, records)

        expect(answer).toStrictEqual(failures(records.slice(0, -1).map(({ messageId }) => messageId)))
        expect(deps.changes).toHaveLength(written)
      }),
      RUNS,
    )
  })
})
