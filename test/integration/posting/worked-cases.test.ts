/**
 * Goal: what money that goes back costs whom, figure by figure. Method: each case is worked by hand; the entries are
 * compared as [type, gross, fee, markup, net, provider, house], and the trial balance as [provider, clients, house].
 * The payment of every case: 100,000 paid, 4,440 kept by the provider, 100 ours, 95,460 the client's.
 */
import { describe, expect } from 'vitest'
import { getBalance } from '../../../shared/ledger/balance.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { aDayLater, fail, payOut, recredit, sweep, sweptNow } from '../../support/settlement-builders.ts'
import { aChargeback, aRefund, aVoid, aWin } from './provider-rows.ts'
import { byText, heard, it, linesIn, now, OWN, trialBalance } from './worked-case.ts'
import { writeOff } from './write-off.ts'

describe('money of a posted payment', () => {
  it('goes back in parts, and then whole', async ({ deps, client, payment }) => {
    await heard(deps, payment, aRefund(deps, 30_000), aRefund(deps, 70_000))

    expect(await linesIn(deps, client)).toStrictEqual([
      OWN,
      ['refund', -30_000, 0, 0, -30_000, -30_000, 0],
      // Of 70,000 the client has 65,460 left; the fee and the markup are ours to lose.
      ['refund', -70_000, -4_440, -100, -65_460, -70_000, -4_540],
    ])
    expect(await trialBalance(deps, client)).toStrictEqual([-4_440, 0, -4_440])
  })

  it('goes back by half and half as it does by one whole', async ({ deps, client, payment }) => {
    await heard(deps, payment, aRefund(deps, 50_000), aRefund(deps, 50_000))

    expect(await trialBalance(deps, client)).toStrictEqual([-4_440, 0, -4_440])
    expect(await now(deps, payment)).toMatchObject({
      takenBackMinor: 95_460,
      reversal: { kind: 'refund', amountMinor: 100_000 },
    })
  })

  it('is disputed in part: the provider’s fee of the dispute is ours', async ({ deps, client, payment }) => {
    await heard(deps, payment, aChargeback(deps, 40_000))

    expect(await linesIn(deps, client)).toStrictEqual([OWN, ['chargeback', -40_000, 0, 0, -40_000, -65_000, -25_000]])
    expect(await trialBalance(deps, client)).toStrictEqual([30_560, 55_460, -24_900])
  })

  it('comes again when the dispute is won', async ({ deps, client, payment }) => {
    await heard(deps, payment, aChargeback(deps, 40_000), aWin(deps, 40_000))

    expect((await linesIn(deps, client)).at(-1)).toStrictEqual(['dispute_won', 40_000, 0, 0, 40_000, 40_000, 0])
    expect(await trialBalance(deps, client)).toStrictEqual([70_560, 95_460, -24_900])
    expect(await now(deps, payment)).toMatchObject({ takenBackMinor: 0, reversal: { undoneAt: expect.any(String) } })
  })

  it('is lost with the dispute, whole', async ({ deps, client, payment }) => {
    await heard(deps, payment, aChargeback(deps, 100_000))

    expect(await linesIn(deps, client)).toStrictEqual([
      OWN,
      ['chargeback', -100_000, -4_440, -100, -95_460, -125_000, -29_540],
    ])
    expect(await trialBalance(deps, client)).toStrictEqual([-29_440, 0, -29_440])
  })

  it('goes back once more when the dispute is raised again, and comes when that is won too', async ({
    deps,
    client,
    payment,
  }) => {
    const rows = [aChargeback(deps, 100_000), aWin(deps, 100_000), aChargeback(deps, 100_000, { feeMinor: 0 })]
    await heard(deps, payment, ...rows)
    expect(await trialBalance(deps, client)).toStrictEqual([-29_440, 0, -29_440])

    await heard(deps, payment, aWin(deps, 100_000))

    expect(await linesIn(deps, client)).toStrictEqual([
      OWN,
      ['chargeback', -100_000, -4_440, -100, -95_460, -125_000, -29_540],
      ['dispute_won', 100_000, 4_440, 100, 95_460, 100_000, 4_540],
      ['chargeback', -100_000, -4_440, -100, -95_460, -100_000, -4_540],
      ['dispute_won', 100_000, 4_440, 100, 95_460, 100_000, 4_540],
    ])
    expect(await trialBalance(deps, client)).toStrictEqual([70_560, 95_460, -24_900])
  })

  it('is void at the provider, after a part went back', async ({ deps, client, payment }) => {
    await heard(deps, payment, aRefund(deps, 30_000), aVoid(deps, `txn_${payment.paymentId}`, 100_000, true))

    expect(await linesIn(deps, client)).toStrictEqual([
      OWN,
      ['refund', -30_000, 0, 0, -30_000, -30_000, 0],
      ['reversal', -70_000, -4_440, -100, -65_460, -95_560, -30_100],
    ])
    expect(await trialBalance(deps, client)).toStrictEqual([-30_000, 0, -30_000])
  })

  it('comes again when a refund is void: it gives back what is left of its own', async ({ deps, client, payment }) => {
    await heard(deps, payment, aRefund(deps, 30_000, 'r1'), aRefund(deps, 20_000, 'r2'), aVoid(deps, 'r1', 30_000))

    expect((await linesIn(deps, client)).at(-1)).toStrictEqual(['reversal', 30_000, 0, 0, 30_000, 30_000, 0])
    expect(await trialBalance(deps, client)).toStrictEqual([75_560, 75_460, 100])
  })

  it('moves once by a row that is heard of twice', async ({ deps, client, payment }) => {
    const refund = aRefund(deps, 30_000)
    await heard(deps, payment, refund, refund)
    await movePayment(deps, payment, refund)

    expect(await linesIn(deps, client)).toHaveLength(2)
  })
})

