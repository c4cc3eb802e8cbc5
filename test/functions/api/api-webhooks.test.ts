import { describe, expect } from 'vitest'
import { addMs } from '../../../shared/time.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { sendTestEvent } from '../../../shared/webhook/delivery/send-test-event.ts'
import { markDeleted } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { anApi } from '../../support/api-event.ts'
import { auditRecordsOf } from '../../support/operator-actions.ts'
import { memoryDeps, testDeps } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import {
  ABANDONED,
  attemptedDelivery,
  deliver,
  FAILED,
  SKIPPED,
  storedDelivery,
  storedEndpoint,
  storedEvent,
} from '../../support/webhook-builders.ts'

async function aMerchant(deps = testDeps()) {
  const api = await anApi({}, deps)
  return { ...api, endpoint: await storedEndpoint(deps, { clientId: api.caller.clientId }) }
}
const it = testWith(() => aMerchant(), 'deps', 'ask', 'endpoint')

type Shown = { readonly attempts: readonly { readonly number: number }[] }
function rowsIn({ body }: { readonly body: Readonly<Record<string, unknown>> }) {
  return body['data'] as readonly Shown[]
}

it('GET /v1/webhook_endpoints (design section 8) shows all endpoints, newest first, but no secrets and no deleted endpoint', async () => {
  const { deps, caller, ask, endpoint } = await aMerchant()
  deps.clock.advance(1)
  const { clientId } = caller
  const disabled = await storedEndpoint(deps, {
    clientId,
    enabled: false,
    eventTypes: ['payment.succeeded'],
  })
  await deps.table.transact(markDeleted(await storedEndpoint(deps, { clientId }), deps.now()))
  await storedEndpoint(deps)

  const answer = await ask('listWebhookEndpoints')

  const shown = [disabled, endpoint].map(
    ({ endpointId: id, url, eventTypes: event_types, enabled, createdAt: created_at }) => ({
      id,
      url,
      event_types,
      enabled,
      created_at,
      last_answered_at: null,
      waiting: 0,
    }),
  )
  expect([answer.status, answer.body]).toStrictEqual([200, { data: shown }])
  expect(answer.text).not.toMatch(/secret|whsec/)
})

describe('GET /v1/webhook_deliveries/{id} (design section 8)', () => {
  it('shows a delivery with each attempt and its answer', async ({ deps, ask, endpoint }) => {
    const event = await storedEvent(deps, {
      clientId: endpoint.clientId,
      name: 'payment.held#id#open',
    })
    const delivery = await storedDelivery(deps, endpoint, {}, event)
    const body = '\u0000<b>"ouch"</b>\uFFFD'.padEnd(1_024, '\u0001')
    deps.answerWebhooks(async () => ({ ...FAILED, responseBody: body }))
    await deliver(deps, delivery)

    const answer = await ask('getWebhookDelivery', { id: delivery.deliveryId })

    expect(deps.webhooks).toMatchObject([{ headers: { 'X-Gateway-Event': 'payment.held' } }])
    expect(answer.body).toStrictEqual({
      id: delivery.deliveryId,
      event_id: event.eventId,
      event: 'payment.held',
      payment_id: event.subject.id,
      endpoint_id: endpoint.endpointId,
      url: endpoint.url,
      status: 'scheduled',
      next_attempt_at: addMs(deps.now(), 60_000),
      created_at: delivery.createdAt,
      attempts: [
        {
          number: 1,
          at: deps.now(),
          duration_ms: 9,
          http_status: 500,
          error: 'http_status',
          response_body: body,
        },
      ],
    })
  })

  it('shows a test event without a payment, and never sends it again', async ({
    deps,
    ask,
    endpoint,
  }) => {
    const delivery = await sendTestEvent(deps, { ...endpoint, operator: 'sari' })
    await deliver(deps, delivery)

    const { body } = await ask('getWebhookDelivery', { id: delivery.deliveryId })

    expect(body).toMatchObject({
      event: 'gateway.test',
      status: 'succeeded',
      next_attempt_at: null,
      attempts: [{ number: 1, error: null }],
    })
    expect(body).not.toHaveProperty('payment_id')
    expect(rowsIn(await ask('listWebhookDeliveries'))).toStrictEqual([body])
    const again = await ask('redeliverWebhook', { id: delivery.deliveryId })
    expect(again.status).toBe(422)
    expect(again.body).toMatchObject({ message: 'a test event is not sent again' })
  })

  it('shows the newest hundred attempts', async ({ deps, ask, endpoint }) => {
    const id = await attemptedDelivery(deps, endpoint, 101)
    const { body } = await ask('getWebhookDelivery', { id })
    const listed = await ask('listWebhookDeliveries')

    const newest = Array.from({ length: 100 }, (_, at) => at + 2)
    expect((body as Shown).attempts.map(({ number }) => number)).toStrictEqual(newest)
    expect(rowsIn(listed)).toStrictEqual([body])
  })
})

