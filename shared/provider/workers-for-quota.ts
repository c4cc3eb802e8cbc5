/**
 * Of one worker's time for one payment, at 200 ms a call of the provider: what `npm run bench -- walls` measures, and a
 * third more. Listing: 3.4 rows at 50 a page and 0.63 s a page, in four of every five minutes. Due work: 29 a second.
 */
export const SECONDS_A_PAYMENT = { listing: 0.072, due: 0.045 } as const

/** As many workers as bring to its end whatever a quota of so many calls a minute and operation lets be created. */
export const workersForQuota = (work: keyof typeof SECONDS_A_PAYMENT, callsPerMinute: number): number =>
  Math.ceil((callsPerMinute / 60) * SECONDS_A_PAYMENT[work])
