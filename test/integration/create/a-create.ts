import { paymentIdForKey } from '../../../shared/ids.ts'
import type { PaymentRequest } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aRequest, aStoredClient, create } from '../../support/payment-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

/** A new client's create with one idempotency key, which a test may repeat, and its stored items. */
export const aCreate = async (fields: Partial<PaymentRequest> = {}, deps = testDeps()) => {
  const client = await aStoredClient(deps)
  const paymentId = paymentIdForKey(client.clientId, 'key-1')
  return {
    deps,
    client,
    paymentId,
    make: (as = deps, request = aRequest(fields)) => create(as, client, request, 'key-1'),
    stored: () => findStoredPayment(deps, paymentId),
    ledger: () => ledgerView(deps, client.clientId),
    /** How often the provider was asked to create something. */
    asked: () => deps.provider.countOf('createRequest'),
    /** The statuses of its requests at the provider, oldest first. */
    upstream: () => [...deps.provider.requests.values()].map(({ status }) => status),
  }
}