describe('GET /v1/webhook_deliveries (design section 8)', () => {
  it('lists the requested deliveries, each as get-webhook-delivery shows it', async ({
    deps,
    ask,
    endpoint,
  }) => {
    const [endpoint_id, newestFirst] = [endpoint.endpointId, [] as Delivery[]]
    for (let made = 0; made < 3; made++) {
      deps.clock.advance(1)
      newestFirst.unshift(await storedDelivery(deps, endpoint, made === 0 ? SKIPPED : {}))
    }

    const query = { endpoint_id, status: 'scheduled', per_page: '1', page: '2' }
    const answer = await ask('listWebhookDeliveries', { query })
    const ofEvent = await ask('listWebhookDeliveries', {
      query: { event_id: newestFirst[1]?.eventId ?? '' },
    })

    const fetched = await ask('getWebhookDelivery', { id: newestFirst[1]?.deliveryId ?? '' })
    expect(answer.body).toStrictEqual({
      data: [fetched.body],
      pagination: { page: 2, per_page: 1 },
    })
    expect(rowsIn(ofEvent)).toStrictEqual([fetched.body])
  })

  it('answers the same for another client’s ids and for unknown ids', async ({ deps, ask }) => {
    const foreign = await storedEndpoint(deps)
    const { eventId } = await storedDelivery(deps, foreign)
    const textsOf = async (name: 'endpoint_id' | 'event_id', ids: readonly string[]) => {
      const answers = await Promise.all(
        ids.map((id) => ask('listWebhookDeliveries', { query: { [name]: id } })),
      )
      return new Set(answers.map(({ status, text }) => `${status} ${text}`))
    }

    const notFound = '404 {"message":"endpoint not found","code":"not_found"}'
    expect(await textsOf('endpoint_id', [foreign.endpointId, deps.newId(), 'x'])).toStrictEqual(
      new Set([notFound]),
    )
    const nothing = '200 {"data":[],"pagination":{"page":1,"per_page":25}}'
    expect(await textsOf('event_id', [eventId, deps.newId()])).toStrictEqual(new Set([nothing]))
  })

  it('fits Lambda’s response limit, even if the merchant’s answers are long', async () => {
    const { deps, ask, endpoint } = await aMerchant(memoryDeps())
    for (let made = 0; made < 100; made++) await attemptedDelivery(deps, endpoint, 9)

    const page = await ask('listWebhookDeliveries', { query: { per_page: '100' } })
    const fewer = await ask('listWebhookDeliveries', { query: { per_page: '50' } })

    const numbers = (answer: typeof page) => rowsIn(answer)[0]?.attempts.map(({ number }) => number)
    expect(numbers(page)).toStrictEqual([2, 3, 4, 5, 6, 7, 8, 9])
    expect(numbers(fewer)).toStrictEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(Buffer.byteLength(JSON.stringify(page.text))).toBeLessThan(6_291_556)
  })
})

const AT = '2026-11-20T00:00:00Z'
function padded(body: object, bytes: number) {
  return JSON.stringify(body).padEnd(bytes)
}

describe('POST /v1/webhook_endpoints/{id}/redeliver (design section 8)', () => {
  it('continues at the cursor, and counts the skipped deliveries', async () => {
    const { deps, ask, endpoint } = await aMerchant(memoryDeps())
    const [since, deliveries] = [deps.now(), [] as Delivery[]]
    for (let made = 0; made < 200; made++) {
      deps.clock.advance(1)
      const exhausted = made === 0 && { rounds: 10, roundsOn: deps.now().slice(0, 10) }
      const event = await storedEvent(deps, { clientId: endpoint.clientId })
      deliveries.push(await storedDelivery(deps, endpoint, { ...ABANDONED, ...exhausted }, event))
    }
    const redeliver = async (cursor: unknown) =>
      (
        await ask('redeliverToEndpoint', {
          id: endpoint.endpointId,
          body: padded({ since, cursor }, 16_384),
        })
      ).body

    const first = await redeliver(null)
    const second = await redeliver(first['next'])

    expect(first).toStrictEqual({ count: 99, passed_over: 1, next: expect.any(String) })
    expect(second).toStrictEqual({ count: 100, next: null })
    expect(deps.sent).toHaveLength(199)
    expect(
      rowsIn(await ask('listWebhookDeliveries', { query: { status: 'scheduled' } })),
    ).toHaveLength(25)
    // A merchant's redelivery writes no audit record, so its script cannot fill the table.
    expect(await auditRecordsOf(deps, deliveries[1]?.deliveryId ?? '')).toStrictEqual([])
  })

  const INVALID = 'invalid JSON body:'
  it.for([
    [`${INVALID} since: required`, {}],
    [`${INVALID} since: must be an RFC 3339 time`, { since: 'yesterday' }],
    [
      `${INVALID} status: must be one of succeeded, abandoned, skipped`,
      { since: AT, status: 'scheduled' },
    ],
    [
      'cursor: must be the cursor of an earlier answer to the same request',
      { since: AT, cursor: 'x' },
    ],
    ['the endpoint is disabled', { since: AT }, false],
  ] as const)('refuses with the message %j', async (row, { deps, ask, endpoint: { clientId } }) => {
    const [message, body, enabled = true] = row
    const { endpointId: id } = await storedEndpoint(deps, { clientId, enabled })

    const answer = await ask('redeliverToEndpoint', { id, body })

    expect(answer).toMatchObject({ status: 422, body: { message } })
  })
})
