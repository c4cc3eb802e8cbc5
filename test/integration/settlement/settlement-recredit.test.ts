import { describe, expect, it } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { type ClientChanges, changeClient } from '../../../shared/client/client-store.ts'
import { paymentTimeline } from '../../../shared/inquiry/payment-timeline.ts'
import { getBalance } from '../../../shared/ledger/balance.ts'
import { minor } from '../../../shared/money.ts'
import { markSettlementFailed, recreditSettlement } from '../../../shared/settlement/close-settlement.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { findAnySettlement, listSettlements } from '../../../shared/settlement/settlement-store.ts'
import { triggerSettlement } from '../../../shared/settlement/trigger-settlement.ts'
import { windowKey } from '../../../shared/table/keys.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import {
  aDayLater,
  aSettledClient,
  aSucceededPayment,
  BANK,
  failedAndRecredited,
  sweep,
  withFloor,
} from '../../support/settlement-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const OPERATOR = 'sari@gateway.example'
const NEW_BANK = { ...BANK, bankAccountNo: '7777777777' }

const trigger = (deps: TestDeps, { clientId }: Client) => triggerSettlement(deps, { clientId, operator: OPERATOR })

const change = (deps: TestDeps, { clientId }: Client, changes: ClientChanges) =>
  changeClient(deps, { clientId, operator: OPERATOR, changes })

const failAndRecredit = async (deps: TestDeps, { settlementId }: Settlement) => {
  await markSettlementFailed(deps, { settlementId, operator: OPERATOR, notes: 'account closed' })
  return recreditSettlement(deps, { settlementId, operator: OPERATOR, notes: 'pay out again' })
}

describe('recrediting a failed settlement (design section 4)', () => {
  it('puts its net to available and leaves pending and the settlement as they are', async () => {
    const deps = testDeps()
    const { client, settlement } = await aSettledClient(deps)
    deps.clock.advance(60)

    const recredited = await failAndRecredit(deps, settlement)

    expect(recredited).toMatchObject({ status: 'failed', notes: 'account closed', recreditedAt: deps.now() })
    expect(await findAnySettlement(deps, settlement.settlementId)).toStrictEqual(recredited)
    expect(await getBalance(deps, client.clientId)).toStrictEqual({
      availableMinor: 95_900,
      pendingMinor: 0,
      updatedAt: deps.now(),
    })
    await expectBalanced(deps, client.clientId)
  })

  it.each(Array.from({ length: 10 }, (_, index) => index + 1))(
    'happens once when three operators ask at once (round %i)',
    async () => {
      const deps = testDeps()
      const { client, settlement } = await aSettledClient(deps)
      const { settlementId } = settlement
      await markSettlementFailed(deps, { settlementId, operator: OPERATOR, notes: 'account closed' })
      const recredit = () => recreditSettlement(deps, { settlementId, operator: OPERATOR, notes: 'again' })

      const results = await Promise.allSettled([recredit(), recredit(), recredit()])

      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await getBalance(deps, client.clientId)).toMatchObject({ availableMinor: 95_900 })
      await expectBalanced(deps, client.clientId)
    },
  )

  it('at the moment of a sweep is drawn now or by the next one, and never twice', async () => {
    const deps = testDeps()
    const { client, settlement } = await aSettledClient(deps)
    const { settlementId } = settlement
    await markSettlementFailed(deps, { settlementId, operator: OPERATOR, notes: 'account closed' })
    await aSucceededPayment(deps, client)
    aDayLater(deps)

    const [, ...swept] = await Promise.all([
      recreditSettlement(deps, { settlementId, operator: OPERATOR, notes: 'again' }),
      sweep(deps, client),
      sweep(deps, client),
    ])
    const next = await sweep(deps, client)

    const replacing = [...swept.flat(), ...next].filter(({ replaces }) => replaces === settlementId)
    expect(replacing).toHaveLength(1)
    expect([...swept.flat(), ...next]).toHaveLength(2)
    expect(await getBalance(deps, client.clientId)).toMatchObject({ availableMinor: 0, pendingMinor: 0 })
    await expectBalanced(deps, client.clientId)
  })
})

