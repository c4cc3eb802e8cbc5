/**
 * Goal: a queue gets back the records that cannot be read, and no others; a scheduled function does its work, and nothing
 * else, for any payload. Method: arbitrary records beside a good one, and arbitrary payloads, to the real handlers.
 */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { handler as deliverWebhook } from '../../../functions/queue/deliver-webhook.ts'
import { handler as auditClients } from '../../../functions/schedule/audit-clients.ts'
import { handler as checkDueWork } from '../../../functions/schedule/check-due-work.ts'
import { handler as sweepSettlements } from '../../../functions/schedule/sweep-settlements.ts'
import { handler as syncProviderTransactions } from '../../../functions/schedule/sync-provider-transactions.ts'
import { hostileJson, hostileText, mostly, objectOf } from '../../support/hostile-values.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { runs } from '../../support/runs.ts'
import { interceptTable, memoryDeps, recordTable, testDeps } from '../../support/test-deps.ts'
import { rowOf, storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'

const RUNS = { numRuns: runs(60) }

const anyMessage = fc.oneof(
  hostileText,
  fc
    .oneof(hostileJson, objectOf({ delivery_id: mostly(crypto.randomUUID(), ''), attempt: hostileJson }))
    .map((value) => JSON.stringify(value)),
  fc.constantFrom('['.repeat(20_000), '{"delivery_id":', '{"__proto__":{"delivery_id":"x","attempt":1}}'),
)

it('a queue function fails only unreadable messages, and handles only the readable one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyMessage, { maxLength: 5 }), fc.nat(5), async (bodies, place) => {
      const deps = memoryDeps()
      const delivery = await storedDelivery(deps, await storedEndpoint(deps))
      const { deliveryId: delivery_id, clientId: client_id, endpointId: endpoint_id } = delivery
      const good = JSON.stringify({ delivery_id, client_id, endpoint_id, attempt: 1 })
      const written = deps.changes.length
      const records = bodies.toSpliced(place, 0, good).map((body, at) => ({ messageId: `message-${at}`, body }))

      const answer = await deliverWebhook.withDeps(deps)({ Records: records } as never, {} as never)

      const unread = records.filter(({ body }) => body !== good)
      expect(answer.batchItemFailures).toStrictEqual(unread.map(({ messageId }) => ({ itemIdentifier: messageId })))
      // Its claim, and its result with the attempt.
      expect([deps.changes.length - written, deps.webhooks.length]).toStrictEqual([2, 1])
      expect(await rowOf(deps, delivery)).toMatchObject({ status: 'succeeded', attempts: 1 })
    }),
    RUNS,
  )
})

/** What each answers where nothing is due, and the fields of the messages that it sends. */
const SCHEDULES = Object.entries({
  'check-due-work': { handler: checkDueWork, result: { alert: 0, delivery: 0, payment: 0, audit: 0 }, sent: [] },
  'audit-clients': { handler: auditClients, result: { clients: 1 }, sent: ['gateway', 'client_id'] },
  'sweep-settlements': { handler: sweepSettlements, result: { clients: 1 }, sent: ['client_id'] },
  'sync-provider-transactions': {
    handler: syncProviderTransactions,
    result: { transactions: 0, unanswered: 0, until: expect.any(String), complete: true },
    sent: [],
  },
})

describe.each(SCHEDULES)('the scheduled function %s', (functionName, { handler, result, sent }) => {
  it('answers its summary for any payload, and changes no payment', async () => {
    const deps = memoryDeps()
    await aPendingPayment(deps, await aStoredClient(deps))
    const written = deps.changes.length

    await fc.assert(
      fc.asyncProperty(fc.oneof(hostileJson, fc.constant(undefined)), async (payload) => {
        deps.sent.length = 0
        expect(await handler.withDeps(deps)(payload, {} as never)).toStrictEqual(result)
        expect(deps.sent.flatMap(({ message }) => Object.keys(message.body))).toStrictEqual(sent)
        expect(deps.changes.slice(written).every(({ key }) => ['SYNC', 'QUOTA'].includes(key.sk))).toBe(true)
      }),
      RUNS,
    )
  })

  it('does nothing in a closed stage', async () => {
    const { deps, calls } = recordTable(memoryDeps({ stage: { ...testDeps().stage, isClosed: true } }))

    await expect(handler.withDeps(deps)({}, {} as never)).rejects.toThrow('the stage is closed')
    expect(calls).toStrictEqual([])
  })

  it('logs a failed run, and throws an error without its cause, because Lambda logs the whole error', async () => {
    const quoting = { message: 'the item of budi@example.org', Item: { email: { S: 'budi@example.org' } } }
    const before = () => Promise.reject(new ConditionalCheckFailedException({ ...quoting, $metadata: {} }))
    const deps = interceptTable(memoryDeps(), { before })

    const run = handler.withDeps(deps)({}, { functionName } as never)
    const error: unknown = await run.catch((thrown) => thrown)

    expect(error).toStrictEqual(new Error('the run failed; see its log for the cause'))
    expect(error).not.toHaveProperty('cause')
    const fields = { function: functionName }
    expect(deps.lines).toContainEqual({ level: 'error', code: 'invocation.failed', fields })
  })
})
