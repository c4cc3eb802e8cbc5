/** Codes of channels that are neither a wallet nor a bank of the tariff; `*` stands for any beginning. */
export const OTHER_CHANNELS: readonly string[] = ['QRIS', 'CARDS', 'ALFAMART', 'INDOMARET', '*_VIRTUAL_ACCOUNT']

/**
 * True for a code that at the provider is another kind of channel than a wallet. Any other code of the right form is
 * taken for a wallet (spec 2.1.1), and must not open a virtual account or a card form instead.
 */
export const isOtherChannel = (code: string): boolean =>
  OTHER_CHANNELS.some((other) => (other.startsWith('*') ? code.endsWith(other.slice(1)) : code === other))
