/** How a customer pays (spec 2.1). */
export const PAYMENT_METHODS = ['virtual_account', 'ewallet', 'qris'] as const
export type PaymentMethod = (typeof PAYMENT_METHODS)[number]

export const isPaymentMethod = (text: string | undefined): text is PaymentMethod =>
  PAYMENT_METHODS.some((method) => method === text)
