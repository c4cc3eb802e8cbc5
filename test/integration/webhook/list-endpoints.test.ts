import { describe, expect, it } from 'vitest'
import { handler as listEndpoints } from '../../../functions/admin/list-endpoints.ts'
import type { ClientId } from '../../../shared/ids.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { aClientId } from '../../support/client-builders.ts'
import { invokeAdmin, notFoundReply, withClient } from '../../support/operator-actions.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'

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
    await storedEndpoint(deps, { clientId, enabled: false, deletedAt: deps.now() })
    await storedEndpoint(deps)

    const all = await list(deps, clientId)
    const second = await list(deps, clientId, { page: 2, per_page: 2 })

    const shown = endpoints.map((endpoint) => ({
      endpoint_id: endpoint.endpointId,
      client_id: clientId,
      url: endpoint.url,
      event_types: ['*'],
      enabled: endpoint.enabled,
      created_at: endpoint.createdAt,
    }))
    expect(all).toStrictEqual({ status: 200, body: { data: shown, pagination: { page: 1, per_page: 25 } } })
    expect(second.body).toStrictEqual({ data: shown.slice(2), pagination: { page: 2, per_page: 2 } })
  })

  it('answers 404 for an unknown client', async () => {
    expect(await list(testDeps(), aClientId())).toStrictEqual(notFoundReply('client'))
  })
})
