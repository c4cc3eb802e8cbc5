/**
 * Goal: whatever goes wrong while an update is under way, behind a rollback and forward again, the invariants hold
 * (docs/reliability.md, Two releases).
 * Method: fixed seeds; each draws its faults, its operations, and when which functions run as which release. Then this
 * release runs alone, the faults stop and everything must come to rest.
 * A failure names its seed: `npm run sim -- --releases two --seed N --trace` tells its story.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { loadFunctions } from '../world/handlers.ts'
import { FORMER_RELEASE, saysMissing } from './find-release.ts'
import { hasFormerRelease, loadFormerRelease } from './former-release.ts'
import { MEETINGS, missingMeetings } from './meetings.ts'
import { runTwoReleases } from './run-two-releases.ts'
import type { Releases } from './start-two-releases.ts'

/** What fits into the time of `npm test`; `.ci/run` goes on from there, and asks what they have met. */
const SEEDS = 5

const known = hasFormerRelease()
if (!known) console.warn(saysMissing(FORMER_RELEASE))

describe.runIf(known)('random histories of two releases on one table', { timeout: 300_000 }, () => {
  let releases: Releases

  beforeAll(async () => {
    releases = { former: await loadFormerRelease(), now: await loadFunctions() }
  })

  it(`hold every invariant from seed 1 to ${SEEDS}`, async () => {
    const failures: string[] = []
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { problems } = await runTwoReleases({ seed, releases })
      if (problems.length > 0)
        failures.push(`npm run sim -- --releases two --seed ${seed}: ${problems.slice(0, 5).join('; ')}`)
    }
    expect(failures).toStrictEqual([])
  })

  it('are the same for the same seed, byte for byte', async () => {
    const first = await runTwoReleases({ seed: 7, releases, tracing: true })
    const second = await runTwoReleases({ seed: 7, releases, tracing: true })

    expect(second.digest).toBe(first.digest)
    expect(second.story).toStrictEqual(first.story)
  })
})

describe('meetings that histories of two releases must have', () => {
  it.each([15, 85, 300])('are named when none of them happened in %i histories', (histories) => {
    const expected = [...MEETINGS].filter(([, { within }]) => within <= histories).map(([name]) => name)

    expect(missingMeetings(new Map(), histories)).toStrictEqual(expected)
    expect(expected.length).toBeGreaterThan(0)
  })
})
