import { assertInvariant } from '../../errors.ts'
import { addMs, DAY_MS, earlier, MINUTE_MS, SECOND_MS, type Timestamp } from '../../time.ts'
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

type Checked = ChannelChoice & {
  readonly createdAt: Timestamp
  readonly expiresAt?: Timestamp | undefined
  readonly providerAttempts?: readonly { readonly startedAt: Timestamp }[]
}

/** Its times count from the claim of the attempt that made it, which wrote down when it is looked at first. */
const beganAt = ({ providerAttempts, createdAt }: Checked): Timestamp =>
  providerAttempts?.at(-1)?.startedAt ?? createdAt

/** The provider ends it by itself by its expiry, so that a cancel of ours comes too late. */
export const closesUpstream = (payment: Checked): boolean => {
  const { settable, expiryMs } = timingAt(payment, payment.createdAt)
  const isOwn = payment.expiresAt === undefined || payment.expiresAt >= addMs(payment.createdAt, expiryMs)
  return settable || isOwn
}

/** The one look at a payment before its time is over, on channels that have one and if it lives as long. */
export const usualCheckAt = (payment: Checked): Timestamp | undefined => {
  const { usualMs } = timingAt(payment, payment.createdAt)
  const at = usualMs === undefined ? undefined : addMs(beganAt(payment), usualMs)
  return at !== undefined && (payment.expiresAt === undefined || at < payment.expiresAt) ? at : undefined
}

/** When due work looks at a pending payment next: when its usual time is over, at its expiry, and until it has ended. */
export const nextCheckAt = (payment: Checked, now: Timestamp): Timestamp => {
  const usual = usualCheckAt(payment)
  if (usual !== undefined && usual > now) return usual
  // Only rows of the very first releases have none: nothing ever ends them here.
  if (payment.expiresAt === undefined) return addMs(now, DAY_MS)
  const atExpiry = addMs(payment.expiresAt, timingAt(payment, payment.createdAt).graceMs ?? 0)
  return atExpiry > now ? atExpiry : addMs(now, RETRY_CHECK_MS)
}
