import type { Deps } from '../deps.ts'

/**
 * Cancels a request that no customer should pay, best effort. If it is paid anyway, the money is
 * credited or held.
 */
export async function cancelOrphan(
  deps: Pick<Deps, 'provider' | 'log'>,
  paymentRequestId: string,
  paymentId: string,
): Promise<void> {
  const answer = await deps.provider.cancelRequest(paymentRequestId)
  deps.log.info('provider.orphan_cancelled', { payment_id: paymentId, outcome: answer.kind })
}
