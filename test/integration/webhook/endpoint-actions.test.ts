import { describe, expect } from 'vitest'
import { handler as deleteEndpoint } from '../../../functions/admin/delete-endpoint.ts'
import { handler as listEndpoints } from '../../../functions/admin/list-endpoints.ts'
import { handler as sendTestEvent } from '../../../functions/admin/send-test-event.ts'
import { handler as updateEndpoint } from '../../../functions/admin/update-endpoint.ts'
import type { ClientId } from '../../../shared/ids.ts'
import { endpointKey, goneEndpointKey } from '../../../shared/table/keys.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { insertEndpoint, moveToGone } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { findEndpointEver } from '../../../shared/webhook/endpoint/find-endpoints.ts'
import { updateEndpoint as changeIt } from '../../../shared/webhook/endpoint/update-endpoint.ts'
import { aClientId } from '../../support/client-builders.ts'
import { beforeFirst, interceptTable } from '../../support/intercept-table.ts'
import { auditRecordsOf, invokeAdmin, notFoundReply, OPERATOR, withClient } from '../../support/operator-actions.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { drainQueue, rowOf, storedEndpoint } from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

const stored = (deps: TestDeps, { clientId, endpointId }: Endpoint) => findEndpointEver(deps, clientId, endpointId)

const sealedSecretOf = async (deps: TestDeps, { clientId, endpointId }: Endpoint) =>
  (await deps.table.get(endpointKey(clientId, endpointId)))?.['sealedSecret']

const ACTIONS = {
  'update-endpoint': (deps: TestDeps, endpoint: Endpoint, change: object = { enabled: false }) =>
    invokeAdmin(updateEndpoint, deps, { ...named(endpoint), ...change }),
  'delete-endpoint': (deps: TestDeps, endpoint: Endpoint) => invokeAdmin(deleteEndpoint, deps, named(endpoint)),
  'send-test-event': (deps: TestDeps, endpoint: Endpoint) => invokeAdmin(sendTestEvent, deps, named(endpoint)),
}
const { 'update-endpoint': update, 'delete-endpoint': remove, 'send-test-event': send } = ACTIONS

const named = ({ clientId, endpointId }: Endpoint) => ({
  operator: OPERATOR,
  client_id: clientId,
  endpoint_id: endpointId,
})

describe("operators' actions on an endpoint", () => {
  it.for(Object.entries(ACTIONS))(
    '%s answers 404 for one of another client, as for none, and does nothing',
    async ([, act], { deps, endpoint }) => {
      expect(await act(deps, { ...endpoint, clientId: aClientId() })).toStrictEqual(notFoundReply('endpoint'))

      expect(await stored(deps, endpoint)).toStrictEqual(endpoint)
      expect(await sealedSecretOf(deps, endpoint)).toEqual(expect.any(String))
      expect(deps.sent).toStrictEqual([])
    },
  )
})

describe('insertEndpoint', () => {
  it('leaves an endpoint that has its id as it is, deleted or not', async ({ deps, endpoint: live }) => {
    const deleted = await storedEndpoint(deps, { enabled: false, deletedAt: deps.now() })

    for (const endpoint of [live, deleted]) {
      const { applied } = await deps.table.write(
        insertEndpoint({ ...endpoint, url: 'https://other.example/', sealedSecret: 'x' }),
      )

      expect(applied).toBe(false)
      expect(await stored(deps, endpoint)).toStrictEqual(endpoint)
    }
  })
})

describe('list-endpoints', () => {
  const list = (deps: TestDeps, clientId: ClientId, payload: object = {}) =>
    invokeAdmin(listEndpoints, deps, { client_id: clientId, ...payload })

  it('shows the endpoints in use, newest first, page by page, without secrets', async () => {
    const { deps, clientId } = await withClient()
    const endpoints: Endpoint[] = []
    for (let made = 0; made < 3; made++) {
      deps.clock.advance(1)
      endpoints.unshift(await storedEndpoint(deps, { clientId, enabled: made !== 1 }))
    }
    await deps.table.transact(moveToGone(await storedEndpoint(deps, { clientId }), deps.now()))
    await storedEndpoint(deps)

    const all = await list(deps, clientId)
    const second = await list(deps, clientId, { page: 2, per_page: 2 })

    const shown = endpoints.map(({ endpointId, url, enabled, createdAt }) => ({
      endpoint_id: endpointId,
      client_id: clientId,
      url,
      event_types: ['*'],
      enabled,
      created_at: createdAt,
    }))
    expect(all).toStrictEqual({ status: 200, body: { data: shown, pagination: { page: 1, per_page: 25 } } })
    expect(second.body).toStrictEqual({ data: shown.slice(2), pagination: { page: 2, per_page: 2 } })
  })
})

