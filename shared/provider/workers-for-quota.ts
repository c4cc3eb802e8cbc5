/**
 * Worker seconds for one payment: the figures of `npm run bench -- walls` at 200 ms a provider call, plus a third.
 * Listing: 3.8 rows, 50 a page, 1.59 pages a second in 220 s of every 300. Due work: 27 payments a second.
 */
export const SECONDS_A_PAYMENT = { listing: 0.087, due: 0.05 } as const

/** The number of workers that can process all payments which this quota lets clients create. */
export const workersForQuota = (work: keyof typeof SECONDS_A_PAYMENT, callsPerMinute: number): number =>
  Math.ceil((callsPerMinute / 60) * SECONDS_A_PAYMENT[work])
