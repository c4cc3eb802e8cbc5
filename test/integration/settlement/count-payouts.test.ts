/**
 * Goal: the figures of payouts are never wrong, whichever release wrote the window or moved it last. Method: a window
 * is made one of an older release, or an older release's functions run on a window of ours, and the balance must show
 * what the settlements themselves say.
 */
import { describe, expect } from 'vitest'
import { getBalance } from '../../../shared/ledger/balance.ts'
import { windowKey } from '../../../shared/table/keys.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { beforeFirst, queriesIn, recordTable, type TableCall } from '../../support/intercept-table.ts'
import { depsWithLateIndexes, memoryDeps } from '../../support/memory-deps.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import {
  type AllStates,
  aClientOfAllStates,
  byOlderRelease,
  FIGURES_OF_ALL_STATES,
  figuresOf,
  forgetPayouts,
  settled,
  sumOf,
  sweepADayLater,
} from '../../support/payout-builders.ts'
import { aSucceededPayment, fail, payOut, recredit, sweep, withFloor } from '../../support/settlement-builders.ts'
import { rawItem } from '../../support/tampering.ts'
import { type TestDeps } from '../../support/test-deps.ts'
import { clientTest } from './client-test.ts'

/** Client and settlements in every state, on a window of an older release. */
const anOlderClient = async (deps: TestDeps) => {
  const scene = await aClientOfAllStates(deps)
  await forgetPayouts(deps, scene.client.clientId)
  return scene
}

/** How often recorded calls asked the index for a client's settlements. */
const indexReads = (calls: readonly TableCall[]): number =>
  queriesIn(calls).filter(({ index }) => index === 'by-owner').length

const it = clientTest.extend('older', ({ deps }) => anOlderClient(deps))

describe('a window that an older release wrote', () => {
  it('is completed before its figures are first shown, and no balance moves', async ({ deps, older: { client } }) => {
    const before = await getBalance(deps, client.clientId)
    await expectBalanced(deps, client.clientId)

    expect(await figuresOf(deps, client)).toStrictEqual(FIGURES_OF_ALL_STATES)

    expect(await getBalance(deps, client.clientId)).toStrictEqual(before)
    await expectBalanced(deps, client.clientId)
  })

  it('is completed once: later the index is not asked any more', async ({ deps, older: { client } }) => {
    const first = recordTable(deps)
    await figuresOf(first.deps, client)

    const { deps: recorded, calls } = recordTable(deps)
    expect(await figuresOf(recorded, client)).toStrictEqual(FIGURES_OF_ALL_STATES)

    expect(indexReads(first.calls)).toBe(1)
    expect(calls.map(({ name }) => name)).toStrictEqual(['query', 'batchGet'])
    expect(indexReads(calls)).toBe(0)
  })

  it('is completed by the next sweep when nobody asks before', async ({ deps, older: { client, waiting } }) => {
    const swept = await sweep(deps, client)

    expect(swept).toMatchObject([{ replaces: waiting.settlementId }])
    expect(await rawItem(deps, windowKey(client.clientId))).toMatchObject({ payouts_counted: true })
    const { availableMinor, inSettlementMinor } = FIGURES_OF_ALL_STATES
    expect(await figuresOf(deps, client)).toStrictEqual({
      ...FIGURES_OF_ALL_STATES,
      availableMinor: 0,
      inSettlementMinor: inSettlementMinor + availableMinor,
    })
    await expectBalanced(deps, client.clientId)
  })

  it('is counted page by page, however many settlements there are', async () => {
    const deps = memoryDeps()
    const client = await withFloor(deps)
    for (let day = 0; day < 205; day++) {
      const settlement = await settled(deps, client, 10_000)
      if (day % 2 === 0) await payOut(deps, settlement)
    }
    await forgetPayouts(deps, client.clientId)
    const { deps: recorded, calls } = recordTable(deps)

    expect(await figuresOf(recorded, client)).toStrictEqual({
      pendingMinor: 0,
      availableMinor: 0,
      inSettlementMinor: 102 * 5_990,
      paidOutMinor: 103 * 5_990,
    })
    expect(indexReads(calls)).toBe(3)
  }, 60_000)

  it('shows nothing while the index does not know all settlements, and the figures once it does', async () => {
    const { deps, catchUp } = depsWithLateIndexes('SETTLEMENT#')
    const client = await withFloor(deps)
    await settled(deps, client, 10_000)
    catchUp()
    const newest = await settled(deps, client, 20_000)
    await byOlderRelease(deps, client.clientId, () => payOut(deps, newest))
    await forgetPayouts(deps, client.clientId)

    await expect(figuresOf(deps, client)).rejects.toMatchObject({ code: 'internal_error' })
    const patient = { ...deps, sleep: async () => catchUp() }

    expect(await figuresOf(patient, client)).toMatchObject({ inSettlementMinor: 5_990, paidOutMinor: 15_980 })
  })

  it('is settled all the same while the index does not know all settlements', async () => {
    const { deps, catchUp } = depsWithLateIndexes('SETTLEMENT#')
    const client = await withFloor(deps)
    await settled(deps, client, 10_000)
    await forgetPayouts(deps, client.clientId)

    expect(await settled(deps, client, 20_000)).toMatchObject({ netMinor: 15_980 })

    expect(deps.lines.map(({ code }) => code)).toContain('payouts.not_counted')
    catchUp()
    expect(await figuresOf(deps, client)).toMatchObject({ inSettlementMinor: 5_990 + 15_980, paidOutMinor: 0 })
  })
})

