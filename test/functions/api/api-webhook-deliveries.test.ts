import { describe, expect, it } from 'vitest'
import { attemptKey } from '../../../shared/table/keys.ts'
import { put } from '../../../shared/table/step.ts'
import { addMs } from '../../../shared/time.ts'
import { moveToGone } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { API, anApi, call } from '../../support/api-event.ts'
import { recordTable } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { testDeps } from '../../support/test-deps.ts'
import {
  ABANDONED,
  attemptOf,
  ENDED,
  FAILED,
  messageFor,
  SKIPPED,
  storedDelivery,
  storedEndpoint,
  storedEvent,
} from '../../support/webhook-builders.ts'

/** A merchant with one endpoint. */
const aMerchant = async (deps = testDeps()) => {
  const api = await anApi({}, deps)
  return { ...api, endpoint: await storedEndpoint(deps, { clientId: api.caller.clientId }) }
}

type Shown = { readonly id: string; readonly attempts: readonly { readonly number: number }[] }
const shownIn = ({ body }: { readonly body: Readonly<Record<string, unknown>> }) => body['data'] as readonly Shown[]
const idsIn = (answer: Parameters<typeof shownIn>[0]) => shownIn(answer).map(({ id }) => id)

describe('GET /v1/webhook_endpoints (design section 8)', () => {
  it('shows what is not deleted, newest first, and never a secret', async () => {
    const { deps, caller, ask, endpoint } = await aMerchant()
    deps.clock.advance(1)
    const { clientId } = caller
    const disabled = await storedEndpoint(deps, { clientId, enabled: false, eventTypes: ['payment.succeeded'] })
    await deps.table.transact(moveToGone(await storedEndpoint(deps, { clientId }), deps.now()))
    await storedEndpoint(deps)

    const answer = await ask('listWebhookEndpoints')

    const shown = [disabled, endpoint].map(({ endpointId, url, eventTypes, enabled, createdAt }) => ({
      id: endpointId,
      url,
      event_types: eventTypes,
      enabled,
      created_at: createdAt,
    }))
    expect([answer.status, answer.body]).toStrictEqual([200, { data: shown }])
    expect(answer.text).not.toMatch(/secret|whsec/)
  })
})

describe('GET /v1/webhook_deliveries/{id} (design section 8)', () => {
  it('shows a delivery with every attempt as it was answered', async () => {
    const { deps, ask, endpoint } = await aMerchant()
    const event = await storedEvent(deps, { clientId: endpoint.clientId })
    const delivery = await storedDelivery(deps, endpoint, {}, event)
    const body = '\u0000<b>"ouch"</b>\uFFFD'.padEnd(1_024, '\u0001')
    deps.answerWebhooks(async () => ({ ...FAILED, responseBody: body }))
    await deliverWebhook(deps, messageFor(delivery))

    const answer = await ask('getWebhookDelivery', { id: delivery.deliveryId })

    const attempt = { number: 1, at: deps.now(), duration_ms: 9, http_status: 500, error: 'http_status' }
    expect([answer.status, answer.body]).toStrictEqual([
      200,
      {
        id: delivery.deliveryId,
        event_id: event.eventId,
        event: 'payment.succeeded',
        payment_id: event.paymentId,
        endpoint_id: endpoint.endpointId,
        url: endpoint.url,
        status: 'scheduled',
        next_attempt_at: addMs(deps.now(), 60_000),
        created_at: delivery.createdAt,
        attempts: [{ ...attempt, response_body: body }],
      },
    ])
  })

  it('shows one that arrived at once, and of a test event no payment', async () => {
    const { deps, ask, endpoint } = await aMerchant(testDeps())
    const event = await storedEvent(deps, { clientId: endpoint.clientId })
    const delivery = await storedDelivery(deps, endpoint, {}, event)
    await deliverWebhook(deps, messageFor(delivery))
    const test = await storedDelivery(deps, endpoint, { paymentId: undefined, eventName: 'gateway.test' })

    const { body } = await ask('getWebhookDelivery', { id: delivery.deliveryId })
    const tested = await ask('getWebhookDelivery', { id: test.deliveryId })

    expect(body).toMatchObject({ status: 'succeeded', next_attempt_at: null, attempts: [{ number: 1, error: null }] })
    expect(tested.body).toMatchObject({ event: 'gateway.test', attempts: [] })
    expect(tested.body).not.toHaveProperty('payment_id')
  })
})

