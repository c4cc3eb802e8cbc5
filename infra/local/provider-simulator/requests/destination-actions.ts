import type { Channel } from '../channels.ts'
import { ProviderError } from '../provider-error.ts'
import type { Action } from '../provider-objects.ts'
import { nextInSequence, type World } from '../world.ts'
import { qrisString } from './qris-string.ts'

export type DestinationInput = {
  readonly requestId: string
  readonly amount: number
  readonly channelProperties: Readonly<Record<string, string>>
}

/** What the payer is shown or sent to; none for a push channel. */
export const destinationActions = (world: World, channel: Channel, input: DestinationInput): Action[] => {
  const { requestId, amount, channelProperties } = input
  switch (channel.destination) {
    case 'virtual_account_number':
      return [present('VIRTUAL_ACCOUNT_NUMBER', accountNumber(world, channel, channelProperties))]
    case 'qr_string':
      return [present('QR_STRING', qrisString(amount, referenceLabel(requestId)))]
    case 'checkout_url':
      return [{ type: 'REDIRECT_CUSTOMER', descriptor: 'WEB_URL', value: `${world.baseUrl()}/checkout/${requestId}` }]
    case 'push':
      return []
    default:
      return channel.destination satisfies never
  }
}

const present = (descriptor: 'VIRTUAL_ACCOUNT_NUMBER' | 'QR_STRING', value: string): Action => ({
  type: 'PRESENT_TO_CUSTOMER',
  descriptor,
  value,
})

// The tag holds 25 characters, fewer than an id has: its end tells more ids apart than its fixed beginning.
const referenceLabel = (requestId: string) =>
  requestId
    .replaceAll(/[^0-9A-Za-z]/g, '')
    .toUpperCase()
    .slice(-25)

const accountNumber = (world: World, channel: Channel, properties: DestinationInput['channelProperties']) => {
  const { prefix, length } = channel.virtualAccount ?? { prefix: '', length: 16 }
  const wanted = properties['virtual_account_number']
  if (wanted === undefined) return prefix + scattered(nextInSequence(world, 'virtual_account'), length - prefix.length)
  if (wanted.length !== length || !wanted.startsWith(prefix) || !/^\d+$/.test(wanted)) {
    throw new ProviderError(
      'VIRTUAL_ACCOUNT_NUMBER_OUTSIDE_RANGE',
      `${prefix} and ${length} digits in all are required`,
    )
  }
  return wanted
}

// Multiplying by a number that shares no factor with 10 walks through every value of `digits` digits exactly once:
// the numbers look unrelated, and two requests never get the same one.
const scattered = (ordinal: number, digits: number) =>
  String((BigInt(ordinal) * 6_180_339_887n + 1_234_567n) % 10n ** BigInt(digits)).padStart(digits, '0')
