/**
 * Goal: no single change of a stored row goes unseen. Method: a client that has been through
 * everything; each attribute of one row of each shape is changed or taken away, each such row is
 * lost or copied, one at a time; the audits must find it, unless it is a fact, changes within a
 * rule, or is listed in `not-found.ts`. Here is one change in a hundred; `npm run single-changes`
 * has them all.
 */
import { beforeAll, expect, it } from 'vitest'
import { isUnexpected } from './not-found.ts'
import { restingClient } from './resting-client.ts'
import { audited, differencesAtRest } from './sweep.ts'

const EVERY = 100

let world: Awaited<ReturnType<typeof restingClient>>
beforeAll(async () => void (world = await restingClient()))

it('the audits find each single change, and none without a change', async () => {
  const sample = world.changes.filter((_, at) => at % EVERY === 0)

  expect(await differencesAtRest(world)).toStrictEqual([])
  for (const change of sample) {
    const outcome = await audited(world, change)
    expect(isUnexpected(outcome) && { ...outcome, item: undefined }).toBe(false)
  }
})

it.each([
  'attempt number ',
  'attempt at = 2001',
  'attempt at = 2099',
  'attempt error ',
  'attempt duration_ms = -',
  'delivery attempts = 0',
  'delivery success.number = 2',
  'delivery success.at = 2001',
  'delivery success.at = 2099',
  'delivery success.http_status = 199',
  'delivery success.duration_ms = -',
  'delivery round_start = 1',
  'payment details.provider = ',
  'payment details.provider_attempts.0.startedAt = ',
  'settlement created_at = 2099',
  'sync_head provider ',
  'sync_head position = 2001',
  'sync_head position = 2099',
  'sync_head reversals_at = 2099',
  'sync_head round = -',
  'verdict version removed',
  'verdict figures_at = 2099',
  'verdict figures_at removed',
  'verdict history_day removed',
])('a change within no rule is named: %s', async (name) => {
  const change = world.changes.find(({ kind, what }) => `${kind} ${what}`.startsWith(name))

  expect(change && (await audited(world, change))).toMatchObject({ outcome: 'named' })
})