describe('GET /v1/webhook_deliveries (design section 8)', () => {
  it('lists those of all endpoints, deleted ones too, newest first, each as fetch shows it', async () => {
    const { deps, ask, endpoint, caller } = await aMerchant()
    const gone = await storedEndpoint(deps, { clientId: caller.clientId, enabled: false, deletedAt: deps.now() })
    const stored = []
    for (const to of [endpoint, gone, endpoint]) {
      deps.clock.advance(1)
      stored.unshift(await storedDelivery(deps, to))
    }

    const pages = [await ask('listWebhookDeliveries', { query: { per_page: '2' } })]
    pages.push(await ask('listWebhookDeliveries', { query: { per_page: '2', page: '2' } }))

    const each = await Promise.all(stored.map(({ deliveryId: id }) => ask('getWebhookDelivery', { id })))
    expect(pages.flatMap(shownIn)).toStrictEqual(each.map(({ body }) => body))
    expect(pages.map(({ body }) => body['pagination'])).toStrictEqual([1, 2].map((page) => ({ page, per_page: 2 })))
  })

  it('filters by endpoint, event and status, and by any of them together', async () => {
    const { deps, ask, endpoint, caller } = await aMerchant()
    const { clientId } = caller
    const other = await storedEndpoint(deps, { clientId })
    const event = await storedEvent(deps, { clientId })
    const here = await storedDelivery(deps, endpoint, ABANDONED, event)
    const there = await storedDelivery(deps, other, SKIPPED, event)
    const besides = await storedDelivery(deps, endpoint, { ...ENDED, status: 'succeeded' })
    const listed = async (query: Readonly<Record<string, string>>) =>
      new Set(idsIn(await ask('listWebhookDeliveries', { query })))
    const [endpoint_id, event_id] = [endpoint.endpointId, event.eventId]

    expect(await listed({ endpoint_id })).toStrictEqual(new Set([here.deliveryId, besides.deliveryId]))
    expect(await listed({ event_id })).toStrictEqual(new Set([here.deliveryId, there.deliveryId]))
    expect(await listed({ status: 'succeeded' })).toStrictEqual(new Set([besides.deliveryId]))
    expect(await listed({ event_id, endpoint_id })).toStrictEqual(new Set([here.deliveryId]))
    expect(await listed({ event_id, status: 'skipped' })).toStrictEqual(new Set([there.deliveryId]))
    expect(await listed({ event_id, endpoint_id, status: 'skipped' })).toStrictEqual(new Set())
    expect(await listed({ endpoint_id, status: 'abandoned' })).toStrictEqual(new Set([here.deliveryId]))
    expect(await listed({ event_id, page: '2' })).toStrictEqual(new Set())
    expect(await listed({ event_id: crypto.randomUUID() })).toStrictEqual(new Set())
  })

  it('answers of what is another client’s as of what does not exist', async () => {
    const { deps, ask } = await aMerchant()
    const theirs = await storedEndpoint(deps)
    const event = await storedEvent(deps, { clientId: theirs.clientId })
    await storedDelivery(deps, theirs, {}, event)
    const texts = async (queries: readonly Readonly<Record<string, string>>[]) =>
      Promise.all(
        queries.map(async (query) => {
          const { status, text } = await ask('listWebhookDeliveries', { query })
          return [status, text]
        }),
      )

    const endpoints = await texts([
      { endpoint_id: theirs.endpointId },
      { endpoint_id: deps.newId() },
      { endpoint_id: 'x' },
    ])
    const events = await texts([{ event_id: event.eventId }, { event_id: deps.newId() }])

    expect(endpoints).toStrictEqual(endpoints.map(() => [404, '{"message":"endpoint not found","code":"not_found"}']))
    expect(events).toStrictEqual(events.map(() => [200, '{"data":[],"pagination":{"page":1,"per_page":25}}']))
  })

  it('looks through 1,000, of all endpoints together, for those that no index names by their status, and says so', async () => {
    const { deps, ask, endpoint, caller } = await aMerchant(memoryDeps())
    await storedDelivery(deps, endpoint, { ...ENDED, status: 'succeeded' })
    deps.clock.advance(1)
    for (let made = 0; made < 1_000; made++) await storedDelivery(deps, endpoint, SKIPPED)
    const watched = recordTable(deps)

    const query = { status: 'succeeded' }
    const { status, body } = await call(watched.deps, API.listWebhookDeliveries, { caller, query })
    const all = await ask('listWebhookDeliveries', { query: { status: 'skipped', per_page: '1' } })

    expect([status, body['message']]).toStrictEqual([
      422,
      'page: only the newest 1000 deliveries of an endpoint are looked through',
    ])
    // Ten pages of the index, and what stands there; before them the key and the endpoints.
    expect(watched.calls).toHaveLength(22)
    expect(all.status).toBe(200)
    await storedEndpoint(deps, { clientId: caller.clientId })
    expect((await ask('listWebhookDeliveries', { query })).body).toMatchObject({
      message: 'page: only the newest 500 deliveries of an endpoint are looked through',
    })
  })

  it('fits into what a function may answer, whatever the merchant’s servers said', async () => {
    const { deps, ask, endpoint } = await aMerchant(memoryDeps())
    const responseBody = '\u0001'.repeat(1_024)
    for (let made = 0; made < 100; made++) {
      const { deliveryId } = await storedDelivery(deps, endpoint, { ...ABANDONED, attempts: 9 })
      for (let number = 1; number <= 9; number++)
        await deps.table.write(put(attemptKey(deliveryId, number), attemptOf(deps, number, { responseBody })))
    }

    const page = await ask('listWebhookDeliveries', { query: { per_page: '100' } })
    const fewer = await ask('listWebhookDeliveries', { query: { per_page: '50' } })

    const numbers = (answer: typeof page) => shownIn(answer)[0]?.attempts.map(({ number }) => number)
    expect(numbers(page)).toStrictEqual([2, 3, 4, 5, 6, 7, 8, 9])
    expect(numbers(fewer)).toStrictEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(Buffer.byteLength(JSON.stringify(page.text))).toBeLessThan(6_291_556)
  })
})
