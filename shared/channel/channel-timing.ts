import {
  addMs,
  DAY_MS,
  earlier,
  entryInForce,
  epochMs,
  HOUR_MS,
  JAKARTA_MS,
  MINUTE_MS,
  SECOND_MS,
  type Timestamp,
} from '../time.ts'
import { type ChannelChoice, channelOf } from './channels.ts'

/**
 * The expiry that the client wants. The channel's own expiry is the limit, unless ours is settable.
 */
export function expiryOf(
  channel: ChannelChoice,
  now: Timestamp,
  expiresInSeconds: number | undefined,
) {
  const { expiryMs, settable } = timingAt(channel, now)
  const channelExpiresAt = addMs(now, expiryMs)
  const wantedAt = expiresInSeconds ? addMs(now, expiresInSeconds * SECOND_MS) : channelExpiresAt
  const expiresAt = settable ? wantedAt : earlier(wantedAt, channelExpiresAt)
  return { expiresAt, sentUpstream: settable ? expiresAt : undefined }
}

function timingAt(channel: ChannelChoice, at: Timestamp) {
  return entryInForce(channelOf(channel).timings, at)
}

type CheckedPayment = ChannelChoice & {
  readonly createdAt: Timestamp
  readonly expiresAt?: Timestamp | undefined
  readonly providerAttempts?: readonly { readonly startedAt: Timestamp }[]
}

/** The provider itself ends such a payment, so our cancel would come too late. */
export function closesUpstream(payment: CheckedPayment): boolean {
  const { settable, expiryMs } = timingAt(payment, payment.createdAt)
  return (
    settable ||
    payment.expiresAt === undefined ||
    payment.expiresAt >= addMs(attemptStartedAt(payment), expiryMs)
  )
}

/** The wait before an interrupted cancel is checked: its request has ended by then. */
export const CANCEL_CHECK_MS = 30 * SECOND_MS

/**
 * The claim of an attempt stores the time of the first check, so all times count from the claim.
 */
function attemptStartedAt({ providerAttempts, createdAt }: CheckedPayment) {
  return providerAttempts?.at(-1)?.startedAt ?? createdAt
}

/** Undefined if the payment's channel or expiry leaves no such check. */
export function usualCheckAt(payment: CheckedPayment): Timestamp | undefined {
  const { usualMs } = timingAt(payment, payment.createdAt)
  const at = usualMs === undefined ? undefined : addMs(attemptStartedAt(payment), usualMs)
  return at !== undefined && (payment.expiresAt === undefined || at < payment.expiresAt)
    ? at
    : undefined
}

/**
 * When to ask the provider again after a call without an answer, or for a payment past its expiry.
 */
export const RETRY_CHECK_MS = 2 * MINUTE_MS

/** Due work checks at the usual time, at the expiry, and then until the payment has ended. */
export function nextCheckAt(payment: CheckedPayment, now: Timestamp): Timestamp {
  const usual = usualCheckAt(payment)
  if (usual !== undefined && usual > now) return usual
  if (payment.expiresAt === undefined) return addMs(now, DAY_MS)
  const atExpiry = addMs(payment.expiresAt, timingAt(payment, payment.createdAt).graceMs ?? 0)
  return atExpiry > now ? atExpiry : addMs(now, RETRY_CHECK_MS)
}

/** True by this clock, or because another process has begun the expiry. */
export function isPastItsTime(
  {
    expiresAt,
    expiryStartedAt,
  }: Pick<CheckedPayment, 'expiresAt'> & { readonly expiryStartedAt?: Timestamp | undefined },
  now: Timestamp,
): boolean {
  return expiryStartedAt !== undefined || (expiresAt !== undefined && expiresAt <= now)
}

/** The provider has had the time to show how the request ended. */
export function isLongPastItsTime(
  { expiresAt, expiryStartedAt = expiresAt }: Parameters<typeof isPastItsTime>[0],
  now: Timestamp,
): boolean {
  return expiryStartedAt !== undefined && now >= addMs(expiryStartedAt, HOUR_MS)
}

/**
 * When the provider usually settles, by the channel's business days, without holidays: for rows
 * without a time.
 */
export function expectedSettlement(choice: ChannelChoice, paidAt: Timestamp): Timestamp {
  const { settlesAtOnce, settlementDays = 2 } = channelOf(choice)
  // "At once" takes the provider some five minutes.
  if (settlesAtOnce) return addMs(paidAt, 5 * MINUTE_MS)
  let at = paidAt
  for (let daysLeft = settlementDays; daysLeft > 0; ) {
    at = addMs(at, DAY_MS)
    // The epoch began on a Thursday.
    const weekday = (Math.floor((epochMs(at) + JAKARTA_MS) / DAY_MS) + 4) % 7
    if (weekday !== 0 && weekday !== 6) daysLeft--
  }
  return at
}
