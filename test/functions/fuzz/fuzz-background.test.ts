/**
 * Goal: a call from outside a merchant's request has only its own effect. A callback names the
 * payment to ask about, and the provider's answer decides. A queue gets back the records that
 * cannot be read, and no others. A scheduled function ignores its payload.
 */

import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { handler as deliverWebhook } from '../../../functions/queue/deliver-webhook.ts'
import { handler as auditClients } from '../../../functions/schedule/audit-clients.ts'
import { handler as checkDueWork } from '../../../functions/schedule/check-due-work.ts'
import { handler as compareBalance } from '../../../functions/schedule/compare-balance.ts'
import { handler as sweepSettlements } from '../../../functions/schedule/sweep-settlements.ts'
import { handler as syncProviderTransactions } from '../../../functions/schedule/sync-provider-transactions.ts'
import { referenceOf } from '../../../shared/ids.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { CALLBACK, CALLBACK_TOKEN, call, knowCallbackToken } from '../../support/api-event.ts'
import {
  fillIn,
  hostileJson,
  hostileText,
  mostlyOf,
  objectOf,
  weighted,
} from '../../support/hostile-values.ts'
import { handOver } from '../../support/operator-actions.ts'
import { aPendingPayment, aStoredClient, ledgerView } from '../../support/payment-builders.ts'
import { runs } from '../../support/runs.ts'
import { interceptTable, memoryDeps, recordTable, testDeps } from '../../support/test-deps.ts'
import { rowOf, storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'

const RUNS = { numRuns: runs(20) }

/** Names that are replaced by the ids of the test's unpaid payment and paid payment. */
const IDS = ['$unpaid request', '$unpaid reference', '$paid request', '$paid reference', '$capture']
const anId = mostlyOf(...IDS, 'py-unknown', 'pr-unknown', '')

const anyData = objectOf({
  id: anId,
  payment_id: anId,
  payment_request_id: anId,
  reference_id: anId,
  status: mostlyOf('SUCCEEDED', 'FAILED', 'EXPIRED'),
  captures: hostileJson,
})
const anEvent = objectOf({
  event: mostlyOf(
    'payment.capture',
    'payment.failure',
    'payment_request.expiry',
    'payout.succeeded',
  ),
  business_id: hostileText,
  data: weighted([6, anyData], [1, hostileJson]),
})
const anyCallback = weighted([6, anEvent], [1, hostileJson])

const anyBytes = fc
  .oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.constantFrom('['.repeat(60_000), '{"event":'.repeat(5_000), '\uFEFF{}', 'x'.repeat(300_000)),
  )
  .map((bytes) => Buffer.from(bytes as Uint8Array))

async function arrange() {
  const deps = memoryDeps()
  knowCallbackToken(deps)

  const client = await aStoredClient(deps)
  const [unpaid, paid] = [await aPendingPayment(deps, client), await aPendingPayment(deps, client)]
  const capture = deps.provider.pay(paid.paymentRequestId)
  const names = {
    '$unpaid request': unpaid.paymentRequestId,
    '$unpaid reference': referenceOf(unpaid.paymentId, 1),
    '$paid request': paid.paymentRequestId,
    '$paid reference': referenceOf(paid.paymentId, 1),
    $capture: capture,
  }
  const send = (body: unknown, headers: Readonly<Record<string, string>>) =>
    call(deps, CALLBACK, { body: Buffer.isBuffer(body) ? body : fillIn(body, names), headers })
  return { deps, client, unpaid, paid, capture, send }
}

it('any callback without a valid token answers 401, makes no call and writes nothing', async () => {
  const { deps, send } = await arrange()
  const [changesBefore, callsBefore] = [deps.changes.length, deps.provider.calls.length]

  await fc.assert(
    fc.asyncProperty(
      fc.oneof(anyCallback, anyBytes),
      fc.oneof(
        hostileText,
        fc.constantFrom(
          undefined,
          `${CALLBACK_TOKEN} `,
          CALLBACK_TOKEN.slice(1),
          CALLBACK_TOKEN.toUpperCase(),
        ),
      ),
      fc.dictionary(hostileText, hostileText, { maxKeys: 3 }),
      async (body, token, otherHeaders) => {
        const answer = await send(body, {
          ...otherHeaders,
          ...(token !== undefined && { 'x-callback-token': token }),
        })

        expect([answer.status, answer.body]).toStrictEqual([
          401,
          { message: 'invalid callback token', code: 'auth' },
        ])
        expect([deps.changes.length, deps.provider.calls.length]).toStrictEqual([
          changesBefore,
          callsBefore,
        ])
      },
    ),
    RUNS,
  )
})

it.each([3_000, 100_000])('a callback that is nested in %i levels is applied', async (levels) => {
  const { capture, send } = await arrange()
  const inner = '['.repeat(levels) + ']'.repeat(levels)
  const body = `{"event":"payment.capture","data":{"payment_id":"${capture}","x":${inner}}}`

  const answer = await send(Buffer.from(body), { 'x-callback-token': CALLBACK_TOKEN })

  expect([answer.status, answer.body]).toStrictEqual([200, { outcome: 'applied' }])
})

