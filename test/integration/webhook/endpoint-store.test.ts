import { describe, expect, it } from 'vitest'
import { findEndpoint, insertEndpoint } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { testDeps } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'

describe('insertEndpoint', () => {
  it('refuses the id of an endpoint that is there, deleted ones too, and leaves that one as it is', async () => {
    const deps = testDeps()
    const live = await storedEndpoint(deps)
    const deleted = await storedEndpoint(deps, { enabled: false, deletedAt: deps.now() })

    for (const endpoint of [live, deleted]) {
      const { applied } = await deps.table.write(insertEndpoint({ ...endpoint, url: 'https://other.example/' }))

      expect(applied).toBe(false)
      expect(await findEndpoint(deps, endpoint.clientId, endpoint.endpointId)).toStrictEqual(endpoint)
    }
  })
})
