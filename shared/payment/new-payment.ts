import { type ChannelChoice, channelOf, isPushChannel, MARKUPS } from '../channel/channels.ts'
import { bpsFloor, type Minor, minor, netOf, plus, ZERO } from '../money.ts'
import { entryInForce, type Timestamp } from '../time.ts'
import type { CreatingPayment, Payment } from './payment.ts'

export function newPayment(
  creating: CreatingPayment,
  upstream: { readonly paymentRequestId: string; readonly destination: string | undefined },
  times: { readonly createdAt: Timestamp; readonly expiresAt: Timestamp | undefined },
): Payment {
  const { expiresInSeconds: _, ...request } = creating.request
  return {
    paymentId: creating.paymentId,
    clientId: creating.clientId,
    keyDigest: creating.keyDigest,
    provider: creating.provider,
    attempt: creating.attempt,
    providerAttempts: creating.providerAttempts,
    status: 'pending',
    ...request,
    ...estimatePricing(request, times.createdAt),
    feeStatus: 'estimated',
    // A push has nothing to show.
    paymentDestination: isPushChannel(request) ? '' : (upstream.destination ?? ''),
    paymentRequestId: upstream.paymentRequestId,
    ...times,
    erasedAt: creating.erasedAt,
    transitions: [{ status: 'pending', at: times.createdAt, source: 'create' }],
    takenBackMinor: ZERO,
    movements: [],
    rememberedProviderPaymentIds: creating.rememberedProviderPaymentIds,
  }
}

export type Pricing = {
  readonly providerFeeMinor: Minor
  readonly markupMinor: Minor
  readonly netMinor: Minor
}

/** The estimate of spec 2.1.1 by the tariff in force: percentages rounded down, in integers. */
export function estimatePricing(
  payment: ChannelChoice & { readonly notionalMinor: Minor },
  at: Timestamp,
): Pricing {
  const { notionalMinor } = payment
  const tariff = entryInForce(channelOf(payment).tariffs, at)
  const providerFeeMinor = plus(bpsFloor(notionalMinor, tariff.bps), minor(tariff.flatMinor))
  const markupMinor = bpsFloor(notionalMinor, entryInForce(MARKUPS, at).bps)
  return {
    providerFeeMinor,
    markupMinor,
    netMinor: netOf(notionalMinor, providerFeeMinor, markupMinor),
  }
}
