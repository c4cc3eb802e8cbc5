import type { ChannelChoice } from './channels.ts'

/** Mobile numbers of Indonesia. The provider refuses other numbers of the country. */
export const PHONE_FORM = /^\+628\d{7,11}$/

/** How the customer pays: by a number or a code, on a page, or in answer to a push. */
export type Flow = 'present' | 'redirect' | 'push'

/** What the provider says about one channel, on its pages. */
export type ChannelFacts = {
  readonly flow: Flow
  /** The least and the most rupiah of one payment. */
  readonly amounts: { readonly least: number; readonly most: number }
  /** How the provider's dashboard gives money back, and for how many days. */
  readonly refund: { readonly by: 'dashboard' | 'transfer'; readonly days?: number }
  /** Where a dispute is told: by callback and API, or by e-mail. */
  readonly dispute: 'callback' | 'email'
  /** The pages: of the limits, and of refunds. */
  readonly source: string
  readonly readOn: string
}

const MILLION = 1_000_000
const PAGE = { source: 'docs.xendit.co/docs/available-payment-methods', readOn: '2026-09-30' }

/** By the name that merchants use, and QRIS. */
export const CHANNEL_FACTS: Readonly<Record<string, ChannelFacts>> = {
  BCA: bank(10_000, 50 * MILLION),
  BNI: bank(1, 50 * MILLION),
  BRI: bank(1, 50_000 * MILLION),
  MANDIRI: bank(1, 50_000 * MILLION),
  PERMATA: bank(1, 9_999_999_999),
  OVO: { ...wallet(100, 20 * MILLION, 14), flow: 'push' },
  DANA: wallet(100, 20 * MILLION, 30),
  LINKAJA: wallet(1, 20 * MILLION, 30),
  SHOPEEPAY: wallet(1, 20 * MILLION, 365),
  GOPAY: wallet(1, 50 * MILLION, 45),
  // The provider's page of QRIS says 10,000,000.
  QRIS: { ...wallet(1, 20 * MILLION, 7), flow: 'present', dispute: 'callback' },
}

/** Undefined for a wallet outside the table. */
export function channelFactsOf({ method, channelCode }: ChannelChoice): ChannelFacts | undefined {
  const name = method === 'qris' ? 'QRIS' : (channelCode ?? '')
  return Object.hasOwn(CHANNEL_FACTS, name) ? CHANNEL_FACTS[name] : undefined
}

/** The provider cannot give back a transfer to a virtual account. */
function bank(least: number, most: number): ChannelFacts {
  return {
    flow: 'present',
    amounts: { least, most },
    refund: { by: 'transfer' },
    dispute: 'email',
    ...PAGE,
  }
}

function wallet(least: number, most: number, days: number): ChannelFacts {
  return {
    flow: 'redirect',
    amounts: { least, most },
    refund: { by: 'dashboard', days },
    dispute: 'email',
    ...PAGE,
  }
}
