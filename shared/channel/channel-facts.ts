/** Mobile numbers of Indonesia. The provider refuses other numbers of the country. */
export const PHONE_FORM = /^\+628\d{7,11}$/

/** What a bank shows the payer. The provider refuses other names. */
export const PAYER_NAME = /^[A-Za-z][A-Za-z ]{2,49}$/

/** What the provider's pages say about one channel. */
export type ChannelFacts = {
  /** How the customer pays: by a number or a code, on a page, or in answer to a push. */
  readonly flow: 'present' | 'redirect' | 'push'
  /** The least and the most rupiah of one payment. */
  readonly amounts: { readonly least: number; readonly most: number }
  /** What gives money back: the provider's dashboard within a time, or a transfer. */
  readonly refund:
    | { readonly by: 'dashboard'; readonly within: string }
    | { readonly by: 'transfer' }
  /** Where the provider tells of a dispute. */
  readonly dispute: 'callback' | 'email'
  /** The page of the limits and of refunds. */
  readonly source: string
  readonly readOn: string
}

export const MILLION = 1_000_000

const PAGE = { source: 'docs/available-payment-methods', readOn: '2026-09-30' } as const

/** The provider cannot give back a transfer to a virtual account. */
export function bankFacts(least: number, most: number): ChannelFacts {
  const amounts = { least, most }
  return { flow: 'present', amounts, refund: { by: 'transfer' }, dispute: 'email', ...PAGE }
}

export function walletFacts(
  least: number,
  most: number,
  within: string,
  flow: ChannelFacts['flow'] = 'redirect',
): ChannelFacts {
  const refund = { by: 'dashboard', within } as const
  return { flow, amounts: { least, most }, refund, dispute: 'email', ...PAGE }
}
