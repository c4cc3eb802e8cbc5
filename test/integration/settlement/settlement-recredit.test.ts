import { describe, expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { type ClientChanges, changeClient } from '../../../shared/client/client-store.ts'
import { paymentTimeline } from '../../../shared/inquiry/payment-timeline.ts'
import { getBalance } from '../../../shared/ledger/ledger-store.ts'
import { minor } from '../../../shared/money.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { anOpenPayment, aSucceededPayment, postAssumed } from '../../support/paid-builders.ts'
import { settled, sweepADayLater } from '../../support/payout-builders.ts'
import { entriesIn } from '../../support/recount/entries-in.ts'
import {
  aDayLater,
  BANK,
  BY_OPERATOR,
  fail,
  payOut,
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

/** It fails, and an operator makes its funds available again; a minute goes by. */
const recreditedNow = async (deps: TestDeps, settlement: Settlement) => {
  await fail(deps, settlement)
  await recredit(deps, settlement)
  deps.clock.advance(60)
}

describe('a re-credit in the next settlement', () => {
  it('is one line with the sums of the failed one, and bank details of now', async ({ deps, client, recredited }) => {
    await change(deps, client, { bank: NEW_BANK })
    deps.clock.advance(60)

    const settlement = await trigger(deps, client)

    expect(settlement).toMatchObject({
      grossMinor: 100_000,
      providerFeesMinor: 4_000,
      markupMinor: 100,
      netMinor: 95_900,
      paymentCount: 1,
      entryCount: 1,
      recreditedMinor: 95_900,
      unprovenMinor: 0,
      previousId: recredited.settlementId,
      triggeredBy: 'manual',
      bank: { bankAccountNo: NEW_BANK.bankAccountNo, isChange: true },
    })
    expect(await settlementsOf(deps, client)).toEqual([settlement, recredited])
    expect(await entriesIn(deps, client)).toMatchObject([{ type: 'payment' }, { type: 'recredit', netMinor: 95_900 }])
    expect(await getBalance(deps, client.clientId)).toMatchObject({ availableMinor: 0, pendingMinor: 0 })
  })

  it('is recorded together with what was posted since', async ({ deps, client, recredited }) => {
    await aSucceededPayment(deps, client, { notionalMinor: 20_000 })

    const settlement = await sweepADayLater(deps, client)

    const { settlementId } = recredited
    expect(settlement).toMatchObject({ previousId: settlementId, grossMinor: 120_000, paymentCount: 2, entryCount: 2 })
  })

  it('carries what no settled row proves of the failed one', async ({ deps, client }) => {
    await aSucceededPayment(deps, client)
    await postAssumed(deps, await anOpenPayment(deps, client, { notionalMinor: 50_000 }))
    aDayLater(deps)
    const failed = await sweptNow(deps, client)
    await recreditedNow(deps, failed)

    const sums = { netMinor: 141_850, unprovenMinor: 45_950 }
    expect([failed, await sweep(deps, client)]).toMatchObject([sums, sums])
  })

  it('fails and comes again twenty times, and is paid out once', async ({ deps, client }) => {
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    let last = await sweptNow(deps, client)
    for (let round = 0; round < 20; round++) {
      await recreditedNow(deps, last)
      expect(await getBalance(deps, client.clientId)).toMatchObject({ availableMinor: 95_900, pendingMinor: 0 })
      last = await sweptNow(deps, client)
      expect(last).toMatchObject({ netMinor: 95_900, paymentCount: 1, entryCount: 1 })
    }

    await payOut(deps, last)

    expect(await getBalance(deps, client.clientId)).toMatchObject({ paidOutMinor: 95_900, inSettlementMinor: 0 })
    expect(await settlementsOf(deps, client)).toHaveLength(21)
  })

  it('shows the payment that it carries in that payment’s timeline', async ({ deps, client }) => {
    const payment = await aSucceededPayment(deps, client)
    aDayLater(deps)
    const failed = await sweptNow(deps, client)
    await recreditedNow(deps, failed)
    const again = await sweptNow(deps, client)

    const { timeline } = await paymentTimeline(deps, payment)

    expect(timeline.settlements).toMatchObject([
      { settlement_id: failed.settlementId, status: 'failed' },
      { settlement_id: again.settlementId, status: 'recorded' },
    ])
  })

  it('waits in available while all that is due is not above the floor', async ({ deps, client, recredited }) => {
    await change(deps, client, { settlementFloorMinor: recredited.netMinor })
    deps.clock.advance(60)

    const refusal = { code: 'validation', actionHint: 'Nothing else is open.' }
    await expect(trigger(deps, client)).rejects.toMatchObject(refusal)
    expect(await getBalance(deps, client.clientId)).toMatchObject({ availableMinor: 95_900 })
    await change(deps, client, { settlementFloorMinor: minor(95_899) })
    expect(await sweep(deps, client)).toMatchObject({ netMinor: 95_900 })
  })

  it('is paid with another one where neither is above the floor alone', async ({ deps, client }) => {
    const small = await settled(deps, client, 20_000)
    const large = await settled(deps, client, 30_000)
    for (const settlement of [small, large]) await recreditedNow(deps, settlement)
    await change(deps, client, { settlementFloorMinor: minor(large.netMinor) })

    expect(await sweep(deps, client)).toMatchObject({ netMinor: small.netMinor + large.netMinor, paymentCount: 2 })
  })
})
