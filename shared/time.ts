import * as v from 'valibot'
import { assertInvariant } from './errors.ts'

/** From this time on, as before 1970, sums with a time could have another width. */
const LATEST_MS = Date.UTC(9000, 0, 1)

/**
 * RFC 3339 UTC with three fraction digits, of a day in the calendar from 1970 to 8999. All have one
 * width, so comparing texts compares times.
 */
export const TimestampSchema = v.pipe(
  v.string(),
  v.check(isTime, 'must be an RFC 3339 UTC time with milliseconds'),
  v.brand('Timestamp'),
)
export type Timestamp = v.InferOutput<typeof TimestampSchema>

/** A time plus or minus a span has the same width, also when no row may have it. */
const SumSchema = v.pipe(v.string(), v.length(24), v.brand('Timestamp'))

/** After every time: a bound of lists, to which nothing is added. */
export const END_OF_TIME = v.parse(SumSchema, '9999-12-31T23:59:59.999Z')

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** Indonesia's west keeps UTC+7 all year: the books' days are those of Asia/Jakarta. */
export const JAKARTA_MS = 7 * HOUR_MS

export function timestampOf(unixMs: number): Timestamp {
  return v.parse(SumSchema, new Date(unixMs).toISOString())
}

export function epochMs(time: Timestamp): number {
  return Date.parse(time)
}

/** Days since 1970. */
export function dayNumber(time: Timestamp): number {
  return Math.floor(epochMs(time) / DAY_MS)
}

export function addMs(time: Timestamp, ms: number): Timestamp {
  return timestampOf(epochMs(time) + ms)
}

export function msBetween(from: Timestamp, to: Timestamp): number {
  return epochMs(to) - epochMs(from)
}

/** Whether so much time has passed since this call. */
export function timeLimit({ monotonicMs }: { readonly monotonicMs: () => number }, ms: number) {
  const endsAtMs = monotonicMs() + ms
  return () => monotonicMs() >= endsAtMs
}

/** Of two times, or of two days. */
export function earlier<Time extends string>(a: Time, b: Time): Time {
  return a < b ? a : b
}

export function later<Time extends string>(a: Time, b: Time): Time {
  return a > b ? a : b
}

/** Any RFC 3339 form, from 1970; undefined if the timestamp is invalid. */
export function parseForeignTime(text: string): Timestamp | undefined {
  const ms = Date.parse(text)
  return ms >= 0 && ms < LATEST_MS ? timestampOf(ms) : undefined
}

const RFC_3339 = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d{2}:\d{2})$/

/**
 * Any RFC 3339 form, as people write it. A time before 1970 or after 8999 is moved into that range.
 */
export const AnyTimeSchema = v.pipe(
  v.string(),
  v.check(
    (text) => isDay(RFC_3339.exec(text)?.[1] ?? '') && !Number.isNaN(Date.parse(text)),
    ({ input }) =>
      /T\S+ \d\d:\d\d$/.test(input)
        ? 'must be an RFC 3339 time; in a query, write the + of an offset as %2B'
        : 'must be an RFC 3339 time',
  ),
  v.transform((text) => timestampOf(Math.min(Math.max(Date.parse(text), 0), LATEST_MS - 1))),
)

/** The table's `ttl`, in whole seconds, of an item that is kept for `keptMs`. */
export function expiresAfter(from: Timestamp, keptMs: number): number {
  return Math.ceil((epochMs(from) + keptMs) / SECOND_MS)
}

/**
 * An entry in force from a time until the next entry of its list. A list keeps all entries, oldest
 * first.
 */
export type Dated = { readonly effectiveFrom: Timestamp }

export function entryInForce<Entry extends Dated>(entries: readonly Entry[], at: string): Entry {
  const entry = entries.findLast(({ effectiveFrom }) => effectiveFrom <= at)
  assertInvariant(entry !== undefined, 'nothing is in force yet')
  return entry
}

/** `Date.parse` moves 31 February to March. */
function isDay(text: string) {
  const midnight = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(text)
}

const TIME =
  /^(19[7-9]|[2-8]\d{2})\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

/** Each row has several times, so only the last days of a month pay for a look at the calendar. */
function isTime(text: string) {
  return TIME.test(text) && (text.slice(8, 10) < '29' || isDay(text.slice(0, 10)))
}
