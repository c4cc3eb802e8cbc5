/**
 * Goal: the books of a client are right, in whatever order the requests of actions at the same
 * moment reach the table. Method: the real code of two to four actions; a scheduler lets their
 * requests through one by one; transactions become visible item by item. Here are the first
 * schedules of every fourth scenario; `npm run interleavings` has them all.
 */
import { describe, expect, it } from 'vitest'
import { sampleOf } from '../support/runs.ts'
import { busyClient } from './busy-client.ts'
import { GUARDS } from './guards.ts'
import { scenariosOf } from './scenarios.ts'
import { runTask } from './tasks.ts'

const SAMPLE = 2
const MAX_WITHOUT = 150

const scenarios = scenariosOf(await busyClient())

describe('at the end of each schedule audit and recount find nothing, when', () => {
  it.each(sampleOf(scenarios, 4))('$name', async ({ name: scenario }) => {
    const { problems, schedule } = await runTask({ scenario, schedules: SAMPLE })

    expect({ problems, schedule }).toStrictEqual({ problems: [], schedule: [] })
  })
})

describe('a schedule goes wrong without', () => {
  it.each(GUARDS)('$name', async ({ name: without, scenario }) => {
    expect(
      (await runTask({ scenario, without, schedules: MAX_WITHOUT })).problems,
    ).not.toStrictEqual([])
  })
})
