/**
 * Goal: whatever happens to a client, each succeeded payment is in at most one settlement that is not failed, none is
 * left out, every sum is that of its payments, and the balance shows where all of it is. Method: 1,000 random histories
 * of payments, fees, sweeps, triggers, clock steps, closings, recredits, deaths of the settling process and functions of
 * an older release, each run on the real table and on a model of the rules in memory; both must record the same
 * settlements and balances, and the full audit must find nothing. A failure prints the seed and the shortest history
 * found that still fails.
 */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { getBalanceWithPayouts } from '../../../../shared/settlement/count-payouts.ts'
import type { Settlement } from '../../../../shared/settlement/settlement.ts'
import { expectBalanced } from '../../../support/expect-balanced.ts'
import { memoryDeps } from '../../../support/memory-deps.ts'
import { settle, settlementsOf } from '../../../support/settlement-builders.ts'
import { testDeps } from '../../../support/test-deps.ts'
import { type Happening, history } from './settlement-happenings.ts'
import { modelView, realView, settleModel } from './settlement-model.ts'
import { happen, newWorld, type World } from './settlement-world.ts'

const HISTORIES = 1_000
/** Histories are clients of their own, so that many run side by side. */
const SIDE_BY_SIDE = 20
const SEED = 20_261_120
const REPLAY_MS = 60_000

const { requests } = memoryDeps()
let made = 0

/** Entropy that grows: settlements of one millisecond have ids in the order they were recorded. */
const growingBytes = (length: number): Buffer => {
  const bytes = Buffer.alloc(length)
  bytes.writeUIntBE(++made, length - 6, 6)
  return bytes
}

/** Said of the real settlements alone, without the model: no payment twice, none lost behind the window. */
const expectEachPaymentOnce = ({ payments, model }: World, settlements: readonly Settlement[]) => {
  for (const { paidAt = '' } of payments.values()) {
    const own = settlements.filter(({ periodStart, periodEnd }) => periodStart <= paidAt && paidAt < periodEnd)
    expect(own.filter(({ replaces }) => replaces === undefined)).toHaveLength(paidAt < model.settledUntil ? 1 : 0)
    expect(own.filter(({ status }) => status !== 'failed').length).toBeLessThanOrEqual(1)
  }
  for (const { grossMinor, providerFeesMinor, markupMinor, netMinor } of settlements) {
    expect(grossMinor - providerFeesMinor - markupMinor).toBe(netMinor)
  }
}

const expectSameBooks = async (world: World) => {
  const { settlements: expected, ...figures } = modelView(world.model)
  const settlements = await settlementsOf(world.deps, world.client)
  expect(realView(settlements)).toStrictEqual(expected)
  expect(await getBalanceWithPayouts(world.deps, world.client.clientId)).toMatchObject(figures)
  expectEachPaymentOnce(world, settlements)
  return settlements
}

const seen = { settlements: 0, recordedAgain: 0, deaths: 0, assumed: 0, counted: 0 }

const live = async (happenings: readonly Happening[]) => {
  const world = await newWorld(testDeps({ requests, randomBytes: growingBytes }))
  for (const happening of happenings) await happen(world, happening)
  // Whatever died, the next run brings the books to where the rules want them.
  await settle(world.deps, world.client)
  for (const _ of settleModel(world.model, 'auto', world.deps.now()));
  const settlements = await expectSameBooks(world)
  await expectBalanced(world.deps, world.client.clientId)

  seen.settlements += settlements.length
  seen.recordedAgain += settlements.filter(({ replaces }) => replaces !== undefined).length
  seen.deaths += world.deaths
  seen.counted += world.deps.lines.filter(({ code }) => code === 'payouts.counted').length
  seen.assumed += world.model.payments.filter(({ fee }) => fee.status === 'assumed').length
}

/** Lives all histories, many side by side; answers where the first that fails stands. */
const firstFailure = async (histories: readonly (readonly Happening[])[]): Promise<number | undefined> => {
  const waiting = [...histories.entries()].toReversed()
  const failed: number[] = []
  const worker = async () => {
    for (let next = waiting.pop(); next && failed.length === 0; next = waiting.pop()) {
      const [at, happenings] = next
      await live(happenings).catch(() => failed.push(at))
    }
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker))
  return failed.toSorted((a, b) => a - b)[0]
}

describe('settlements over random histories', () => {
  it(`are those of the model, ${HISTORIES} times`, async () => {
    const failed = await firstFailure(fc.sample(history, { numRuns: HISTORIES, seed: SEED }))

    // The same history once more, by itself, to be cut down to the shortest that still fails.
    const replay = { seed: SEED, path: String(failed), numRuns: 1, interruptAfterTimeLimit: REPLAY_MS }
    if (failed !== undefined) await fc.assert(fc.asyncProperty(history, live), replay)
    expect(failed).toBeUndefined()
    // The histories are worth something only if the interesting things happen in them.
    expect(seen.settlements).toBeGreaterThan(HISTORIES)
    expect(seen.recordedAgain).toBeGreaterThan(HISTORIES / 20)
    expect(seen.deaths).toBeGreaterThan(HISTORIES / 4)
    expect(seen.counted).toBeGreaterThan(HISTORIES / 4)
    expect(seen.assumed).toBeGreaterThan(HISTORIES / 50)
  }, 300_000)
})
