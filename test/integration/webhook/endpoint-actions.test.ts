import { describe, expect } from 'vitest'
import { clientKey, deletedEndpointKey, endpointKey } from '../../../shared/table/keys.ts'
import { listDeliveries } from '../../../shared/webhook/delivery/list-deliveries.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import {
  countEndpoint,
  insertEndpoint,
  requireEndpointEver,
} from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { auditRecordsOf, OPERATOR } from '../../support/operator-actions.ts'
import { aClientId } from '../../support/payment-builders.ts'
import { beforeCommit, failingOn, type TestDeps, testDeps } from '../../support/test-deps.ts'
import { drainQueue, storedEndpoint } from '../../support/webhook-builders.ts'
import { ACTIONS, FAILED, remove, send, update } from './endpoint-operations.ts'
import { webhookTest as it } from './webhook-test.ts'

/** The chain of the client names its endpoints. */
async function endpointRecords(deps: TestDeps, { clientId }: Endpoint) {
  const records = await auditRecordsOf(deps, clientId)
  return records.filter(({ operator }) => operator !== 'test')
}

it('insertEndpoint overwrites no endpoint, and countEndpoint makes no row of a client', async ({
  deps,
  endpoint,
}) => {
  const otherEndpoint = { ...endpoint, url: 'https://other.example/', sealedSecret: 'x' }
  const clientId = aClientId()

  expect((await deps.table.write(insertEndpoint(otherEndpoint))).applied).toBe(false)
  expect(await requireEndpointEver(deps, endpoint)).toStrictEqual(endpoint)
  expect((await deps.table.write(countEndpoint(clientId, -1))).applied).toBe(false)
  expect(await deps.table.get(clientKey(clientId))).toBeUndefined()
})

describe.each(['update-endpoint', 'delete-endpoint'] as const)('%s', (name) => {
  it.for([
    ['disables the endpoint', 'update-endpoint', { enabled: false }, { enabled: false }],
    [
      'changes the endpoint’s event types',
      'update-endpoint',
      { event_types: [FAILED] },
      { eventTypes: [FAILED] },
    ],
    [
      'deletes the endpoint',
      'delete-endpoint',
      {},
      { enabled: false, deletedAt: testDeps().now() },
    ],
  ] as const)(
    'refuses when another operator %s meanwhile',
    async ([, otherAction, change, changedFields], { deps, endpoint }) => {
      const raced = beforeCommit(deps, () => ACTIONS[otherAction](deps, endpoint, change))

      const answer = await ACTIONS[name](raced, endpoint, {
        event_types: ['payment.expired'],
        enabled: true,
      })

      expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } })
      expect(await endpointRecords(deps, endpoint)).toHaveLength(1)
      expect(await requireEndpointEver(deps, endpoint)).toStrictEqual({
        ...endpoint,
        ...changedFields,
      })
    },
  )
})

describe('update-endpoint', () => {
  it('changes only the given fields, and records before and after', async ({ deps, endpoint }) => {
    const answer = await update(deps, endpoint, { enabled: false })
    for (const enabled of [undefined, false]) {
      deps.clock.advance(1)
      await update(deps, endpoint, { event_types: ['payment.expired'], enabled })
    }

    expect(answer).toMatchObject({ status: 200, body: { enabled: false, event_types: ['*'] } })
    expect(answer.body).not.toHaveProperty('signing_secret')
    expect(await requireEndpointEver(deps, endpoint)).toStrictEqual({
      ...endpoint,
      enabled: false,
      eventTypes: ['payment.expired'],
    })
    expect(await endpointRecords(deps, endpoint)).toMatchObject([
      {
        operator: OPERATOR,
        action: 'update-endpoint',
        before: { enabled: true },
        after: { enabled: false },
      },
      {
        before: { event_types: ['*'] },
        after: { event_types: ['payment.expired'], enabled: false },
      },
    ])
  })

  it('refuses a request without a change, and a change of the URL', async ({ deps, endpoint }) => {
    const emptyChange = await update(deps, endpoint, {})
    const url = await update(deps, endpoint, { enabled: true, url: 'https://other.example' })

    expect(emptyChange).toMatchObject({
      status: 422,
      body: { message: 'body: give enabled or event_types' },
    })
    expect(url).toMatchObject({ status: 422 })
    expect(await requireEndpointEver(deps, endpoint)).toStrictEqual(endpoint)
  })
})

