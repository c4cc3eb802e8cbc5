/**
 * Seconds of a worker for one payment: what `npm run bench -- walls` measures at 200 ms a call of the provider, and a
 * third more. Listing: 3.8 rows, 50 a page, 1.59 pages a second in 220 s of every 300. Due work: 27 payments a second.
 */
export const SECONDS_A_PAYMENT = { listing: 0.087, due: 0.05 } as const

/** As many workers as bring to its end whatever a quota of so many calls a minute and operation lets be created. */
export const workersForQuota = (work: keyof typeof SECONDS_A_PAYMENT, callsPerMinute: number): number =>
  Math.ceil((callsPerMinute / 60) * SECONDS_A_PAYMENT[work])
