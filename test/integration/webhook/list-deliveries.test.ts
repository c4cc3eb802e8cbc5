import { describe, expect, it } from 'vitest'
import { handler } from '../../../functions/admin/list-deliveries.ts'
import { skipDelivery } from '../../../shared/webhook/delivery/delivery-store.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { invokeAdmin, notFoundReply, withClient } from '../../support/operator-actions.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { drainQueue, FAILED, messageFor, storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'

const list = (deps: TestDeps, payload: object) => invokeAdmin(handler, deps, payload)

const idsOf = ({ body }: { body: object }) =>
  (Reflect.get(body, 'data') as { delivery_id: string }[]).map(({ delivery_id }) => delivery_id)

/* What merchants see of the same list is in api-webhook-deliveries: its merging of endpoints, its filters together. */

describe('list-deliveries (design section 7)', () => {
  it('shows a delivery with its attempts, oldest first', async () => {
    const { deps, clientId } = await withClient()
    const endpoint = await storedEndpoint(deps, { clientId })
    const delivery = await storedDelivery(deps, endpoint)
    const start = deps.now()
    let tried = 0
    deps.answerWebhooks(async () =>
      ++tried < 2
        ? { delivered: false, httpStatus: undefined, error: 'dns', responseBody: undefined, durationMs: 3 }
        : { delivered: true, httpStatus: 200, error: undefined, responseBody: 'ok', durationMs: 12 },
    )
    await deliverWebhook(deps, messageFor(delivery))
    await drainQueue(deps)

    const answer = await list(deps, { client_id: clientId })

    expect(answer).toStrictEqual({
      status: 200,
      body: {
        data: [
          {
            delivery_id: delivery.deliveryId,
            event_id: delivery.eventId,
            event: 'payment.succeeded',
            client_id: clientId,
            endpoint_id: endpoint.endpointId,
            url: endpoint.url,
            status: 'succeeded',
            next_attempt_at: null,
            created_at: start,
            attempts: [
              { number: 1, at: start, duration_ms: 3, http_status: null, error: 'dns', response_body: null },
              { number: 2, at: deps.now(), duration_ms: 12, http_status: 200, error: null, response_body: 'ok' },
            ],
          },
        ],
        pagination: { page: 1, per_page: 25 },
      },
    })
  })

  it('shows those of a status and of an endpoint alone', async () => {
    const { deps, clientId } = await withClient()
    const endpoint = await storedEndpoint(deps, { clientId })
    const { deliveryId } = await storedDelivery(deps, endpoint)
    await storedDelivery(deps, await storedEndpoint(deps, { clientId }))
    const asked = { client_id: clientId, status: 'scheduled', endpoint_id: endpoint.endpointId }

    expect(idsOf(await list(deps, asked))).toStrictEqual([deliveryId])
    expect(idsOf(await list(deps, { ...asked, status: 'abandoned' }))).toStrictEqual([])
  })

  it('orders deliveries of the same moment by id, so that pages neither repeat nor miss one', async () => {
    const { deps, clientId } = await withClient()
    const endpoints = [await storedEndpoint(deps, { clientId }), await storedEndpoint(deps, { clientId })]
    for (const endpoint of [...endpoints, ...endpoints, ...endpoints]) await storedDelivery(deps, endpoint)

    const pages = await Promise.all([1, 2, 3].map((page) => list(deps, { client_id: clientId, page, per_page: 2 })))

    const ids = pages.flatMap(idsOf)
    expect(ids).toHaveLength(6)
    expect(ids).toStrictEqual(ids.toSorted().toReversed())
  })

  it('leaves out a row whose status has moved on since the index was read', async () => {
    const { deps, clientId } = await withClient()
    const endpoint = await storedEndpoint(deps, { clientId })
    const delivery = await storedDelivery(deps, endpoint)
    const stale = beforeFirst(deps, 'batchGet', () => skipDelivery(deps, delivery))

    const answer = await list(stale, { client_id: clientId, status: 'scheduled' })

    expect(idsOf(answer)).toStrictEqual([])
  })

  it.each([98, 9_998])('numbers attempts on through the rounds, after %i of them', async (attempts) => {
    const { deps, clientId } = await withClient()
    const endpoint = await storedEndpoint(deps, { clientId })
    const delivery = await storedDelivery(deps, endpoint, { attempts, roundStart: attempts })
    deps.answerWebhooks(async () => FAILED)
    await deliverWebhook(deps, messageFor(delivery))
    await drainQueue(deps)

    const answer = await list(deps, { client_id: clientId })

    const [shown] = Reflect.get(answer.body, 'data') as { attempts: { number: number }[] }[]
    expect(shown?.attempts.map(({ number }) => number - attempts)).toStrictEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })
})

describe('list-deliveries: refusals', () => {
  it('never shows another client a delivery, and answers as for what does not exist', async () => {
    const { deps, clientId } = await withClient()
    const theirs = await storedEndpoint(deps)
    const delivery = await storedDelivery(deps, theirs)

    const byEndpoint = await list(deps, { client_id: clientId, endpoint_id: theirs.endpointId })
    const byAbsent = await list(deps, { client_id: clientId, endpoint_id: crypto.randomUUID() })
    const byShape = await list(deps, { client_id: clientId, endpoint_id: 'x' })
    const byEvent = await list(deps, { client_id: clientId, event_id: delivery.eventId })
    const all = await list(deps, { client_id: clientId })

    expect(byEndpoint).toStrictEqual(notFoundReply('endpoint'))
    expect(byAbsent).toStrictEqual(byEndpoint)
    expect(byShape).toStrictEqual(byEndpoint)
    expect(idsOf(byEvent)).toStrictEqual([])
    expect(idsOf(all)).toStrictEqual([])
  })

  it.each([
    ['an unknown status', { status: 'lost' }, 'status'],
    ['an event id of a wrong shape', { event_id: 'x' }, 'event_id'],
    ['an event and something else', { event_id: crypto.randomUUID(), status: 'skipped' }, 'body'],
    ['a page of the wrong type', { page: '1' }, 'page'],
    ['an unknown field', { payment_id: 'x' }, 'payment_id'],
  ])('refuses %s', async (_case, payload, field) => {
    const { deps, clientId } = await withClient()

    const answer = await list(deps, { client_id: clientId, ...payload })

    const refusal = {
      code: 'validation',
      field_errors: { [field]: expect.any(Array) },
      action_hint: expect.any(String),
    }
    expect(answer).toMatchObject({ status: 422, body: refusal })
  })

  it('refuses a page after the newest 2,000, and names the last one; after the end a page is empty', async () => {
    const deps = memoryDeps()
    const { clientId } = await aStoredClient(deps)
    const endpoint = await storedEndpoint(deps, { clientId })
    const ask = async (page: number) => list(deps, { client_id: clientId, page, per_page: 7 })
    for (let made = 0; made < 1_999; made++) await storedDelivery(deps, endpoint)

    const before = await ask(286)
    await storedDelivery(deps, endpoint)
    const [last, behind] = [await ask(285), await ask(286)]

    expect([idsOf(before).length, idsOf(last).length]).toStrictEqual([4, 7])
    expect(behind).toMatchObject({
      status: 422,
      body: {
        message: 'page: only the newest 2000 deliveries can be listed',
        field_errors: { page: ['too far back'] },
        action_hint: expect.stringMatching(/^The last page is 285\./),
      },
    })
  })
})