describe('counting the payouts of a window', () => {
  /** Functions of an older release meet the window as it is, and do not count themselves. */
  const between = {
    'a recredit': (deps: TestDeps, { failed }: AllStates): Promise<unknown> => recredit(deps, failed),
    'a sweep': (deps: TestDeps, { client }: AllStates): Promise<unknown> => sweepADayLater(deps, client),
  }
  const expectMoved = (deps: TestDeps) =>
    expect(deps.lines.find(({ code }) => code === 'payouts.not_counted')?.fields).toMatchObject({ reason: 'moved' })

  it.for(Object.entries(between))(
    'is refused when %s comes between, and done again',
    async ([, other], { deps, older }) => {
      const { client } = older
      const raced = beforeFirst(deps, 'update', () => byOlderRelease(deps, client.clientId, () => other(deps, older)))

      const shown = await figuresOf(raced, client)

      expectMoved(deps)
      expect(sumOf(shown)).toBe(sumOf(FIGURES_OF_ALL_STATES))
      await forgetPayouts(deps, client.clientId)
      expect(await figuresOf(deps, client)).toStrictEqual(shown)
    },
  )

  it.for(['an older', 'this'])('shows a payout of %s release that comes between', async (release, { deps, older }) => {
    const { client, recorded } = older
    const raced = beforeFirst(deps, 'update', () =>
      release === 'this' ? payOut(deps, recorded) : byOlderRelease(deps, client.clientId, () => payOut(deps, recorded)),
    )

    const { paidOutMinor } = await figuresOf(raced, client)

    // An older release does not tell the window; the settlement itself does.
    if (release === 'this') expectMoved(deps)
    expect(paidOutMinor).toBe(FIGURES_OF_ALL_STATES.paidOutMinor + recorded.netMinor)
  })

  it('is refused when a recredit and its redrawing come between', async ({ deps, client }) => {
    const settlement = await settled(deps, client, 10_000)
    await forgetPayouts(deps, client.clientId)
    const raced = beforeFirst(deps, 'update', async () => {
      await fail(deps, settlement)
      await recredit(deps, settlement)
      deps.clock.advance(1)
      await byOlderRelease(deps, client.clientId, () => sweep(deps, client))
    })

    expect(await figuresOf(raced, client)).toMatchObject({ availableMinor: 0, inSettlementMinor: 5_990 })
    expectMoved(deps)
  })
})

describe('a client that never received a payment', () => {
  it('has nothing in settlements and nothing paid out, whichever release made it', async ({ deps }) => {
    const client = await aStoredClient(deps)
    const nothing = { pendingMinor: 0, availableMinor: 0, inSettlementMinor: 0, paidOutMinor: 0 }
    expect(await figuresOf(deps, client)).toStrictEqual(nothing)

    await forgetPayouts(deps, client.clientId)
    await aSucceededPayment(deps, client, { notionalMinor: 50_000 })

    expect(await figuresOf(deps, client)).toStrictEqual({ ...nothing, pendingMinor: 45_950 })
  })
})
