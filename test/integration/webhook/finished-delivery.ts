import { handler } from '../../../functions/admin/redeliver.ts'
import type { ClientId } from '../../../shared/ids.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { API, anApi, call } from '../../support/api-event.ts'
import { invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import { ABANDONED, dueAtOf, storedDelivery, storedEndpoint, storedEvent } from '../../support/webhook-builders.ts'

export const redeliver = (deps: TestDeps, clientId: ClientId, payload: object) =>
  invokeAdmin(handler, deps, { operator: OPERATOR, client_id: clientId, ...payload })

/** A delivery that has ended, and how an operator and its merchant ask for it again. */
export const aFinished = async (overrides: Partial<Delivery> = ABANDONED, deps = testDeps()) => {
  const { caller } = await anApi({}, deps)
  const { clientId } = caller
  const endpoint = await storedEndpoint(deps, { clientId })
  const event = await storedEvent(deps, { clientId })
  const delivery = await storedDelivery(deps, endpoint, overrides, event)
  const { deliveryId: id } = delivery
  const byOperator = (as = deps) => redeliver(as, clientId, { delivery_id: id })
  const byMerchant = async (as = deps) => {
    const { status, body } = await call(as, API.redeliverWebhook, { caller, id })
    return { status, body }
  }
  const due = (kind: 'alert' | 'delivery') => dueAtOf(deps, kind, id)
  const dueTimes = async () => ({ alert: await due('alert'), delivery: await due('delivery') })
  return { deps, caller, endpoint, event, delivery, byOperator, byMerchant, dueTimes }
}

/** What each of the two is told; records are of operators, and kept for ever. */
export const ASKING = {
  byOperator: {
    records: 1,
    wait: 'Wait for its remaining attempts; list-deliveries shows them.',
    deleted: 'the endpoint is deleted',
  },
  byMerchant: { records: 0, wait: 'Wait for its remaining attempts.', deleted: 'the endpoint is disabled' },
} as const
export type Asking = keyof typeof ASKING
