/** Codes of channels that are neither a wallet nor a bank of the tariff; `*` stands for any prefix. */
export const OTHER_CHANNELS: readonly string[] = ['QRIS', 'CARDS', 'ALFAMART', 'INDOMARET', '*_VIRTUAL_ACCOUNT']

/**
 * True for a provider code that is no wallet. Any other code of the right form counts as a wallet (spec 2.1.1). A code
 * of this list must not open a virtual account or a card form.
 */
export const isOtherChannel = (code: string): boolean =>
  OTHER_CHANNELS.some((other) => (other.startsWith('*') ? code.endsWith(other.slice(1)) : code === other))
