/**
 * Goal: payouts are counted once, by functions of this release and of the one before it, which know nothing of the
 * figures: in a canary and after a rollback. Method: such functions run on a window of this release, and the balance
 * must show what the settlements themselves say.
 */
import { describe, expect } from 'vitest'
import { listAuditRecords } from '../../../shared/operator/audit-record-store.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { exists } from '../../../shared/table/condition.ts'
import { windowKey } from '../../../shared/table/keys.ts'
import { remove, update } from '../../../shared/table/step.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
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
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest as it } from './client-test.ts'

describe('functions of the release before, on a window of this one', () => {
  const moves = {
    'a sweep': (deps: TestDeps, { client }: AllStates): Promise<unknown> => sweepADayLater(deps, client),
    'a payout': (deps: TestDeps, { recorded }: AllStates): Promise<unknown> => payOut(deps, recorded),
    'a recredit': (deps: TestDeps, { failed }: AllStates): Promise<unknown> => recredit(deps, failed),
    'a redrawing': (deps: TestDeps, { client }: AllStates): Promise<unknown> => sweep(deps, client),
  }

  it.for(Object.entries(moves))('%s: the figures shown are those of the settlements', async ([, run], { deps }) => {
    const scene = await aClientOfAllStates(deps)
    const { client } = scene

    await byOlderRelease(deps, client.clientId, () => run(deps, scene))

    const shown = await figuresOf(deps, client)
    expect(shown).not.toStrictEqual(FIGURES_OF_ALL_STATES)
    expect(sumOf(shown)).toBe(sumOf(FIGURES_OF_ALL_STATES))
    await forgetPayouts(deps, client.clientId)
    expect(await figuresOf(deps, client)).toStrictEqual(shown)
  })

  it.for(['an older', 'this'])(
    'a payout of %s release is not shown without what was credited before it',
    async (release, { deps }) => {
      const { client, recorded } = await aClientOfAllStates(deps)
      const payRecorded = () => payOut(deps, recorded)
      const between = beforeFirst(deps, 'batchGet', async () => {
        await aSucceededPayment(deps, client, { notionalMinor: 640_000 })
        await (release === 'this' ? payRecorded() : byOlderRelease(deps, client.clientId, payRecorded))
      })

      const shown = await figuresOf(between, client)

      const { pendingMinor, inSettlementMinor, paidOutMinor } = FIGURES_OF_ALL_STATES
      expect(shown).toStrictEqual({
        ...FIGURES_OF_ALL_STATES,
        pendingMinor: pendingMinor + 635_360,
        inSettlementMinor: inSettlementMinor - recorded.netMinor,
        paidOutMinor: paidOutMinor + recorded.netMinor,
      })
    },
  )

  it.for(Object.entries(moves))('%s: the next sweep puts the window right', async ([, run], { deps }) => {
    const scene = await aClientOfAllStates(deps)
    await byOlderRelease(deps, scene.client.clientId, () => run(deps, scene))

    await sweep(deps, scene.client)

    await expectBalanced(deps, scene.client.clientId)
  })

  it('cannot hide a payout behind a recredit of the same amount', async ({ deps, client }) => {
    const ours = await settled(deps, client, 50_000)
    await byOlderRelease(deps, client.clientId, async () => {
      await payOut(deps, await settled(deps, client, 50_000))
      await fail(deps, ours)
      await recredit(deps, ours)
    })

    const shown = { pendingMinor: 0, availableMinor: 45_950, inSettlementMinor: 0, paidOutMinor: 45_950 }
    expect(await figuresOf(deps, client)).toStrictEqual(shown)
  })

  it('cannot hide a sweep behind a recredit, nor behind two that together are as large', async ({ deps, client }) => {
    const ours = await settled(deps, client, 50_000)
    await byOlderRelease(deps, client.clientId, async () => {
      await settled(deps, client, 50_000)
      await fail(deps, ours)
      await recredit(deps, ours)
    })

    const shown = { availableMinor: 45_950, inSettlementMinor: 45_950, paidOutMinor: 0 }
    expect(await figuresOf(deps, client)).toMatchObject(shown)
  })
})

describe('a list of open settlements that does not add up', () => {
  it('is not believed', async ({ deps }) => {
    const { client, recorded } = await aClientOfAllStates(deps)
    const openIds = new Set([recorded.settlementId])
    await deps.table.write(update(windowKey(client.clientId), { set: { openIds } }))

    expect(await figuresOf(deps, client)).toStrictEqual(FIGURES_OF_ALL_STATES)

    await expectBalanced(deps, client.clientId)
  })
})

describe('marking a settlement paid', () => {
  it('moves its net from in settlement to paid out, once, whoever else closes it', async ({ deps, client }) => {
    const settlement = await settled(deps, client, 50_000)

    const paid = payOut(deps, settlement)
    await Promise.allSettled([paid.then(() => payOut(deps, settlement)), paid.then(() => fail(deps, settlement))])

    expect(await rawItem(deps, windowKey(client.clientId))).toMatchObject({
      settled_minor: 45_950,
      available_minor: 0,
      in_settlement_minor: 0,
      paid_out_minor: 45_950,
    })
  })

  it('is refused, and writes nothing, where there is no window', async ({ deps }) => {
    const client = await withFloor(deps)
    const settlement = await settled(deps, client, 50_000)
    await deps.table.write(remove(windowKey(client.clientId), exists))

    await expect(payOut(deps, settlement)).rejects.toThrow('no settlement window')

    expect(await findAnySettlement(deps, settlement.settlementId)).toMatchObject({ status: 'recorded' })
    expect(await listAuditRecords(deps, settlement.settlementId)).toStrictEqual([])
  })
})
