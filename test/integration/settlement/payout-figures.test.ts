/**
 * Goal: the balance says what is in settlements and what was paid out. Method: settlements in every state, and the
 * figures that they add up to.
 */
import { describe, expect } from 'vitest'
import { listAuditRecords } from '../../../shared/operator/audit-record-store.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { exists } from '../../../shared/table/condition.ts'
import { windowKey } from '../../../shared/table/keys.ts'
import { remove } from '../../../shared/table/step.ts'
import { recordTable } from '../../support/intercept-table.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import {
  type AllStates,
  aClientOfAllStates,
  FIGURES_OF_ALL_STATES,
  figuresOf,
  settled,
  sumOf,
  sweepADayLater,
} from '../../support/payout-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { fail, payOut, recredit, sweep, withFloor } from '../../support/settlement-builders.ts'
import { rawItem } from '../../support/tampering.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest as it } from './client-test.ts'

describe('the balance with what is in settlements and what was paid out', () => {
  it('shows settlements in every state, at the cost of one read of the ledger', async ({ deps }) => {
    const { client } = await aClientOfAllStates(deps)
    const { deps: recorded, calls } = recordTable(deps)

    expect(await figuresOf(recorded, client)).toStrictEqual(FIGURES_OF_ALL_STATES)

    expect(calls.map(({ name }) => name)).toStrictEqual(['query'])
    await expectBalanced(deps, client.clientId)
  })

  const moves = {
    'a sweep': (deps: TestDeps, { client }: AllStates): Promise<unknown> => sweepADayLater(deps, client),
    'a payout': (deps: TestDeps, { recorded }: AllStates): Promise<unknown> => payOut(deps, recorded),
    'a recredit': (deps: TestDeps, { failed }: AllStates): Promise<unknown> => recredit(deps, failed),
    'a sweep of re-credits alone': (deps: TestDeps, { client }: AllStates): Promise<unknown> => sweep(deps, client),
  }

  it.for(Object.entries(moves))('%s moves money from one figure to another', async ([, run], { deps }) => {
    const scene = await aClientOfAllStates(deps)

    await run(deps, scene)

    const shown = await figuresOf(deps, scene.client)
    expect(shown).not.toStrictEqual(FIGURES_OF_ALL_STATES)
    expect(sumOf(shown)).toBe(sumOf(FIGURES_OF_ALL_STATES))
    await expectBalanced(deps, scene.client.clientId)
  })

  it('has nothing in settlements and nothing paid out before the first sweep', async ({ deps }) => {
    const client = await aStoredClient(deps)
    const nothing = { pendingMinor: 0, availableMinor: 0, inSettlementMinor: 0, paidOutMinor: 0 }
    expect(await figuresOf(deps, client)).toStrictEqual(nothing)

    await aSucceededPayment(deps, client, { notionalMinor: 50_000 })

    expect(await figuresOf(deps, client)).toStrictEqual({ ...nothing, pendingMinor: 45_950 })
  })
})

describe('marking a settlement paid', () => {
  it('moves its net from in settlement to paid out, once, also when another operator closes it', async ({
    deps,
    client,
  }) => {
    const settlement = await settled(deps, client, 50_000)

    const paid = payOut(deps, settlement)
    await Promise.allSettled([paid.then(() => payOut(deps, settlement)), paid.then(() => fail(deps, settlement))])

    expect(await rawItem(deps, windowKey(client.clientId))).toMatchObject({
      available_minor: 0,
      in_settlement_minor: 0,
      paid_out_minor: 45_950,
    })
  })

  it('is refused, and writes nothing, where there is no window', async ({ deps }) => {
    const client = await withFloor(deps)
    const settlement = await settled(deps, client, 50_000)
    await deps.table.write(remove(windowKey(client.clientId), exists))

    await expect(payOut(deps, settlement)).rejects.toThrow('a client has no window')

    expect(await findAnySettlement(deps, settlement.settlementId)).toMatchObject({ status: 'recorded' })
    expect(await listAuditRecords(deps, settlement.settlementId)).toStrictEqual([])
  })
})
