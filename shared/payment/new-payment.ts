import { ZERO } from '../money.ts'
import type { Timestamp } from '../time.ts'
import { isPushChannel } from './channel/channels.ts'
import { estimatePricing } from './channel/pricing.ts'
import type { CreatingPayment, Payment } from './payment.ts'

/** The visible payment that a claimed one becomes once the provider's request is known. */
export const newPayment = (
  creating: CreatingPayment,
  upstream: { readonly paymentRequestId: string; readonly destination: string | undefined },
  times: { readonly createdAt: Timestamp; readonly expiresAt: Timestamp | undefined },
): Payment => {
  const { request } = creating
  return {
    paymentId: creating.paymentId,
    clientId: creating.clientId,
    provider: creating.provider,
    part: creating.part,
    attempt: creating.attempt,
    providerAttempts: creating.providerAttempts,
    status: 'pending',
    method: request.method,
    channelCode: request.channelCode,
    notionalMinor: request.notionalMinor,
    ...estimatePricing(request, times.createdAt),
    feeStatus: 'estimated',
    currency: request.currency,
    externalReference: request.externalReference,
    customer: request.customer,
    description: request.description,
    metadata: request.metadata,
    // A push has nothing to show.
    paymentDestination: isPushChannel(request) ? '' : (upstream.destination ?? ''),
    paymentRequestId: upstream.paymentRequestId,
    createdAt: times.createdAt,
    expiresAt: times.expiresAt,
    transitions: [{ status: 'pending', at: times.createdAt, source: 'create' }],
    takenBackMinor: ZERO,
    movements: [],
    rememberedProviderPaymentIds: creating.rememberedProviderPaymentIds,
  }
}
