/** The pages that the customer's browser opens after the payment. */
export type ReturnUrls = { readonly [Outcome in 'success' | 'failure' | 'cancel']?: string }
