import { describe, expect } from 'vitest'
import { handler as deleteEndpoint } from '../../../functions/admin/delete-endpoint.ts'
import { handler as registerEndpoint } from '../../../functions/admin/register-endpoint.ts'
import { handler as sendTestEvent } from '../../../functions/admin/send-test-event.ts'
import { handler as updateEndpoint } from '../../../functions/admin/update-endpoint.ts'
import type { EndpointId } from '../../../shared/ids.ts'
import { clientKey, deletedEndpointKey, endpointKey } from '../../../shared/table/keys.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import {
  countEndpoint,
  findEndpointEver,
  insertEndpoint,
  liveEndpoints,
} from '../../../shared/webhook/endpoint/endpoint-store.ts'
import {
  auditRecordsOf,
  invokeAdmin,
  OPERATOR,
  withClient,
} from '../../support/operator-actions.ts'
import { aClientId } from '../../support/payment-builders.ts'
import { beforeFirst, failingOn, type TestDeps, testDeps } from '../../support/test-deps.ts'
import { drainQueue, rowOf, storedEndpoint } from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

function stored(deps: TestDeps, endpoint: Endpoint) {
  return findEndpointEver(deps, endpoint)
}

const FAILED = 'payment.failed'

const ACTIONS = {
  'update-endpoint': (deps: TestDeps, endpoint: Endpoint, change: object = { enabled: false }) =>
    invokeAdmin(updateEndpoint, deps, { ...named(endpoint), ...change }),
  'delete-endpoint': (deps: TestDeps, endpoint: Endpoint) =>
    invokeAdmin(deleteEndpoint, deps, named(endpoint)),
  'send-test-event': (deps: TestDeps, endpoint: Endpoint) =>
    invokeAdmin(sendTestEvent, deps, named(endpoint)),
}
const { 'update-endpoint': update, 'delete-endpoint': remove, 'send-test-event': send } = ACTIONS

function named({ clientId: client_id, endpointId: endpoint_id }: Endpoint) {
  return { operator: OPERATOR, client_id, endpoint_id }
}

it('insertEndpoint overwrites no endpoint, and countEndpoint makes no row of a client', async ({
  deps,
  endpoint,
}) => {
  const other = { ...endpoint, url: 'https://other.example/', sealedSecret: 'x' }
  const clientId = aClientId()

  expect((await deps.table.write(insertEndpoint(other))).applied).toBe(false)
  expect(await stored(deps, endpoint)).toStrictEqual(endpoint)
  expect((await deps.table.write(countEndpoint(clientId, -1))).applied).toBe(false)
  expect(await deps.table.get(clientKey(clientId))).toBeUndefined()
})

describe.each(['update-endpoint', 'delete-endpoint'] as const)('%s', (name) => {
  it.for([
    ['disables it', 'update-endpoint', { enabled: false }, { enabled: false }],
    [
      'changes its event types',
      'update-endpoint',
      { event_types: [FAILED] },
      { eventTypes: [FAILED] },
    ],
    ['deletes it', 'delete-endpoint', {}, { enabled: false, deletedAt: testDeps().now() }],
  ] as const)(
    'refuses when another operator %s meanwhile',
    async ([, theirs, change, changed], { deps, endpoint }) => {
      const racing = beforeFirst(deps, 'transact', () => ACTIONS[theirs](deps, endpoint, change))

      const answer = await ACTIONS[name](racing, endpoint, {
        event_types: ['payment.expired'],
        enabled: true,
      })

      expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } })
      expect(await auditRecordsOf(deps, endpoint.endpointId)).toHaveLength(1)
      expect(await stored(deps, endpoint)).toStrictEqual({ ...endpoint, ...changed })
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
    expect(await stored(deps, endpoint)).toStrictEqual({
      ...endpoint,
      enabled: false,
      eventTypes: ['payment.expired'],
    })
    expect(await auditRecordsOf(deps, endpoint.endpointId)).toMatchObject([
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
    const nothing = await update(deps, endpoint, {})
    const url = await update(deps, endpoint, { enabled: true, url: 'https://other.example' })

    expect(nothing).toMatchObject({
      status: 422,
      body: { message: 'body: give enabled or event_types' },
    })
    expect(url).toMatchObject({ status: 422 })
    expect(await stored(deps, endpoint)).toStrictEqual(endpoint)
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
    expect(await stored(deps, endpoint)).toStrictEqual({
      ...endpoint,
      enabled: false,
      deletedAt: deps.now(),
    })
    expect(await deps.table.get(deletedEndpointKey(endpoint))).not.toHaveProperty('sealedSecret')
    expect(await deps.table.get(endpointKey(endpoint))).toBeUndefined()
    const records = await auditRecordsOf(deps, endpoint.endpointId)
    expect(records).toMatchObject([{ operator: OPERATOR, action: 'delete-endpoint' }])
  })

  it('changes nothing when it is repeated after a crash', async ({ deps, endpoint }) => {
    expect(await remove(failingOn(deps, 'transact', 'after'), endpoint)).toMatchObject({
      status: 500,
    })
    deps.clock.advance(60)

    expect(await remove(deps, endpoint)).toMatchObject({ status: 200 })

    expect(await stored(deps, endpoint)).toMatchObject({ deletedAt: endpoint.createdAt })
    expect(await auditRecordsOf(deps, endpoint.endpointId)).toHaveLength(1)
  })
})