describe('recording a recredited settlement again', () => {
  it('keeps window and sums, takes the bank details of now, and names what it replaces', async () => {
    const deps = testDeps()
    const { client, failed } = await failedAndRecredited(deps)
    await change(deps, client, { bank: NEW_BANK })
    deps.clock.advance(60)

    const settlements = await trigger(deps, client)

    expect(settlements).toEqual([
      {
        ...failed,
        settlementId: expect.not.stringMatching(failed.settlementId),
        status: 'recorded',
        triggeredBy: 'manual',
        bank: NEW_BANK,
        notes: undefined,
        recreditedAt: undefined,
        replaces: failed.settlementId,
        createdAt: deps.now(),
      },
    ])
    expect(await listSettlements(deps, client.clientId, { page: 1, perPage: 10 })).toEqual([settlements[0], failed])
    expect(await deps.table.get(windowKey(client.clientId))).not.toHaveProperty('recreditedIds')
    expect(await getBalance(deps, client.clientId)).toStrictEqual({
      availableMinor: 0,
      pendingMinor: 0,
      updatedAt: deps.now(),
    })
    await expectBalanced(deps, client.clientId)
  })

  it('comes before the new window, and both are answered', async () => {
    const deps = testDeps()
    const { client, failed } = await failedAndRecredited(deps)
    await aSucceededPayment(deps, client, { notionalMinor: 20_000 })
    aDayLater(deps)

    const settlements = await sweep(deps, client)

    expect(settlements).toMatchObject([
      { replaces: failed.settlementId, grossMinor: 100_000, periodEnd: failed.periodEnd },
      { grossMinor: 20_000, periodStart: failed.periodEnd },
    ])
    await expectBalanced(deps, client.clientId)
  })

  it('can fail, be recredited and be recorded again any number of times', async () => {
    const deps = testDeps()
    const { client, failed } = await failedAndRecredited(deps)
    let last = failed
    for (let round = 0; round < 3; round++) {
      const [again] = await sweep(deps, client)
      expect(again).toMatchObject({ replaces: last.settlementId, netMinor: 95_900 })
      if (again) last = await failAndRecredit(deps, again)
      deps.clock.advance(60)
    }

    expect(await getBalance(deps, client.clientId)).toMatchObject({ availableMinor: 95_900, pendingMinor: 0 })
    await expectBalanced(deps, client.clientId)
  })

  it('checks the floor anew: what does not exceed it waits in available, and the trigger says so', async () => {
    const deps = testDeps()
    const { client } = await failedAndRecredited(deps)
    await change(deps, client, { settlementFloorMinor: minor(95_900) })

    await expect(trigger(deps, client)).rejects.toMatchObject({
      code: 'validation',
      message: 'nothing to settle: 0 IDR are eligible, the floor is 95900 IDR and must be exceeded',
      actionHint: expect.stringContaining('95900 IDR recredited'),
    })
    expect(await getBalance(deps, client.clientId)).toMatchObject({ availableMinor: 95_900 })
    await change(deps, client, { settlementFloorMinor: minor(95_899) })
    expect(await sweep(deps, client)).toMatchObject([{ netMinor: 95_900 }])

    await expectBalanced(deps, client.clientId)
  })

  it('is not held up by another one that waits below the floor', async () => {
    const deps = testDeps()
    const { client, settlement: small } = await aSettledClient(deps, [{ notionalMinor: 10_000 }])
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    const [large] = await sweep(deps, client)
    for (const settlement of [small, large]) if (settlement) await failAndRecredit(deps, settlement)
    await change(deps, client, { settlementFloorMinor: minor(50_000) })

    expect(await sweep(deps, client)).toMatchObject([{ replaces: large?.settlementId }])

    expect(await getBalance(deps, client.clientId)).toMatchObject({ availableMinor: small.netMinor })
    await expectBalanced(deps, client.clientId)
  })

  it('shows every settlement a payment was in on its timeline, oldest first', async () => {
    const deps = testDeps()
    const client = await withFloor(deps)
    const payment = await aSucceededPayment(deps, client)
    aDayLater(deps)
    const [first] = await sweep(deps, client)
    if (first) await failAndRecredit(deps, first)
    deps.clock.advance(60)
    const [second] = await sweep(deps, client)

    const { timeline } = await paymentTimeline(deps, payment)

    expect(timeline.settlements).toStrictEqual([
      { settlement_id: first?.settlementId, status: 'failed', settled_at: null },
      { settlement_id: second?.settlementId, status: 'recorded', settled_at: null },
    ])
    await expectBalanced(deps, client.clientId)
  })
})
