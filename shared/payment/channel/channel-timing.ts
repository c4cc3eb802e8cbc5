import { JAKARTA_MS } from '../../journal/day-totals.ts'
import {
  addMs,
  DAY_MS,
  earlier,
  epochMs,
  inForce,
  MINUTE_MS,
  SECOND_MS,
  type Timestamp,
} from '../../time.ts'
import { type ChannelChoice, channelOf } from './channels.ts'

/** By the client's wish, and at the latest by the channel's expiry unless that is settable. */
export function expiryOf(
  channel: ChannelChoice,
  now: Timestamp,
  expiresInSeconds: number | undefined,
) {
  const { expiryMs, settable } = timingAt(channel, now)
  const own = addMs(now, expiryMs)
  const wished = expiresInSeconds ? addMs(now, expiresInSeconds * SECOND_MS) : undefined
  const expiresAt = wished === undefined ? own : settable ? wished : earlier(wished, own)
  return { expiresAt, sentUpstream: settable ? expiresAt : undefined }
}

function timingAt(channel: ChannelChoice, at: Timestamp) {
  return inForce(channelOf(channel).timings, at)
}

type Checked = ChannelChoice & {
  readonly createdAt: Timestamp
  readonly expiresAt?: Timestamp | undefined
  readonly providerAttempts?: readonly { readonly startedAt: Timestamp }[]
}

/** The provider ends it at its expiry, so our cancel would come too late. */
export function closesUpstream(payment: Checked): boolean {
  const { settable, expiryMs } = timingAt(payment, payment.createdAt)
  return (
    settable ||
    payment.expiresAt === undefined ||
    payment.expiresAt >= addMs(beganAt(payment), expiryMs)
  )
}

/** After an interrupted cancel: when its request has ended, and within a minute. */
export const CANCEL_CHECK_MS = 30 * SECOND_MS

/** Its times count from the claim of the attempt, because that stored the time of the first check. */
function beganAt({ providerAttempts, createdAt }: Checked): Timestamp {
  return providerAttempts?.at(-1)?.startedAt ?? createdAt
}

/** The one check of a payment before its expiry, on channels that have one, if the payment lives that long. */
export function usualCheckAt(payment: Checked): Timestamp | undefined {
  const { usualMs } = timingAt(payment, payment.createdAt)
  const at = usualMs === undefined ? undefined : addMs(beganAt(payment), usualMs)
  return at !== undefined && (payment.expiresAt === undefined || at < payment.expiresAt)
    ? at
    : undefined
}

/** When to ask the provider again after a call without an answer, or for a payment past its expiry. */
export const RETRY_CHECK_MS = 2 * MINUTE_MS

/** When due work checks a pending payment next: at the usual time, at its expiry, and then until it has ended. */
export function nextCheckAt(payment: Checked, now: Timestamp): Timestamp {
  const usual = usualCheckAt(payment)
  if (usual !== undefined && usual > now) return usual
  if (payment.expiresAt === undefined) return addMs(now, DAY_MS)
  const atExpiry = addMs(payment.expiresAt, timingAt(payment, payment.createdAt).graceMs ?? 0)
  return atExpiry > now ? atExpiry : addMs(now, RETRY_CHECK_MS)
}

/** Whether a payment has expired: by this clock, or because another process has begun its expiry. */
export function isPastItsTime(
  {
    expiresAt,
    expiryStartedAt,
  }: Pick<Checked, 'expiresAt'> & { readonly expiryStartedAt?: Timestamp | undefined },
  now: Timestamp,
): boolean {
  return expiryStartedAt !== undefined || (expiresAt !== undefined && expiresAt <= now)
}

/** When the provider usually settles, by the channel's business days, without holidays. For rows that do not say. */
export function expectedSettlement(choice: ChannelChoice, paidAt: Timestamp): Timestamp {
  const { settlesAtOnce, settlementDays = 2 } = channelOf(choice)
  // "At once" takes the provider some five minutes.
  if (settlesAtOnce) return addMs(paidAt, 5 * MINUTE_MS)
  let at = paidAt
  for (let left = settlementDays; left > 0; ) {
    at = addMs(at, DAY_MS)
    // The epoch began on a Thursday.
    const weekday = (Math.floor((epochMs(at) + JAKARTA_MS) / DAY_MS) + 4) % 7
    if (weekday !== 0 && weekday !== 6) left--
  }
  return at
}
