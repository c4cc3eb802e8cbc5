/**
 * Goal: only the records that cannot be read return to their queue, and they change nothing. Method: batches of both
 * queues, with good records among arbitrary ones, to the real handlers.
 */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { handler as deliverWebhook } from '../../../functions/queue/deliver-webhook.ts'
import { handler as settleClient } from '../../../functions/queue/settle-client.ts'
import type { Deps } from '../../../shared/deps.ts'
import { hostileJson, hostileText, mostly, objectOf } from '../../support/hostile-values.ts'
import { type MemoryDeps, memoryDeps } from '../../support/memory-deps.ts'
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

/** A queue's handler; what makes a good message in a table; and what that one changes. */
const QUEUES = {
  webhooks: {
    handler: deliverWebhook,
    arrange: async (deps: MemoryDeps) => {
      const delivery = await storedDelivery(deps, await storedEndpoint(deps))
      const { deliveryId, clientId, endpointId } = delivery
      const about = { delivery_id: deliveryId, client_id: clientId, endpoint_id: endpointId }
      const expectDone = async () => {
        expect(deps.webhooks).toHaveLength(1)
        expect(await rowOf(deps, delivery)).toMatchObject({ status: 'succeeded', attempts: 1 })
      }
      return { good: { ...about, attempt: 1 }, expectDone }
    },
    // Its claim, and its result with the attempt.
    writes: 2,
  },
  settlements: {
    handler: settleClient,
    arrange: async (deps: MemoryDeps) => {
      const { clientId } = await aStoredClient(deps)
      return { good: { client_id: clientId }, expectDone: async () => {} }
    },
    writes: 0,
  },
}

it.each(Object.entries(QUEUES))(
  'the queue of %s with any messages in it fails those that cannot be read, alone, and works for the readable one only',
  async (_, { handler, arrange, writes }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyMessage, { maxLength: 5 }), fc.nat(5), async (bodies, place) => {
        const deps = memoryDeps()
        const { good, expectDone } = await arrange(deps)
        const written = deps.changes.length
        const body = JSON.stringify(good)
        const records = asRecords(bodies.toSpliced(place, 0, body))

        const answer = await handOver(handler, deps, records)

        const unread = records.filter((record) => record.body !== body)
        expect(answer).toStrictEqual({
          batchItemFailures: unread.map(({ messageId }) => ({ itemIdentifier: messageId })),
        })
        expect(deps.changes).toHaveLength(written + writes)
        await expectDone()
      }),
      RUNS,
    )
  },
)
