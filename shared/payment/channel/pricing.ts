import { assertInvariant } from '../../errors.ts'
import { bpsFloor, less, type Minor, minor, plus } from '../../money.ts'
import type { Timestamp } from '../../time.ts'
import { type ChannelChoice, channelOf, inForce, MARKUPS } from './channels.ts'

export type Pricing = { readonly providerFeeMinor: Minor; readonly markupMinor: Minor; readonly netMinor: Minor }

/** What the client gets once a fee is known: notional - fee - markup. Negative for tiny amounts; credited as is. */
export const netOf = (notionalMinor: Minor, providerFeeMinor: Minor, markupMinor: Minor): Minor =>
  less(less(notionalMinor, providerFeeMinor), markupMinor)

/** The estimate of spec 2.1.1 by the tariff in force: percentages rounded down, in integers. */
export const estimatePricing = (payment: ChannelChoice & { readonly notionalMinor: Minor }, at: Timestamp): Pricing => {
  const { notionalMinor } = payment
  const tariff = inForce(channelOf(payment).tariffs, at)
  const markup = inForce(MARKUPS, at)
  assertInvariant(tariff !== undefined, 'a channel without a tariff in force passed validation')
  assertInvariant(markup !== undefined, 'no markup is in force')
  const providerFeeMinor = plus(bpsFloor(notionalMinor, tariff.bps), minor(tariff.flatMinor))
  const markupMinor = bpsFloor(notionalMinor, markup.bps)
  return { providerFeeMinor, markupMinor, netMinor: netOf(notionalMinor, providerFeeMinor, markupMinor) }
}
