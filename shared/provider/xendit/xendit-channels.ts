type Action = { readonly descriptor?: string | undefined; readonly value?: string | undefined }

/** The destination that the customer sees (spec 2.1.2). Undefined if no action fits the channel. */
export function destinationOf(channelCode: string, actions: readonly Action[]): string | undefined {
  const valueOf = (...descriptors: readonly string[]) =>
    descriptors
      .map((descriptor) => actions.find((action) => action.descriptor === descriptor)?.value)
      .find(Boolean)
  if (channelCode === 'QRIS') return valueOf('QR_STRING')
  if (channelCode.endsWith('_VIRTUAL_ACCOUNT')) {
    const number = valueOf('VIRTUAL_ACCOUNT_NUMBER')
    return number !== undefined && /^\d{6,20}$/.test(number) ? number : undefined
  }
  // Without a web page a link into the wallet's app is used.
  const url = valueOf('WEB_URL', 'DEEPLINK_URL')
  if (url === undefined || !URL.canParse(url)) return undefined
  // The customer's browser opens it: a page or an app is allowed, code is not.
  return ['javascript:', 'data:', 'vbscript:', 'file:'].includes(new URL(url).protocol)
    ? undefined
    : url
}

/** Neither a wallet nor a bank of the tariff; `*` stands for any prefix. */
export const OTHER_CHANNELS: readonly string[] = [
  'QRIS',
  'CARDS',
  'ALFAMART',
  'INDOMARET',
  'KREDIVO',
  'AKULAKU',
  'INDODANA',
  '*_VIRTUAL_ACCOUNT',
  '*_DIRECT_DEBIT',
]

export function isNonWalletCode(code: string): boolean {
  return OTHER_CHANNELS.some((pattern) =>
    pattern.startsWith('*') ? code.endsWith(pattern.slice(1)) : code === pattern,
  )
}
