import { describe, expect, it } from 'vitest'
import { handler as sendTestEvent } from '../../../functions/admin/send-test-event.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { aClientId } from '../../support/client-builders.ts'
import { auditRecordsOf, invokeAdmin, notFoundReply, OPERATOR } from '../../support/operator-actions.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import { drainQueue, rowOf, storedEndpoint } from '../../support/webhook-builders.ts'

describe('send-test-event', () => {
  const send = (deps: TestDeps, { clientId, endpointId }: Endpoint, payload: object = {}) =>
    invokeAdmin(sendTestEvent, deps, { operator: OPERATOR, client_id: clientId, endpoint_id: endpointId, ...payload })

  it('delivers a signed gateway.test to that endpoint, whatever its event types', async () => {
    const deps = testDeps()
    const endpoint = await storedEndpoint(deps, { eventTypes: ['payment.failed'] })

    const { status, body } = await send(deps, endpoint)

    const delivery = body as { delivery_id: never; event_id: string }
    expect(status).toBe(200)
    expect(body).toStrictEqual({
      delivery_id: delivery.delivery_id,
      event_id: delivery.event_id,
      event: 'gateway.test',
      client_id: endpoint.clientId,
      endpoint_id: endpoint.endpointId,
      url: endpoint.url,
      status: 'scheduled',
      next_attempt_at: deps.now(),
      created_at: deps.now(),
      attempts: [],
    })
    await drainQueue(deps)
    expect(deps.webhooks).toHaveLength(1)
    expect(deps.webhooks[0]?.headers).toMatchObject({ 'X-Gateway-Event': 'gateway.test' })
    expect(JSON.parse(deps.webhooks[0]?.body.toString('utf8') ?? '')).toStrictEqual({
      event: 'gateway.test',
      event_id: delivery.event_id,
      timestamp: deps.now(),
      data: { client_id: endpoint.clientId, endpoint_id: endpoint.endpointId },
    })
    expect(await rowOf(deps, { deliveryId: delivery.delivery_id })).toMatchObject({ status: 'succeeded' })
    expect(await auditRecordsOf(deps, endpoint.endpointId)).toStrictEqual([
      {
        operator: OPERATOR,
        action: 'send-test-event',
        before: undefined,
        after: { delivery_id: delivery.delivery_id },
      },
    ])
  })

  it('refuses a disabled endpoint with a hint', async () => {
    const deps = testDeps()
    const endpoint = await storedEndpoint(deps, { enabled: false })

    expect(await send(deps, endpoint)).toMatchObject({
      status: 422,
      body: { message: 'the endpoint is disabled', action_hint: 'Enable it with update-endpoint, then try again.' },
    })
    expect(deps.sent).toStrictEqual([])
  })

  it.each([
    ['of another client', (endpoint: Endpoint) => ({ ...endpoint, clientId: aClientId() })],
    [
      'that is absent',
      (endpoint: Endpoint) => ({ ...endpoint, endpointId: crypto.randomUUID() as Endpoint['endpointId'] }),
    ],
  ])('answers 404 for an endpoint %s', async (_case, change) => {
    const deps = testDeps()
    const endpoint = await storedEndpoint(deps)

    expect(await send(deps, change(endpoint))).toStrictEqual(notFoundReply('endpoint'))
    expect(deps.sent).toStrictEqual([])
  })

  it('answers 404 for a deleted endpoint', async () => {
    const deps = testDeps()
    const endpoint = await storedEndpoint(deps, { enabled: false, deletedAt: deps.now() })

    expect(await send(deps, endpoint)).toStrictEqual(notFoundReply('endpoint'))
  })
})
