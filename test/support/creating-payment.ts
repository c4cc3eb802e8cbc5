import { paymentIdForKey } from '../../shared/ids.ts'
import type { CreatingPayment } from '../../shared/payment/payment.ts'
import { claimPayment } from '../../shared/payment/payment-store.ts'
import { addMs } from '../../shared/time.ts'
import { aRequest, aStoredClient } from './payment-builders.ts'
import { testDeps } from './test-deps.ts'

export const LEASE_MS = 30_000

/** A first attempt that nobody has heard of yet: what changes in `aCreating`. */
export const FIRST_ATTEMPT = { attempt: 1, leaseUntil: undefined, providerAttempts: [], mayExistUpstream: false }

/** A payment whose second attempt is under way. */
export const aCreating = async (fields: Partial<CreatingPayment> = {}) => {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const creating: CreatingPayment = {
    paymentId: paymentIdForKey(client.clientId, 'key-1'),
    clientId: client.clientId,
    status: 'creating',
    request: aRequest(),
    attempt: 2,
    claimedAt: deps.now(),
    leaseUntil: addMs(deps.now(), LEASE_MS),
    providerAttempts: [{ number: 2, startedAt: deps.now(), outcome: 'started' }],
    mayExistUpstream: true,
    ...fields,
  }
  await claimPayment(deps, creating)
  return { deps, client, creating }
}