describe('update-endpoint', () => {
  it('changes what is given and records before and after', async ({ deps, endpoint }) => {
    const answer = await update(deps, endpoint, { enabled: false })
    deps.clock.advance(1)
    await update(deps, endpoint, { event_types: ['payment.expired'] })
    deps.clock.advance(1)
    await update(deps, endpoint, { event_types: ['payment.expired'], enabled: false })

    expect(answer).toMatchObject({ status: 200, body: { enabled: false, event_types: ['*'] } })
    expect(answer.body).not.toHaveProperty('signing_secret')
    const changed = { enabled: false, eventTypes: ['payment.expired'] }
    expect(await stored(deps, endpoint)).toStrictEqual({ ...endpoint, ...changed })
    expect(await auditRecordsOf(deps, endpoint.endpointId)).toMatchObject([
      { operator: OPERATOR, action: 'update-endpoint', before: { enabled: true }, after: { enabled: false } },
      { before: { event_types: ['*'] }, after: { event_types: ['payment.expired'], enabled: false } },
    ])
  })

  it('refuses a change of nothing, and of the URL', async ({ deps, endpoint }) => {
    const nothing = await update(deps, endpoint, {})
    const url = await update(deps, endpoint, { enabled: true, url: 'https://other.example' })

    expect(nothing).toMatchObject({ status: 422, body: { message: 'body: give enabled or event_types' } })
    expect(url).toMatchObject({ status: 422 })
    expect(await stored(deps, endpoint)).toStrictEqual(endpoint)
  })

  it.for([
    ['enabled', { enabled: false }],
    ['event types', { event_types: ['payment.failed'] }],
  ] as const)(
    'refuses when another operator changes %s meanwhile, and writes no audit record',
    async ([, theirs], { deps, endpoint }) => {
      const racing = beforeFirst(deps, 'transact', () => update(deps, endpoint, theirs))

      const answer = await update(racing, endpoint, { event_types: ['payment.expired'], enabled: true })

      expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } })
      expect(await auditRecordsOf(deps, endpoint.endpointId)).toHaveLength(1)
      expect(await stored(deps, endpoint)).not.toMatchObject({ eventTypes: ['payment.expired'] })
    },
  )

  it('refuses when the endpoint is deleted meanwhile', async ({ deps }) => {
    const endpoint = await storedEndpoint(deps, { enabled: false })
    const { clientId, endpointId } = endpoint
    const racing = beforeFirst(deps, 'transact', () => remove(deps, endpoint))

    const change = { clientId, endpointId, operator: OPERATOR, enabled: true, eventTypes: undefined }
    await expect(changeIt(racing, change)).rejects.toThrow('another operator changed')
    expect(await stored(deps, endpoint)).toMatchObject({ enabled: false, deletedAt: deps.now() })
  })
})

describe('delete-endpoint', () => {
  it('keeps the endpoint where no event looks, without its secret, and records it', async ({ deps, endpoint }) => {
    const answer = await remove(deps, endpoint)

    expect(answer).toMatchObject({ status: 200, body: { endpoint_id: endpoint.endpointId, enabled: false } })
    expect(await stored(deps, endpoint)).toStrictEqual({ ...endpoint, enabled: false, deletedAt: deps.now() })
    const kept = await deps.table.get(goneEndpointKey(endpoint.clientId, endpoint.endpointId))
    expect(kept).not.toHaveProperty('sealedSecret')
    expect(await sealedSecretOf(deps, endpoint)).toBeUndefined()
    const records = await auditRecordsOf(deps, endpoint.endpointId)
    expect(records).toMatchObject([{ operator: OPERATOR, action: 'delete-endpoint' }])
  })

  it('changes nothing when it is repeated after a crash', async ({ deps, endpoint }) => {
    const dying = interceptTable(deps, {
      after: ({ name }) => {
        if (name === 'transact') throw new Error('died')
      },
    })
    expect(await remove(dying, endpoint)).toMatchObject({ status: 500 })
    deps.clock.advance(60)

    expect(await remove(deps, endpoint)).toMatchObject({ status: 200 })

    expect(await stored(deps, endpoint)).toMatchObject({ deletedAt: endpoint.createdAt })
    expect(await auditRecordsOf(deps, endpoint.endpointId)).toHaveLength(1)
  })
})

describe('send-test-event', () => {
  it('delivers a signed gateway.test to that endpoint, whatever its event types', async ({ deps }) => {
    const endpoint = await storedEndpoint(deps, { eventTypes: ['payment.failed'] })

    const { status, body } = await send(deps, endpoint)

    const { delivery_id, event_id } = body as { delivery_id: never; event_id: string }
    const ids = { client_id: endpoint.clientId, endpoint_id: endpoint.endpointId }
    expect(status).toBe(200)
    expect(body).toStrictEqual({
      delivery_id,
      event_id,
      event: 'gateway.test',
      ...ids,
      url: endpoint.url,
      status: 'scheduled',
      next_attempt_at: deps.now(),
      created_at: deps.now(),
      attempts: [],
    })
    await drainQueue(deps)
    expect(deps.webhooks).toMatchObject([{ headers: { 'X-Gateway-Event': 'gateway.test' } }])
    const sent = JSON.parse(deps.webhooks[0]?.body.toString('utf8') ?? '')
    expect(sent).toStrictEqual({ event: 'gateway.test', event_id, timestamp: deps.now(), data: ids })
    expect(await rowOf(deps, { deliveryId: delivery_id })).toMatchObject({ status: 'succeeded' })
    expect(await auditRecordsOf(deps, delivery_id)).toStrictEqual([
      { operator: OPERATOR, action: 'send-test-event', before: undefined, after: { endpoint_id: endpoint.endpointId } },
    ])
  })

  it('refuses a disabled endpoint with a hint', async ({ deps }) => {
    const endpoint = await storedEndpoint(deps, { enabled: false })

    expect(await send(deps, endpoint)).toMatchObject({
      status: 422,
      body: { message: 'the endpoint is disabled', action_hint: 'Enable it with update-endpoint, then try again.' },
    })
    expect(deps.sent).toStrictEqual([])
  })
})
