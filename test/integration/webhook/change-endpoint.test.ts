import { describe, expect, it } from 'vitest'
import { handler as deleteEndpoint } from '../../../functions/admin/delete-endpoint.ts'
import { handler as updateEndpoint } from '../../../functions/admin/update-endpoint.ts'
import { updateEndpoint as changeIt } from '../../../shared/webhook/endpoint/change-endpoint.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { findEndpoint } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { aClientId } from '../../support/client-builders.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { auditRecordsOf, invokeAdmin, notFoundReply, OPERATOR } from '../../support/operator-actions.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'

const stored = (deps: TestDeps, { clientId, endpointId }: Endpoint) => findEndpoint(deps, clientId, endpointId)

describe('update-endpoint', () => {
  const update = (deps: TestDeps, { clientId, endpointId }: Endpoint, payload: object) =>
    invokeAdmin(updateEndpoint, deps, { operator: OPERATOR, client_id: clientId, endpoint_id: endpointId, ...payload })

  it('changes what is given and records before and after', async () => {
    const deps = testDeps()
    const endpoint = await storedEndpoint(deps)

    const answer = await update(deps, endpoint, { enabled: false })
    deps.clock.advance(1)
    await update(deps, endpoint, { event_types: ['payment.expired'] })
    deps.clock.advance(1)
    await update(deps, endpoint, { event_types: ['payment.expired'], enabled: false })

    expect(answer).toMatchObject({ status: 200, body: { enabled: false, event_types: ['*'] } })
    expect(answer.body).not.toHaveProperty('signing_secret')
    expect(await stored(deps, endpoint)).toStrictEqual({
      ...endpoint,
      enabled: false,
      eventTypes: ['payment.expired'],
    })
    expect(await auditRecordsOf(deps, endpoint.endpointId)).toMatchObject([
      { operator: OPERATOR, action: 'update-endpoint', before: { enabled: true }, after: { enabled: false } },
      { before: { event_types: ['*'] }, after: { event_types: ['payment.expired'], enabled: false } },
    ])
  })

  it('refuses a change of nothing, and of the URL', async () => {
    const deps = testDeps()
    const endpoint = await storedEndpoint(deps)

    expect(await update(deps, endpoint, {})).toMatchObject({
      status: 422,
      body: { message: 'body: give enabled or event_types' },
    })
    expect(await update(deps, endpoint, { enabled: true, url: 'https://other.example' })).toMatchObject({ status: 422 })
    expect(await stored(deps, endpoint)).toStrictEqual(endpoint)
  })

  it.each([
    ['another client', (endpoint: Endpoint) => ({ ...endpoint, clientId: aClientId() })],
    ['nobody', (endpoint: Endpoint) => ({ ...endpoint, endpointId: crypto.randomUUID() as Endpoint['endpointId'] })],
    ['a wrong shape', (endpoint: Endpoint) => ({ ...endpoint, endpointId: 'x' as Endpoint['endpointId'] })],
  ])('answers the same 404 for an endpoint of %s', async (_case, change) => {
    const deps = testDeps()
    const endpoint = await storedEndpoint(deps)

    expect(await update(deps, change(endpoint), { enabled: false })).toStrictEqual(notFoundReply('endpoint'))
    expect(await stored(deps, endpoint)).toStrictEqual(endpoint)
  })

  it.each([
    ['enabled', { enabled: false }],
    ['event types', { event_types: ['payment.failed'] }],
  ])('refuses when another operator changes %s meanwhile, and writes no audit record', async (_case, theirs) => {
    const deps = testDeps()
    const endpoint = await storedEndpoint(deps)
    const racing = interceptTable(deps, {
      before: async ({ name }) => {
        if (name === 'transact') await update(deps, endpoint, theirs)
      },
    })

    const answer = await update(racing, endpoint, { event_types: ['payment.expired'], enabled: true })

    expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(await auditRecordsOf(deps, endpoint.endpointId)).toHaveLength(1)
    expect(await stored(deps, endpoint)).not.toMatchObject({ eventTypes: ['payment.expired'] })
  })

  it('refuses when the endpoint is deleted meanwhile', async () => {
    const deps = testDeps()
    const endpoint = await storedEndpoint(deps, { enabled: false })
    const { clientId, endpointId } = endpoint
    const racing = interceptTable(deps, {
      before: async ({ name }) => {
        if (name !== 'transact') return
        await invokeAdmin(deleteEndpoint, deps, { operator: OPERATOR, client_id: clientId, endpoint_id: endpointId })
      },
    })

    const change = { clientId, endpointId, operator: OPERATOR, enabled: true, eventTypes: undefined }
    await expect(changeIt(racing, change)).rejects.toThrow('changed by somebody else')
    expect(await stored(deps, endpoint)).toMatchObject({ enabled: false, deletedAt: deps.now() })
  })
})

describe('delete-endpoint', () => {
  const remove = (deps: TestDeps, { clientId, endpointId }: Endpoint) =>
    invokeAdmin(deleteEndpoint, deps, { operator: OPERATOR, client_id: clientId, endpoint_id: endpointId })

  it('leaves a tombstone, removes the secret and records it', async () => {
    const deps = testDeps()
    const endpoint = await storedEndpoint(deps)

    const answer = await remove(deps, endpoint)

    expect(answer).toMatchObject({ status: 200, body: { endpoint_id: endpoint.endpointId, enabled: false } })
    expect(await stored(deps, endpoint)).toStrictEqual({ ...endpoint, enabled: false, deletedAt: deps.now() })
    expect(deps.secretValues.size).toBe(0)
    expect(await auditRecordsOf(deps, endpoint.endpointId)).toMatchObject([
      { operator: OPERATOR, action: 'delete-endpoint' },
    ])
  })

  it('removes a secret that an earlier, interrupted call has left', async () => {
    const deps = testDeps()
    const endpoint = await storedEndpoint(deps)
    const dying = { ...deps, secrets: { ...deps.secrets, remove: async () => Promise.reject(new Error('died')) } }
    expect(await remove(dying, endpoint)).toMatchObject({ status: 500 })
    deps.clock.advance(60)

    expect(await remove(deps, endpoint)).toMatchObject({ status: 200 })

    expect(deps.secretValues.size).toBe(0)
    expect(await stored(deps, endpoint)).toMatchObject({ deletedAt: endpoint.createdAt })
    expect(await auditRecordsOf(deps, endpoint.endpointId)).toHaveLength(1)
  })

  it('answers 404 for another client and takes nothing', async () => {
    const deps = testDeps()
    const endpoint = await storedEndpoint(deps)

    expect(await remove(deps, { ...endpoint, clientId: aClientId() })).toStrictEqual(notFoundReply('endpoint'))
    expect(deps.secretValues.size).toBe(1)
    expect(await stored(deps, endpoint)).toStrictEqual(endpoint)
  })
})
