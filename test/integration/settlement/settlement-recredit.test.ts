import { describe, expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { type ClientChanges, changeClient } from '../../../shared/client/client-store.ts'
import { paymentTimeline } from '../../../shared/inquiry/payment-timeline.ts'
import { getBalance } from '../../../shared/ledger/balance.ts'
import { minor } from '../../../shared/money.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { windowKey } from '../../../shared/table/keys.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { settled, sweepADayLater } from '../../support/payout-builders.ts'
import {
  aDayLater,
  aSucceededPayment,
  BANK,
  BY_OPERATOR,
  fail,
  recredit,
  settlementsOf,
  sweep,
  sweptNow,
  trigger,
} from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest as it } from './client-test.ts'

const NEW_BANK = { ...BANK, bankAccountNo: '7777777777' }

const change = (deps: TestDeps, { clientId }: Client, changes: ClientChanges) =>
  changeClient(deps, { clientId, operator: BY_OPERATOR.operator, changes })

/** What merchants see without asking for more. */
const balanceOf = async (deps: TestDeps, { clientId }: Client) => {
  const { inSettlementMinor: _, paidOutMinor: __, ...balance } = await getBalance(deps, clientId)
  return balance
}

describe('recrediting a failed settlement (design section 4)', () => {
  it('puts its net to available, and leaves all else as it is', async ({ deps, client, settlement }) => {
    deps.clock.advance(60)
    await fail(deps, settlement)

    const recredited = await recredit(deps, settlement)

    expect(recredited).toMatchObject({ status: 'failed', notes: BY_OPERATOR.notes, recreditedAt: deps.now() })
    expect(await findAnySettlement(deps, settlement.settlementId)).toStrictEqual(recredited)
    const balance = { availableMinor: 95_900, pendingMinor: 0, updatedAt: deps.now() }
    expect(await balanceOf(deps, client)).toStrictEqual(balance)
  })

  it('happens once when three operators ask at once', { repeats: 9 }, async ({ deps, client, settlement }) => {
    await fail(deps, settlement)

    const results = await Promise.allSettled([1, 2, 3].map(() => recredit(deps, settlement)))

    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await balanceOf(deps, client)).toMatchObject({ availableMinor: 95_900 })
  })

  it('at the moment of a sweep is drawn once, by it or by the next', async ({ deps, client, settlement }) => {
    await fail(deps, settlement)
    await aSucceededPayment(deps, client)
    aDayLater(deps)

    const [, ...swept] = await Promise.all([recredit(deps, settlement), sweep(deps, client), sweep(deps, client)])
    const all = [...swept.flat(), ...(await sweep(deps, client))]

    expect(all.filter(({ replaces }) => replaces === settlement.settlementId)).toHaveLength(1)
    expect(all).toHaveLength(2)
    expect(await balanceOf(deps, client)).toMatchObject({ availableMinor: 0, pendingMinor: 0 })
  })
})

describe('recording a recredited settlement again', () => {
  it('keeps window and sums, and takes the bank details of now', async ({ deps, client, recredited }) => {
    await change(deps, client, { bank: NEW_BANK })
    deps.clock.advance(60)

    const settlements = await trigger(deps, client)

    expect(settlements).toEqual([
      {
        ...recredited,
        settlementId: expect.not.stringMatching(recredited.settlementId),
        status: 'recorded',
        triggeredBy: 'manual',
        bank: { ...NEW_BANK, since: expect.any(String), replaces: true },
        notes: undefined,
        recreditedAt: undefined,
        replaces: recredited.settlementId,
        createdAt: deps.now(),
      },
    ])
    expect(await settlementsOf(deps, client)).toEqual([settlements[0], recredited])
    expect(await deps.table.get(windowKey(client.clientId))).not.toHaveProperty('recreditedIds')
    const balance = { availableMinor: 0, pendingMinor: 0, updatedAt: deps.now() }
    expect(await balanceOf(deps, client)).toStrictEqual(balance)
  })

  it('happens once, although another sweep has read it too', async ({ deps, client, recredited }) => {
    const late = beforeFirst(deps, 'transact', () => sweep(deps, client))

    expect(await sweep(late, client)).toStrictEqual([])

    expect(
      (await settlementsOf(deps, client)).filter(({ replaces }) => replaces === recredited.settlementId),
    ).toHaveLength(1)
  })

  it('comes before the new window, and both are answered', async ({ deps, client, recredited }) => {
    await aSucceededPayment(deps, client, { notionalMinor: 20_000 })

    const settlements = await sweepADayLater(deps, client)

    const { settlementId, periodEnd } = recredited
    expect(settlements).toMatchObject([
      { replaces: settlementId, grossMinor: 100_000, periodEnd },
      { grossMinor: 20_000, periodStart: periodEnd },
    ])
  })

  it('can happen any number of times, and the timeline shows them all', async ({ deps, client }) => {
    const payment = await aSucceededPayment(deps, client)
    aDayLater(deps)
    let last = await sweptNow(deps, client)
    const ids = [last.settlementId]
    for (let round = 0; round < 3; round++) {
      await fail(deps, last)
      await recredit(deps, last)
      deps.clock.advance(60)
      expect(await balanceOf(deps, client)).toMatchObject({ availableMinor: 95_900, pendingMinor: 0 })
      const again = await sweptNow(deps, client)
      expect(again).toMatchObject({ replaces: last.settlementId, netMinor: 95_900 })
      ids.push(again.settlementId)
      last = again
    }

    const { timeline } = await paymentTimeline(deps, payment)

    expect(timeline.settlements).toStrictEqual(
      ids.map((settlement_id, at) => ({ settlement_id, status: at === 3 ? 'recorded' : 'failed', settled_at: null })),
    )
  })

  it('waits in available below the floor of now, as the trigger says', async ({ deps, client, recredited }) => {
    await change(deps, client, { settlementFloorMinor: recredited.netMinor })

    await expect(trigger(deps, client)).rejects.toMatchObject({
      code: 'validation',
      message: 'nothing to settle: 0 IDR are eligible, the floor is 95900 IDR and must be exceeded',
      actionHint: expect.stringContaining('95900 IDR recredited'),
    })
    expect(await balanceOf(deps, client)).toMatchObject({ availableMinor: 95_900 })
    await change(deps, client, { settlementFloorMinor: minor(95_899) })
    expect(await sweep(deps, client)).toMatchObject([{ netMinor: 95_900 }])
  })

  it('is not held up by another one that waits below the floor', async ({ deps, client }) => {
    const small = await settled(deps, client, 10_000)
    const large = await settled(deps, client, 100_000)
    for (const settlement of [small, large]) {
      await fail(deps, settlement)
      await recredit(deps, settlement)
    }
    await change(deps, client, { settlementFloorMinor: minor(50_000) })

    expect(await sweep(deps, client)).toMatchObject([{ replaces: large.settlementId }])

    expect(await balanceOf(deps, client)).toMatchObject({ availableMinor: small.netMinor })
  })
})
