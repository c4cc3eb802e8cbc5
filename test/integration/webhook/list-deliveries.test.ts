import { describe, expect, it } from 'vitest'
import type { ClientId } from '../../../shared/ids.ts'
import { DELIVERY_STATUSES } from '../../../shared/webhook/delivery/delivery.ts'
import {
  type DeliveryListing,
  listDeliveries,
} from '../../../shared/webhook/delivery/list-deliveries.ts'
import { skipDelivery } from '../../../shared/webhook/send/attempt-store.ts'
import { anApi } from '../../support/api-event.ts'
import { invokeAdmin, withClient } from '../../support/operator-actions.ts'
import { beforeFirst, memoryDeps, recordTable, type TestDeps } from '../../support/test-deps.ts'
import {
  ABANDONED,
  deliver,
  drainQueue,
  ENDED,
  FAILED,
  SKIPPED,
  storedDelivery,
  storedEndpoint,
  storedEvent,
} from '../../support/webhook-builders.ts'

async function aMerchant(givenDeps?: TestDeps) {
  const { deps, clientId } = await withClient(givenDeps && { requests: givenDeps.requests })
  return { deps, clientId, endpoint: await storedEndpoint(deps, { clientId }) }
}

async function listIds(
  deps: TestDeps,
  clientId: ClientId,
  filter: Partial<DeliveryListing> = {},
  page = 1,
  perPage = 25,
) {
  const listing = { clientId, ...filter, page: { page, perPage }, maxRead: 1_000 }
  return (await listDeliveries(deps, listing)).deliveries.map(({ delivery }) => delivery.deliveryId)
}

