import type { StatedPayment } from './statement-page.ts'

/** A payment behind a settlement as operators see it (design section 7). */
export const toStatementLineDto = (payment: StatedPayment) => ({
  payment_id: payment.id,
  paid_at: payment.paidAt,
  gross_minor: payment.notionalMinor,
  xendit_fee_minor: payment.providerFeeMinor,
  hexolus_markup_minor: payment.markupMinor,
  net_minor: payment.netMinor,
  fee_status: payment.feeStatus,
  provider_settled_at: payment.providerSettledAt ?? null,
  reinstated_at: payment.reinstatedAt ?? null,
})

const COLUMNS = [
  'payment_id',
  'paid_at',
  'gross_minor',
  'xendit_fee_minor',
  'hexolus_markup_minor',
  'net_minor',
  'fee_status',
  'provider_settled_at',
  'reinstated_at',
] as const satisfies readonly (keyof ReturnType<typeof toStatementLineDto>)[]

/** Ids, numbers and times only: nothing in a line needs quoting. The header is on the first page. */
export const toCsv = (payments: readonly StatedPayment[], withHeader: boolean): string => {
  const lines = payments.map((payment) => {
    const line = toStatementLineDto(payment)
    return COLUMNS.map((column) => line[column] ?? '').join(',')
  })
  return [...(withHeader ? [COLUMNS.join(',')] : []), ...lines].map((line) => `${line}\n`).join('')
}