describe('send-test-event', () => {
  it('delivers a signed gateway.test to that endpoint, for any event types', async ({ deps }) => {
    const endpoint = await storedEndpoint(deps, { eventTypes: ['payment.failed'] })
    const ids = { client_id: endpoint.clientId, endpoint_id: endpoint.endpointId }

    const { status, body } = await send(deps, endpoint)

    const { delivery_id, event_id } = body as { delivery_id: never; event_id: string }
    const [now, event] = [deps.now(), 'gateway.test']
    expect(status).toBe(200)
    const shown = { delivery_id, event_id, event, ...ids, url: endpoint.url, attempts: [] }
    expect(body).toStrictEqual({
      ...shown,
      status: 'scheduled',
      next_attempt_at: now,
      created_at: now,
    })
    await drainQueue(deps)
    expect(deps.webhooks).toMatchObject([{ headers: { 'X-Gateway-Event': event } }])
    const sent = JSON.parse(deps.webhooks[0]?.body.toString('utf8') ?? '')
    expect(sent).toStrictEqual({ event, event_id, timestamp: now, data: ids })
    expect(await rowOf(deps, { deliveryId: delivery_id })).toMatchObject({ status: 'succeeded' })
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

const LOOPBACK = 'http://127.0.0.1:3003/hooks'
const URL_OF_MERCHANT = 'https://merchant.example/hooks'

function register(deps: TestDeps, clientId: string, payload: object = {}) {
  const asked = {
    operator: OPERATOR,
    client_id: clientId,
    url: URL_OF_MERCHANT,
    event_types: ['*'],
    ...payload,
  }
  return invokeAdmin(registerEndpoint, deps, asked)
}

describe('register-endpoint (spec 2.4)', () => {
  it('answers the endpoint with its secret, and stores the secret sealed', async () => {
    const { deps, clientId } = await withClient()
    const event_types = ['payment.succeeded', FAILED]

    const { status, body } = await register(deps, clientId, { event_types })

    const { signing_secret: signingSecret, ...after } = body as Record<string, unknown>
    const [registered] = await liveEndpoints(deps, clientId)
    const { endpointId = '' as EndpointId, ...endpoint } = registered ?? {}
    const [url, createdAt] = [URL_OF_MERCHANT, deps.now()]
    expect(status).toBe(200)
    const shown = { client_id: clientId, url, event_types, enabled: true, created_at: createdAt }
    expect(after).toStrictEqual({ endpoint_id: endpointId, ...shown })
    expect(endpoint).toStrictEqual({
      clientId,
      url,
      eventTypes: event_types,
      enabled: true,
      createdAt,
    })
    expect(signingSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const { sealedSecret } = (await deps.table.get(endpointKey({ clientId, endpointId }))) ?? {}
    expect(await deps.sealer.unseal(String(sealedSecret), { clientId, endpointId })).toBe(
      signingSecret,
    )
    expect(await auditRecordsOf(deps, endpointId)).toStrictEqual([
      { operator: OPERATOR, action: 'register-endpoint', before: undefined, after },
    ])
    expect(JSON.stringify(deps.lines)).not.toContain(signingSecret)
  })

  const known =
    'must be ("payment.succeeded" | "payment.failed" | "payment.expired" | "payment.reversed" | "*")'
  const some = 'must be ["*"] alone or with payment.reversed, or a list of names'
  it.each([
    ['an http URL', { url: 'http://merchant.example/' }, 'url', 'must be an https URL'],
    [
      'a long URL',
      { url: `https://m.example/${'x'.repeat(2_048)}` },
      'url',
      'at most 2048 characters',
    ],
    ['a loopback URL', { url: LOOPBACK }, 'url', 'must be an https URL'],
    [
      'a name that leads to a private address',
      {},
      'url',
      'resolves to a private or special address',
    ],
    ['no event types', { event_types: [] }, 'event_types', 'must name at least one event type'],
    [
      'an event type twice',
      { event_types: [FAILED, FAILED] },
      'event_types',
      'must not name an event type twice',
    ],
    ['all and some', { event_types: ['*', FAILED] }, 'event_types', some],
    ['an unknown event type', { event_types: ['payment.cancelled'] }, 'event_types.0', known],
  ])('refuses %s with a reason and a hint', async (_case, payload, field, reason) => {
    const { deps, clientId } = await withClient({
      resolveHost: async () => [{ address: '10.1.2.3', family: 4 }],
    })

    const { status, body } = await register(deps, clientId, payload)

    const refusal = {
      message: `${field}: ${reason}`,
      code: 'validation',
      field_errors: { [field]: [reason] },
    }
    expect({ status, body }).toStrictEqual({
      status: 422,
      body: { ...refusal, action_hint: expect.any(String) },
    })
    expect(await liveEndpoints(deps, clientId)).toStrictEqual([])
  })

  it('accepts loopback in stage local', async () => {
    const { deps, clientId } = await withClient({ stage: { allowLoopbackWebhooks: true } })

    expect(await register(deps, clientId, { url: LOOPBACK })).toMatchObject({
      status: 200,
      body: { url: LOOPBACK },
    })
  })

  it('allows twenty endpoints, also at the same time: disabled ones count, deleted ones do not', async () => {
    const { deps, clientId } = await withClient()
    for (let made = 0; made < 19; made++) await register(deps, clientId)
    const racing = beforeFirst(deps, 'transact', () => register(deps, clientId))
    const body = {
      message: 'a client has at most 20 endpoints',
      action_hint: 'Delete one that is not used.',
    }

    expect(await register(racing, clientId)).toMatchObject({ status: 422, body })
    const [last, ...others] = (await liveEndpoints(deps, clientId)) as readonly [
      Endpoint,
      ...Endpoint[],
    ]
    expect(others).toHaveLength(19)
    await update(deps, last, { enabled: false })
    expect(await register(deps, clientId)).toMatchObject({ status: 422, body })

    for (let tried = 0; tried < 2; tried++) await remove(deps, last)
    expect(await register(deps, clientId)).toMatchObject({ status: 200 })
    expect(await register(deps, clientId)).toMatchObject({ status: 422, body })
  })
})