describe('delete-endpoint', () => {
  it('moves the endpoint to its GONE key, without its secret, and records the action', async ({
    deps,
    endpoint,
  }) => {
    const answer = await remove(deps, endpoint)

    expect(answer).toMatchObject({
      status: 200,
      body: { endpoint_id: endpoint.endpointId, enabled: false },
    })
    expect(await requireEndpointEver(deps, endpoint)).toStrictEqual({
      ...endpoint,
      enabled: false,
      deletedAt: deps.now(),
    })
    expect(await deps.table.get(deletedEndpointKey(endpoint))).not.toHaveProperty('sealedSecret')
    expect(await deps.table.get(endpointKey(endpoint))).toBeUndefined()
    const records = await endpointRecords(deps, endpoint)
    const shown = { endpoint_id: endpoint.endpointId, url: endpoint.url }
    expect(records).toMatchObject([
      {
        operator: OPERATOR,
        action: 'delete-endpoint',
        before: { ...shown, enabled: true },
        after: { ...shown, enabled: false, deleted_at: deps.now() },
      },
    ])
  })

  it('changes nothing when it is repeated after a crash', async ({ deps, endpoint }) => {
    expect(await remove(failingOn(deps, 'transact', 'after'), endpoint)).toMatchObject({
      status: 500,
    })
    deps.clock.advance(60)

    expect(await remove(deps, endpoint)).toMatchObject({ status: 200 })

    expect(await requireEndpointEver(deps, endpoint)).toMatchObject({
      deletedAt: endpoint.createdAt,
    })
    expect(await endpointRecords(deps, endpoint)).toHaveLength(1)
  })
})

describe('send-test-event', () => {
  it('delivers a signed gateway.test to that endpoint, for any event types', async ({ deps }) => {
    const endpoint = await storedEndpoint(deps, { eventTypes: ['payment.failed'] })
    const ids = { client_id: endpoint.clientId, endpoint_id: endpoint.endpointId }

    const { status, body } = await send(deps, endpoint)

    const { delivery_id, event_id } = body as { delivery_id: never; event_id: never }
    const [now, event] = [deps.now(), 'gateway.test']
    expect(status).toBe(200)
    expect(body).toStrictEqual({
      delivery_id,
      event_id,
      event,
      ...ids,
      url: endpoint.url,
      attempts: [],
      status: 'scheduled',
      next_attempt_at: now,
      created_at: now,
    })
    await drainQueue(deps)
    expect(deps.webhooks).toMatchObject([{ headers: { 'X-Gateway-Event': event } }])
    const sent = JSON.parse(deps.webhooks[0]?.body.toString('utf8') ?? '')
    expect(sent).toStrictEqual({ event, event_id, timestamp: now, data: ids })
    const page = { page: 1, perPage: 2 }
    const ofEvent = { clientId: endpoint.clientId, eventId: event_id, page, maxRead: 9 }
    const { deliveries } = await listDeliveries(deps, ofEvent)
    const delivery = { deliveryId: delivery_id, status: 'succeeded' }
    expect(deliveries).toMatchObject([{ delivery }])
    expect(await auditRecordsOf(deps, delivery_id)).toStrictEqual([
      {
        operator: OPERATOR,
        action: 'send-test-event',
        before: undefined,
        after: { endpoint_id: ids.endpoint_id },
      },
    ])
  })

  it('refuses a disabled endpoint with a hint', async ({ deps }) => {
    const endpoint = await storedEndpoint(deps, { enabled: false })

    const body = {
      message: 'the endpoint is disabled',
      action_hint: 'Enable it with update-endpoint, then try again.',
    }
    expect(await send(deps, endpoint)).toMatchObject({ status: 422, body })
    expect(deps.sent).toStrictEqual([])
  })
})
