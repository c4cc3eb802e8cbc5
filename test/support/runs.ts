/** The nightly run (`.ci/nightly`) sets this factor; `npm test` has 1. */
const TIMES = Number(process.env['TEST_RUNS'] ?? 1)

export function runs(usual: number) {
  return usual * TIMES
}

/** Whether tests take every case instead of a sample: in the nightly run. */
export const isNightly = TIMES > 1

/** All cases in the nightly run. */
export function sampleOf<Case>(cases: readonly Case[], oneIn: number) {
  return isNightly ? cases : cases.filter((_, at) => at % oneIn === 0)
}
