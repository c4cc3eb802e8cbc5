import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import type { TestDeps } from '../../support/test-deps.ts'

export const FAILED = 'payment.failed'

export const ACTIONS = {
  'update-endpoint': (deps: TestDeps, endpoint: Endpoint, change: object = { enabled: false }) =>
    invokeAdmin('update-endpoint', deps, { ...payloadFor(endpoint), ...change }),
  'delete-endpoint': (deps: TestDeps, endpoint: Endpoint) =>
    invokeAdmin('delete-endpoint', deps, payloadFor(endpoint)),
  'send-test-event': (deps: TestDeps, endpoint: Endpoint) =>
    invokeAdmin('send-test-event', deps, payloadFor(endpoint)),
}

export const {
  'update-endpoint': update,
  'delete-endpoint': remove,
  'send-test-event': send,
} = ACTIONS

function payloadFor({ clientId: client_id, endpointId: endpoint_id }: Endpoint) {
  return { operator: OPERATOR, client_id, endpoint_id }
}
