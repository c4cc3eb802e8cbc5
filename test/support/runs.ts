/** How many times more than in `npm test`: `.ci/nightly` sets it. */
const TIMES = Number(process.env['TEST_RUNS'] ?? 1)

/** How often a random test draws. */
export const runs = (usual: number): number => usual * TIMES

/** Whether tests that walk through every case do so, and not through a sample of them. */
export const takesEvery = TIMES > 1

/** Of many cases one in so many; all of them by night. */
export const sampleOf = <Case>(cases: readonly Case[], oneIn: number): readonly Case[] =>
  takesEvery ? cases : cases.filter((_, at) => at % oneIn === 0)
