import { assertInvariant, assertNever } from '../../errors.ts'
import { isOtherChannel } from '../other-channel.ts'
import type { CreateRequestInput } from '../provider.ts'

/** How a channel lets its customer pay, which decides what an answer must hold to be shown. */
type Presentation = 'virtual_account_number' | 'qr_string' | 'redirect' | 'push'

/** A step of the provider's answer; unknown ones are passed over. */
export type Action = { readonly descriptor?: string | undefined; readonly value?: string | undefined }

const VIRTUAL_ACCOUNT_SUFFIX = '_VIRTUAL_ACCOUNT'
const QRIS = 'QRIS'

/** Wallets that call the customer's phone and have nothing to show. */
const PUSH_WALLETS: ReadonlySet<string> = new Set(['OVO'])

/** Return URLs a wallet knows; a property it does not know can be refused. */
const RETURN_URLS: ReadonlyMap<string, readonly string[]> = new Map([
  ['GOPAY', ['success_return_url', 'failure_return_url', 'cancel_return_url']],
])
const DEFAULT_RETURN_URLS: readonly string[] = ['success_return_url', 'failure_return_url']

/**
 * The provider's code of a channel. Undefined for an e-wallet code that at the provider means something else: requests
 * with one are refused today, but an older release may have stored one that is still to be created.
 */
export const providerChannelCode = ({
  method,
  channelCode = '',
}: Pick<CreateRequestInput, 'method' | 'channelCode'>): string | undefined => {
  switch (method) {
    case 'virtual_account':
      return `${channelCode}${VIRTUAL_ACCOUNT_SUFFIX}`
    case 'qris':
      return QRIS
    case 'ewallet':
      return channelCode === '' || isOtherChannel(channelCode) ? undefined : channelCode
    default:
      return assertNever(method)
  }
}

const presentationOf = (providerCode: string): Presentation => {
  if (providerCode.endsWith(VIRTUAL_ACCOUNT_SUFFIX)) return 'virtual_account_number'
  if (providerCode === QRIS) return 'qr_string'
  return PUSH_WALLETS.has(providerCode) ? 'push' : 'redirect'
}

/** `channel_properties` of a create call. QRIS and wallets take no expiry: the gateway enforces theirs. */
export const channelProperties = (providerCode: string, input: CreateRequestInput): Record<string, string> => {
  const presentation = presentationOf(providerCode)
  switch (presentation) {
    case 'virtual_account_number':
      return { display_name: input.displayName, ...(input.expiresAt && { expires_at: input.expiresAt }) }
    case 'qr_string':
      return {}
    case 'push':
      assertInvariant(input.phone !== undefined, 'a push wallet is asked for without a phone')
      return { account_mobile_number: input.phone }
    case 'redirect': {
      const names = RETURN_URLS.get(providerCode) ?? DEFAULT_RETURN_URLS
      return Object.fromEntries(names.map((name) => [name, input.returnUrl]))
    }
    default:
      return assertNever(presentation)
  }
}

const ACCOUNT_NUMBER = /^\d{6,20}$/

/**
 * What the customer is shown (spec 2.1.2), chosen by descriptor since actions come in any order; empty for a push
 * wallet. Undefined when no action fits the channel.
 */
export const destinationOf = (providerCode: string, actions: readonly Action[]): string | undefined => {
  const valueOf = (...descriptors: readonly string[]) =>
    descriptors.map((descriptor) => actions.find((action) => action.descriptor === descriptor)?.value).find(Boolean)
  const presentation = presentationOf(providerCode)
  switch (presentation) {
    case 'virtual_account_number': {
      const number = valueOf('VIRTUAL_ACCOUNT_NUMBER')
      return number !== undefined && ACCOUNT_NUMBER.test(number) ? number : undefined
    }
    case 'qr_string':
      return valueOf('QR_STRING')
    case 'push':
      return ''
    case 'redirect': {
      // A link into the wallet's app serves where there is no page to open.
      const url = valueOf('WEB_URL', 'DEEPLINK_URL')
      return url !== undefined && isLink(url) ? url : undefined
    }
    default:
      return assertNever(presentation)
  }
}

// The customer's browser will follow it: it may open a page or an app, never run code.
const isLink = (text: string) =>
  URL.canParse(text) && !['javascript:', 'data:', 'vbscript:', 'file:'].includes(new URL(text).protocol)
