import { assertNever } from '../../errors.ts'
import type { CreateRequestInput } from '../provider.ts'

/** A step of the provider's answer; unknown ones are passed over. */
export type Action = { readonly descriptor?: string | undefined; readonly value?: string | undefined }

/** What the provider calls a channel. */
export const providerCodeOf = ({ method, channelCode = '' }: Pick<CreateRequestInput, 'method' | 'channelCode'>) => {
  switch (method) {
    case 'qris':
      return 'QRIS'
    case 'virtual_account':
      return `${channelCode}_VIRTUAL_ACCOUNT`
    case 'ewallet':
      return channelCode
    default:
      return assertNever(method)
  }
}

/** `channel_properties` of a create call. */
export const channelProperties = ({
  displayName,
  expiresAt,
  phone,
  returnUrls,
}: CreateRequestInput): Record<string, string> => ({
  ...(displayName !== undefined && { display_name: displayName }),
  ...(expiresAt && { expires_at: expiresAt }),
  ...(phone !== undefined && { account_mobile_number: phone }),
  ...Object.fromEntries(Object.entries(returnUrls).map(([outcome, url]) => [`${outcome}_return_url`, url])),
})

const ACCOUNT_NUMBER = /^\d{6,20}$/

/**
 * What the customer is shown (spec 2.1.2), chosen by descriptor since actions come in any order. Undefined when no action
 * fits the channel.
 */
export const destinationOf = (channelCode: string, actions: readonly Action[]): string | undefined => {
  const valueOf = (...descriptors: readonly string[]) =>
    descriptors.map((descriptor) => actions.find((action) => action.descriptor === descriptor)?.value).find(Boolean)
  if (channelCode === 'QRIS') return valueOf('QR_STRING')
  if (channelCode.endsWith('_VIRTUAL_ACCOUNT')) {
    const number = valueOf('VIRTUAL_ACCOUNT_NUMBER')
    return number !== undefined && ACCOUNT_NUMBER.test(number) ? number : undefined
  }
  // A link into the wallet's app serves where there is no page to open.
  const url = valueOf('WEB_URL', 'DEEPLINK_URL')
  return url !== undefined && isLink(url) ? url : undefined
}

// The customer's browser will follow it: it may open a page or an app, never run code.
const isLink = (text: string) =>
  URL.canParse(text) && !['javascript:', 'data:', 'vbscript:', 'file:'].includes(new URL(text).protocol)
