import { describe, expect } from 'vitest'
import { changeClient } from '../../../shared/client/client-store.ts'
import { paymentTimeline } from '../../../shared/inquiry/payment-timeline.ts'
import { raiseFence } from '../../../shared/ledger/fence-store.ts'
import { minor } from '../../../shared/money.ts'
import { payoutFigures } from '../../../shared/payout/payout-figures.ts'
import { recreditEntry } from '../../../shared/settlement/recredit-settlement.ts'
import { returnPayout } from '../../../shared/settlement/return-payout.ts'
import { toOperatorSettlement } from '../../../shared/settlement/settlement-dto.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { settlementKey, windowKey } from '../../../shared/table/keys.ts'
import { addMs } from '../../../shared/time.ts'
import { adjustBalance, aFinding } from '../../support/money-rows.ts'
import { OPERATOR } from '../../support/operator-actions.ts'
import {
  anOpenPayment,
  aSucceededPayment,
  entriesIn,
  postAssumed,
} from '../../support/paid-builders.ts'
import {
  aDayLater,
  BANK,
  BY_OPERATOR,
  bringBack,
  fail,
  payOut,
  recredit,
  settledAmount,
  settlementsOf,
  sweptADayLater,
  sweptNow,
  trigger,
} from '../../support/settlement-builders.ts'
import { alter, putRaw, rawItem } from '../../support/tampering.ts'
import {
  beforeCommit,
  beforeFirst,
  interceptTable,
  type TestDeps,
  writesTo,
} from '../../support/test-deps.ts'
import { withApproval } from '../../support/with-approval.ts'
import { clientTest as it } from './client-test.ts'

