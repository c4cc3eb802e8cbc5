import type { Seen } from '../../support/recount/books.ts'
import { mustHear } from '../scenes/change-endpoints.ts'
import { CALLBACK_TOKEN, PROVIDER_KEY, type World } from '../world/world.ts'
import type { Play } from './operations.ts'

/**
 * What the provider has captured, as far as anybody could know: of one whose row is never shown nothing tells but its
 * callback, once another capture stands in its request, or its payment has its money through another request.
 */
const captured = ({ provider, table, unshownRows }: World): ReadonlyMap<string, number> => {
  const requests = provider.findPaymentRequests('')
  const isAskedFor = (id: string): boolean => {
    const request = requests.find(({ latest_payment_id: latest }) => latest === id)
    const pk = `PAYMENT#${request?.reference_id.slice(0, 36)}`
    const credited = table.item({ pk, sk: 'PAYMENT' })?.['credited_provider_payment_id']
    return request !== undefined && (credited === undefined || credited === id)
  }
  const known = provider.capturedPayments().filter(({ id }) => !unshownRows.has(id) || isAskedFor(id))
  return new Map(known.map(({ id, amount }) => [id, amount]))
}

export const seenBy = ({ world, tenants, seen }: Play): Seen => ({
  webhooks: world.merchants.received,
  secretOfUrl: new Map(tenants.flatMap(({ endpoints }) => endpoints.map(({ url, secret }) => [url, secret] as const))),
  captured: captured(world),
  turned: world.provider.turnedPayments(),
  bookedBack: world.bookedBack,
  endpointsOfClient: new Map(
    tenants.map(({ clientId, endpoints }) => [clientId, endpoints.map(({ endpointId }) => endpointId)]),
  ),
  mustHear: (endpointId, event) => mustHear(tenants, endpointId, event),
  destinationsOfKey: seen.destinations,
  paymentsOfKey: seen.paymentsOfKey,
  logLines: world.logLines,
  digestBlock: world.historySteps.block,
  confidential: [
    PROVIDER_KEY,
    CALLBACK_TOKEN,
    ...tenants.flatMap(({ apiKey, formerKeys, personal, endpoints }) => [
      apiKey,
      ...formerKeys,
      ...Object.values(personal),
      ...endpoints.map(({ secret }) => secret),
    ]),
  ],
})
