import { assertInvariant } from '../../errors.ts'
import { addMs, earlier, HOUR_MS, MINUTE_MS, SECOND_MS, type Timestamp } from '../../time.ts'
import { type ChannelChoice, channelOf, inForce } from './channels.ts'

const timingAt = (channel: ChannelChoice, at: Timestamp) => {
  const timing = inForce(channelOf(channel).timings, at)
  assertInvariant(timing !== undefined, 'no timing is in force')
  return timing
}

/** When a payment made now expires: the earlier of the client's wish and the channel's own, which we enforce. */
export const expiryOf = (channel: ChannelChoice, now: Timestamp, expiresInSeconds: number | undefined) => {
  const { expiryMs, settable } = timingAt(channel, now)
  const own = addMs(now, expiryMs)
  const wished = expiresInSeconds ? addMs(now, expiresInSeconds * SECOND_MS) : undefined
  const expiresAt = wished === undefined ? own : settable ? wished : earlier(wished, own)
  return { expiresAt, sentUpstream: settable ? expiresAt : undefined }
}

/** When the provider is asked again when a question had no answer, or a payment is past its expiry. */
export const RETRY_CHECK_MS = 2 * MINUTE_MS

/** When a payment is looked at whose cancel may have been lost half-way: behind the request, and within a minute. */
export const CANCEL_CHECK_MS = 30 * SECOND_MS

type Checked = ChannelChoice & { readonly createdAt: Timestamp; readonly expiresAt?: Timestamp | undefined }

/** When due work looks at a pending payment next: the channel's ages, then hourly, and at the expiry. */
export const nextCheckAt = (payment: Checked, now: Timestamp): Timestamp => {
  const { checkAgesMs, graceMs } = timingAt(payment, payment.createdAt)
  const byAge = checkAgesMs.map((age) => addMs(payment.createdAt, age)).find((at) => at > now) ?? addMs(now, HOUR_MS)
  if (payment.expiresAt === undefined) return byAge
  const atExpiry = addMs(payment.expiresAt, graceMs)
  if (atExpiry <= now) return addMs(now, RETRY_CHECK_MS)
  return checkAgesMs.length === 0 ? atExpiry : earlier(byAge, atExpiry)
}