describe('money of a payment that was paid out', () => {
  it('goes back from the next settlement, which nets it', async ({ deps, client, payment }) => {
    aDayLater(deps)
    await payOut(deps, await sweptNow(deps, client))
    await heard(deps, payment, aRefund(deps, 30_000))
    expect(await getBalance(deps, client.clientId)).toMatchObject({ pendingMinor: -30_000, paidOutMinor: 95_460 })
    expect(await sweep(deps, client)).toBeUndefined()

    await aSucceededPayment(deps, client, { notionalMinor: 50_000 })
    aDayLater(deps)

    expect(await sweep(deps, client)).toMatchObject({
      grossMinor: 20_000,
      providerFeesMinor: 4_000,
      markupMinor: 50,
      netMinor: 15_950,
      paymentCount: 1,
      entryCount: 2,
    })
    expect(await trialBalance(deps, client)).toStrictEqual([95_560 - 30_000 + 46_000, 111_410, 150])
  })

  it('is won after the house gave it up: the house takes as much of it again', async ({ deps, client, payment }) => {
    aDayLater(deps)
    await payOut(deps, await sweptNow(deps, client))
    await heard(deps, payment, aChargeback(deps, 100_000))
    deps.clock.advance(60)
    await writeOff(deps, client, 95_460)
    expect(await getBalance(deps, client.clientId)).toMatchObject({ pendingMinor: 0 })

    await heard(deps, payment, aWin(deps, 100_000))

    const [, , given, ...last] = await linesIn(deps, client)
    expect(given).toStrictEqual(['written_off', 95_460, 0, 0, 95_460, 0, -95_460])
    expect(last.toSorted(byText)).toStrictEqual([
      ['dispute_won', 100_000, 4_440, 100, 95_460, 100_000, 4_540],
      ['written_off', -95_460, 0, 0, -95_460, 0, 95_460],
    ])
    expect(await trialBalance(deps, client)).toStrictEqual([70_560, 95_460, -24_900])
  })

  it('is won for more than the house gave up: the client has the rest', async ({ deps, client, payment }) => {
    aDayLater(deps)
    await payOut(deps, await sweptNow(deps, client))
    await heard(deps, payment, aChargeback(deps, 100_000))
    await writeOff(deps, client, 40_000)

    await heard(deps, payment, aWin(deps, 100_000))

    expect(await getBalance(deps, client.clientId)).toMatchObject({ pendingMinor: 0, paidOutMinor: 95_460 })
    expect(await trialBalance(deps, client)).toStrictEqual([70_560, 95_460, -24_900])
  })
})

describe('money of a payment in a settlement that failed', () => {
  it('goes back beside its re-credit, in one settlement', async ({ deps, client, payment }) => {
    aDayLater(deps)
    const failed = await sweptNow(deps, client)
    await heard(deps, payment, aChargeback(deps, 40_000))
    await fail(deps, failed)
    await recredit(deps, failed)
    deps.clock.advance(60)

    expect(await sweep(deps, client)).toMatchObject({
      grossMinor: 60_000,
      netMinor: 55_460,
      recreditedMinor: 95_460,
      paymentCount: 1,
      entryCount: 2,
    })
    expect(await trialBalance(deps, client)).toStrictEqual([30_560, 55_460, -24_900])
  })

  it('goes back after twenty failed transfers as after none', async ({ deps, client, payment }) => {
    aDayLater(deps)
    let last = await sweptNow(deps, client)
    for (let time = 0; time < 20; time++) {
      await fail(deps, last)
      await recredit(deps, last)
      deps.clock.advance(60)
      last = await sweptNow(deps, client)
    }

    await heard(deps, payment, aChargeback(deps, 100_000))

    expect(await getBalance(deps, client.clientId)).toMatchObject({ pendingMinor: -95_460, inSettlementMinor: 95_460 })
    expect(await trialBalance(deps, client)).toStrictEqual([-29_440, 0, -29_440])
  })
})
