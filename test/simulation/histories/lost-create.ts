import { paymentIdForKey } from '../../../shared/ids.ts'
import { http } from '../scenes/http.ts'
import { observeCreate } from '../watching/observations.ts'
import { customerPays } from './customers.ts'
import { UNPAID } from './flood.ts'
import type { Play } from './operations.ts'

/**
 * The provider makes a request and its answer is lost; the merchant tries again and is shown another one. Then a customer
 * pays the first: the payment succeeds, and what it shows must not be paid a second time.
 */
export const payLostCreate = async (play: Play): Promise<void> => {
  const { world } = play
  const tenant = world.prng.pick(play.tenants)
  const key = `key-${play.keys++}`
  world.provider.orderFault({ target: 'create', fault: 'timeout_after_commit' })
  const asked = { headers: { 'idempotency-key': key }, body: JSON.stringify(UNPAID) }
  for (let tried = 0; tried < 2; tried++) {
    observeCreate(play.seen, tenant, key, await http(play, tenant, 'api-create-payment', asked))
  }
  const requests = world.provider.findPaymentRequests(paymentIdForKey(tenant.clientId, key))
  const [first] = requests
  if (first && requests.length > 1) customerPays(play, () => world.provider.simulatePayment(first.payment_request_id))
}
