import type { Suspense } from './suspense.ts'

/** A suspense item as operators see it (design section 7). */
export const toSuspenseDto = (item: Suspense) => ({
  suspense_id: item.suspenseId,
  kind: item.kind,
  cause: item.cause,
  amount_minor: item.amountMinor ?? null,
  payment_id: item.paymentId ?? null,
  provider_payment_id: item.providerPaymentId ?? null,
  status: item.status,
  created_at: item.createdAt,
  resolution: item.resolution ?? null,
  notes: item.notes ?? null,
})