it('a callback with a valid token has only the effect of the provider’s answers; invalid bytes have no effect', async () => {
  const anySent = fc.oneof(
    { weight: 6, arbitrary: anyCallback },
    { weight: 1, arbitrary: anyBytes },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(anySent, { minLength: 1, maxLength: 4 }), async (callbacks) => {
      const { deps, client, unpaid, paid, capture, send } = await arrange()

      for (const body of callbacks) {
        const changesBefore = deps.changes.length
        const { status } = await send(body, { 'x-callback-token': CALLBACK_TOKEN })
        expect([
          status,
          Buffer.isBuffer(body) && deps.changes.length > changesBefore,
        ]).toStrictEqual([200, false])
      }

      expect(await findStoredPayment(deps, unpaid.paymentId)).toEqual({
        ...unpaid,
        dueAt: expect.any(String),
      })
      const [paidNow, ledger] = [
        await findStoredPayment(deps, paid.paymentId),
        await ledgerView(deps, client),
      ]
      if (paidNow?.status === 'succeeded') {
        expect(paidNow.capture?.providerPaymentId).toBe(capture)
        expect(ledger).toStrictEqual({ pendingMinor: 95_900, pending: 1, succeeded: 1 })
      } else {
        expect(paidNow).toEqual({ ...paid, dueAt: expect.any(String) })
        expect(ledger).toStrictEqual({ pendingMinor: 0, pending: 2 })
      }
      expect(deps.stored.items('SUSPENSE#')).toStrictEqual([])
    }),
    RUNS,
  )
})

it('a queue function fails only unreadable messages, and handles only the readable message', async () => {
  const nearlyRight = objectOf({
    delivery_id: mostlyOf(crypto.randomUUID(), ''),
    attempt: hostileJson,
  })
  const json = fc.oneof(hostileJson, nearlyRight).map((value) => JSON.stringify(value))
  const cut = fc.constantFrom(
    '['.repeat(20_000),
    '{"delivery_id":',
    '{"__proto__":{"delivery_id":"x","attempt":1}}',
  )
  const anyMessage = fc.oneof(hostileText, json, cut)
  await fc.assert(
    fc.asyncProperty(fc.array(anyMessage, { maxLength: 5 }), fc.nat(5), async (bodies, place) => {
      const deps = memoryDeps()
      const delivery = await storedDelivery(deps, await storedEndpoint(deps))
      const { deliveryId: delivery_id, clientId: client_id, endpointId: endpoint_id } = delivery
      const good = JSON.stringify({ delivery_id, client_id, endpoint_id, attempt: 1 })
      const changesBefore = deps.changes.length
      const sent = bodies.toSpliced(place, 0, good)

      const answer = await handOver(deliverWebhook, deps, sent)

      expect(answer.batchItemFailures).toStrictEqual(
        sent.flatMap((body, at) => (body === good ? [] : { itemIdentifier: `message-${at}` })),
      )
      expect([deps.changes.length - changesBefore, deps.webhooks.length]).toStrictEqual([2, 1])
      expect(await rowOf(deps, delivery)).toMatchObject({ status: 'succeeded', attempts: 1 })
    }),
    RUNS,
  )
})

const SCHEDULES = {
  'check-due-work': {
    handler: checkDueWork,
    result: { alert: 0, delivery: 0, payment: 0 },
    sent: [],
  },
  'audit-clients': {
    handler: auditClients,
    result: { clients: 1 },
    sent: ['gateway', 'client_id'],
  },
  'compare-balance': { handler: compareBalance, result: expect.any(Object), sent: [] },
  'sweep-settlements': { handler: sweepSettlements, result: { clients: 1 }, sent: ['client_id'] },
  'sync-provider-transactions': {
    handler: syncProviderTransactions,
    result: { transactions: 0, unanswered: 0, until: expect.any(String), complete: true },
    sent: [],
  },
}

it('every scheduled function of the manifest is called here', () => {
  const scheduled = MANIFEST.filter(({ trigger }) => trigger.kind === 'schedule')

  expect(Object.keys(SCHEDULES).toSorted()).toStrictEqual(
    scheduled.map(({ name }) => name).toSorted(),
  )
})

describe.each(Object.entries(SCHEDULES))(
  'the scheduled function %s',
  (functionName, { handler, result, sent }) => {
    it('answers its summary for any payload, and changes no payment', async () => {
      const deps = memoryDeps()
      await aPendingPayment(deps, await aStoredClient(deps))
      const changesBefore = deps.changes.length

      await fc.assert(
        fc.asyncProperty(fc.oneof(hostileJson, fc.constant(undefined)), async (payload) => {
          deps.sent.length = 0
          expect(await handler.withDeps(deps)(payload, {} as never)).toStrictEqual(result)
          expect(deps.sent.flatMap(({ message }) => Object.keys(message.body))).toStrictEqual(sent)
          expect(
            deps.changes
              .slice(changesBefore)
              .every(({ key }) => ['SYNC', 'QUOTA'].includes(key.sk)),
          ).toBe(true)
        }),
        RUNS,
      )
    })

    it('does nothing in a closed stage', async () => {
      const { deps, calls } = recordTable(
        memoryDeps({ stage: { ...testDeps().stage, isClosed: true } }),
      )

      await expect(handler.withDeps(deps)({}, {} as never)).rejects.toThrow('the stage is closed')
      expect(calls).toStrictEqual([])
    })

    it('logs a failed run, and throws an error without its cause, because Lambda logs the whole error', async () => {
      const quoting = {
        message: 'the item of budi@example.org',
        Item: { email: { S: 'budi@example.org' } },
      }
      const before = () =>
        Promise.reject(new ConditionalCheckFailedException({ ...quoting, $metadata: {} }))
      const deps = interceptTable(memoryDeps(), { before })

      const run = handler.withDeps(deps)({}, { functionName } as never)
      const error: unknown = await run.catch((thrown) => thrown)

      expect(error).toStrictEqual(new Error('the run failed; see its log for the cause'))
      expect(error).not.toHaveProperty('cause')
      const fields = { function: functionName }
      expect(deps.lines).toContainEqual({ level: 'error', code: 'invocation.failed', fields })
    })
  },
)
