import type { Deps } from '../deps.ts'
import { PROVIDER_READ_TIMEOUT_MS } from '../provider/provider.ts'

/** Cancels a request that no customer should pay, best effort. If it is paid anyway, the money is credited or held. */
export const cancelOrphan = async (
  deps: Pick<Deps, 'provider' | 'log'>,
  paymentRequestId: string,
  paymentId: string,
): Promise<void> => {
  const answer = await deps.provider.cancelRequest(paymentRequestId, PROVIDER_READ_TIMEOUT_MS)
  deps.log.info('provider.orphan_cancelled', { payment_id: paymentId, outcome: answer.kind })
}
