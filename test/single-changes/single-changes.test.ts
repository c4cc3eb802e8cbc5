/**
 * Goal: no single change of a stored row goes unseen. Method: a client that has been through
 * everything; each attribute of one row of each shape is changed or taken away, each such row is
 * lost or copied, one at a time; the audits must find it, unless it is a fact, changes within a
 * rule, or is listed in `not-found.ts`. Here is every fifth change; `npm run single-changes` has
 * them all.
 */
import { expect, it } from 'vitest'
import { isUnexpected } from './not-found.ts'
import { restingClient } from './resting-client.ts'
import { audited, differencesAtRest } from './sweep.ts'

const EVERY = 5

it('the audits find each single change, and none without a change', async () => {
  const world = await restingClient()
  const sample = world.changes.filter((_, at) => at % EVERY === 0)

  expect(await differencesAtRest(world)).toStrictEqual([])
  for (const change of sample) {
    const outcome = await audited(world, change)
    expect(isUnexpected(outcome) && { ...outcome, item: undefined }).toBe(false)
  }
})
