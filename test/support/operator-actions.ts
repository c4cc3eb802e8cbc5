import { auditRecordPk } from '../../shared/table/keys.ts'
import type { Endpoint } from '../../shared/webhook/endpoint/endpoint.ts'
import { findEndpoint } from '../../shared/webhook/endpoint/endpoint-store.ts'
import { registerClient } from './client-builders.ts'
import { type Overrides, type TestDeps, testDeps } from './test-deps.ts'

export const OPERATOR = 'sari@gateway.example'

/** A table with a client in it. */
export const withClient = async (overrides: Overrides = {}) => {
  const deps = testDeps(overrides)
  const { clientId } = await registerClient(deps)
  return { deps, clientId }
}

/** The audit records of a thing, oldest first. */
export const auditRecordsOf = async (deps: TestDeps, subject: string) => {
  const { items } = await deps.table.query({ partition: [auditRecordPk(subject)], limit: 50 })
  return items.map(({ operator, action, before, after }) => ({ operator, action, before, after }))
}

export const storedEndpointOf = (deps: TestDeps, { clientId, endpointId }: Endpoint) =>
  findEndpoint(deps, clientId, endpointId)

export const notFoundReply = (what: string) => ({
  status: 404,
  body: { message: `${what} not found`, code: 'not_found' },
})