describe('a re-credit', () => {
  it('is one line of the next settlement, with the current bank details', async ({
    deps,
    client,
    recredited,
  }) => {
    await changeClient(deps, {
      clientId: client.clientId,
      operator: OPERATOR,
      changes: { bank: { ...BANK, bankAccountNo: '7777777777' } },
    })

    const settlement = await trigger(deps, client)

    const sums = { grossMinor: 100_000, feeMinor: 4_000, markupMinor: 100, netMinor: 95_900 }
    expect(settlement).toMatchObject({
      ...sums,
      paymentCount: 1,
      entryCount: 1,
      recreditedMinor: 95_900,
      unprovenMinor: 0,
      previousId: recredited.settlementId,
      triggeredBy: 'manual',
      bank: { bankAccountNo: '7777777777', isChange: true },
    })
    expect(await settlementsOf(deps, client)).toEqual([settlement, recredited])
    expect(await entriesIn(deps, client)).toMatchObject([
      { type: 'payment' },
      { type: 'recredit', netMinor: 0, carried: { ...sums, paymentCount: 1, unprovenMinor: 0 } },
    ])
  })

  it('is not made again when a restore kept all of it but its settlement', async ({
    deps,
    client,
    recredited,
  }) => {
    const key = settlementKey(recredited.settlementId)
    const { recredited_at, ...torn } = await rawItem(deps, key)
    await putRaw(deps, torn)

    await expect(recredit(deps, recredited)).rejects.toThrow('a record says that')

    await alter(deps, key, { recredited_at })
    expect(await entriesIn(deps, client)).toMatchObject([{}, { type: 'recredit' }])
  })

  it('that loses each try answers 409, and that comes second says that one was made already', async ({
    deps,
    client,
  }) => {
    const failed = await fail(deps, await settledAmount(deps, client))
    let closed_until = deps.now()
    const lost = interceptTable(deps, {
      before: async ({ name }) => {
        closed_until = addMs(closed_until, 1)
        if (name === 'transact') await alter(deps, windowKey(client.clientId), { closed_until })
      },
    })
    await expect(recredit(lost, failed)).rejects.toMatchObject({ code: 'conflict' })
    const closed = addMs(closed_until, 1)
    const closedMeanwhile = beforeCommit(deps, () => raiseFence(deps, client.clientId, closed))
    const overtaken = beforeFirst(deps, 'query', () => recredit(closedMeanwhile, failed))

    await expect(recredit(overtaken, failed)).rejects.toThrow('was recredited already')
    expect(await settlementsOf(deps, client)).toMatchObject([{ recreditedAt: closed }])
  })

  it('is refused if a recount corrects the sums while it is booked', async ({ deps, client }) => {
    const failed = await fail(deps, await settledAmount(deps, client))
    const key = settlementKey(failed.settlementId)
    const recounted = beforeFirst(deps, writesTo(key), () => alter(deps, key, { digest: 'x' }))

    await expect(recredit(recounted, failed)).rejects.toThrow('not those of its entries')
    await alter(deps, key, { digest: failed.digest })
  })

  it('refuses altered sums, and reduces the debt that a payout must confirm and a client can pay back', async ({
    deps,
    client,
    recredited,
  }) => {
    expect(() => recreditEntry({ ...recredited, netMinor: minor(95_901) }, deps.now())).toThrow(
      'figures do not add up',
    )
    await adjustBalance(deps, client, 'correction', -100_000)

    expect(await payoutFigures(deps, recredited)).toStrictEqual({ owed: 100_000 - 95_900 })
    const repaid = adjustBalance(deps, client, 'recovered', 4_101)
    await expect(repaid).rejects.toThrow('this client owes only 4100 IDR')
  })

  it('carries over the unproven amount and the findings of failed settlements', async ({
    deps,
    client,
  }) => {
    const payment = await aSucceededPayment(deps, client)
    await aFinding(deps, { cause: 'amount_differs', payment })
    await postAssumed(deps, await anOpenPayment(deps, client, { notionalMinor: 50_000 }))
    let settlement = await sweptADayLater(deps, client)

    for (let time = 0; time < 3; time++) {
      expect(settlement).toMatchObject({ netMinor: 141_850, unprovenMinor: 45_950 })
      await recredit(deps, await fail(deps, settlement))
      settlement = await sweptNow(deps, client)
    }

    expect(await payoutFigures(deps, settlement)).toStrictEqual({ unproven: 45_950, findings: 1 })
  })

  it('adds the next settlement to the timelines of its payments', async ({ deps, client }) => {
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    const payment = await aSucceededPayment(deps, client)
    await sweptNow(deps, client)
    const failedSettlement = await sweptADayLater(deps, client)
    await recredit(deps, await fail(deps, failedSettlement))
    const nextSettlement = await sweptNow(deps, client)

    expect((await paymentTimeline(deps, payment)).timeline.settlements).toMatchObject([
      { settlement_id: failedSettlement.settlementId, status: 'failed' },
      { settlement_id: nextSettlement.settlementId, status: 'recorded' },
    ])
  })

  it('is not needed of a returned payout: the next settlement is told and has the findings', async ({
    deps,
    client,
  }) => {
    const payment = await aSucceededPayment(deps, client)
    const { settlementId } = await payOut(deps, await sweptADayLater(deps, client))
    await bringBack(deps, { settlementId })
    const nextSettlement = await sweptNow(deps, client)

    for (const named of [payment, await aSucceededPayment(deps, client)])
      await aFinding(deps, { subject: named.paymentId, cause: 'amount_differs', payment: named })
    expect(await payoutFigures(deps, nextSettlement)).toStrictEqual({ findings: 1 })
    expect((await paymentTimeline(deps, payment)).timeline.settlements).toMatchObject([
      { settlement_id: settlementId, status: 'manual_paid' },
      { settlement_id: nextSettlement.settlementId, status: 'recorded' },
    ])
  })
})

it('a payout that two operators return at once, each with an approval, comes back once', async ({
  deps,
  client,
}) => {
  const { settlementId, netMinor } = await payOut(deps, await settledAmount(deps, client))
  const giveBack = (to: TestDeps, bankReference: string) =>
    withApproval(deps, () => returnPayout(to, { settlementId, ...BY_OPERATOR, bankReference }))
  const other = async () => {
    deps.clock.advance(1)
    await giveBack(deps, 'OTHER')
  }

  const late = giveBack(beforeCommit(deps, other), 'BACK')
  await expect(late).rejects.toThrow('returned already')

  const returned = (await entriesIn(deps, client)).filter(({ type }) => type === 'returned')
  expect(returned).toMatchObject([{ netMinor }])
  const shown = toOperatorSettlement(await findAnySettlement(deps, settlementId))
  expect(shown).toMatchObject({ returned_at: returned[0]?.eligibleAt })
})