describe('the deliveries of a merchant (design sections 7 and 8)', () => {
  it('are filtered by endpoint, event and status, and by any of them together', async () => {
    const { deps, clientId, endpoint } = await aMerchant()
    const otherEndpoint = await storedEndpoint(deps, { clientId })
    const event = await storedEvent(deps, { clientId })
    const abandonedDelivery = await storedDelivery(deps, endpoint, ABANDONED, event)
    const skippedDelivery = await storedDelivery(deps, otherEndpoint, SKIPPED, event)
    const succeededDelivery = await storedDelivery(deps, endpoint, {
      ...ENDED,
      status: 'succeeded',
    })
    const [{ endpointId }, { eventId }] = [endpoint, event]

    const cases: readonly (readonly [Partial<DeliveryListing>, ...(typeof abandonedDelivery)[]])[] =
      [
        [{ endpointId }, abandonedDelivery, succeededDelivery],
        [{ eventId }, abandonedDelivery, skippedDelivery],
        [{ status: 'succeeded' }, succeededDelivery],
        [{ eventId, endpointId }, abandonedDelivery],
        [{ eventId, status: 'skipped' }, skippedDelivery],
        [{ eventId, endpointId, status: 'skipped' }],
        [{ endpointId, status: 'abandoned' }, abandonedDelivery],
        [{ endpointId, status: 'scheduled' }],
        [{ eventId: crypto.randomUUID() as typeof eventId }],
      ]
    for (const [filter, ...expected] of cases) {
      expect([filter, new Set(await listIds(deps, clientId, filter))]).toStrictEqual([
        filter,
        new Set(expected.map(({ deliveryId }) => deliveryId)),
      ])
    }
  })

  it.each(DELIVERY_STATUSES)(
    'of status %s are found with and without the status index',
    async (status) => {
      const { deps, clientId, endpoint } = await aMerchant()
      const madeIds = []
      for (const unlisted of [true, undefined, undefined, true] as const) {
        deps.clock.advance(1_800)
        for (const rowStatus of DELIVERY_STATUSES) {
          const isListed = rowStatus === 'skipped' || rowStatus === 'abandoned'
          const delivery = await storedDelivery(deps, endpoint, {
            status: rowStatus,
            unlisted: isListed ? undefined : unlisted,
          })
          if (rowStatus === status) madeIds.unshift(delivery.deliveryId)
        }
      }

      expect(await listIds(deps, clientId, { status }, 1, 3)).toStrictEqual(madeIds.slice(0, 3))
    },
  )

  it('leave out a row whose status has changed after the read of the index', async () => {
    const { deps, clientId, endpoint } = await aMerchant()
    const delivery = await storedDelivery(deps, endpoint)
    const stale = beforeFirst(deps, 'batchGet', () => skipDelivery(deps, delivery))

    expect(await listIds(stale, clientId, { status: 'scheduled' })).toStrictEqual([])
  })

  it('end with the newest 2,000: a later page is refused, and the hint names the last page', async () => {
    const { deps, clientId, endpoint } = await aMerchant(memoryDeps())
    const ask = (page: number) => listIds(deps, clientId, {}, page, 7)
    for (let made = 0; made < 1_999; made++) await storedDelivery(deps, endpoint)

    expect(await ask(286)).toHaveLength(4)
    await storedDelivery(deps, endpoint)
    expect(await ask(285)).toHaveLength(7)
    const actionHint = expect.stringMatching(/^The last page is 285\./)
    await expect(ask(286)).rejects.toMatchObject({
      message: 'page: only the newest 2000 deliveries can be listed',
      details: { fieldErrors: { page: ['too far back'] }, actionHint },
    })
  })

  it('are searched in the newest 1,000 of all endpoints if no index has their status', async () => {
    const { deps, caller, ask } = await anApi({}, memoryDeps())
    const { clientId } = caller
    const endpoint = await storedEndpoint(deps, { clientId })
    await storedDelivery(deps, endpoint, { ...ENDED, status: 'succeeded' })
    for (let made = 0; made < 1_000; made++) await storedDelivery(deps, endpoint, SKIPPED)
    const scheduled = { clientId, status: 'scheduled', page: { page: 1, perPage: 25 } } as const
    expect(await listDeliveries(deps, { ...scheduled, maxRead: 1_000 })).toMatchObject({
      complete: false,
    })
    expect(await listDeliveries(deps, { ...scheduled, maxRead: 1_001 })).toMatchObject({
      complete: true,
    })
    const recorded = recordTable(deps)
    const query = { status: 'succeeded' } as const

    const message = 'page: only the newest 1000 deliveries are searched'
    await expect(listIds(recorded.deps, clientId, query)).rejects.toThrow(message)
    // The endpoints, then ten pages of the index with their rows.
    expect(recorded.calls).toHaveLength(21)
    expect(await listIds(deps, clientId, { status: 'skipped' }, 1, 1)).toHaveLength(1)
    await storedEndpoint(deps, { clientId })
    expect((await ask('listWebhookDeliveries', { query })).body).toMatchObject({ message })
    deps.clock.advance(1)
    const { deliveryId } = await storedDelivery(deps, endpoint, { ...ENDED, status: 'succeeded' })
    recorded.calls.length = 0
    expect(await listIds(recorded.deps, clientId, query, 1, 1)).toStrictEqual([deliveryId])
    // The endpoints, a page of each from the index, the rows, and their attempts.
    expect(recorded.calls).toHaveLength(5)
  })
})

it('list-deliveries (design section 7) shows a delivery with its attempts, oldest first', async () => {
  const { deps, clientId, endpoint } = await aMerchant()
  const delivery = await storedDelivery(deps, endpoint)
  const start = deps.now()
  const answers = [
    { error: 'dns', durationMs: 3 } as const,
    { httpStatus: 200, responseBody: 'ok', durationMs: 12 },
  ]
  deps.answerWebhooks(async () => answers.shift() ?? FAILED)
  await deliver(deps, delivery)
  await drainQueue(deps)

  const answer = await invokeAdmin('list-deliveries', deps, { client_id: clientId })

  const data = [
    {
      delivery_id: delivery.deliveryId,
      event_id: delivery.eventId,
      client_id: clientId,
      endpoint_id: endpoint.endpointId,
      event: 'payment.succeeded',
      url: endpoint.url,
      status: 'succeeded',
      next_attempt_at: null,
      created_at: start,
      attempts: [
        {
          number: 1,
          at: start,
          duration_ms: 3,
          http_status: null,
          error: 'dns',
          response_body: null,
        },
        {
          number: 2,
          at: deps.now(),
          duration_ms: 12,
          http_status: 200,
          error: null,
          response_body: 'ok',
        },
      ],
    },
  ]
  expect(answer).toStrictEqual({
    status: 200,
    body: { data, pagination: { page: 1, per_page: 25 }, complete: true },
  })
})
