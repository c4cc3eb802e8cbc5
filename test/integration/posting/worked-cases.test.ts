/**
 * Goal: what money that goes back costs whom, figure by figure. Method: each case is worked by hand; the entries are
 * compared as [type, gross, fee, markup, net, provider, house], and the trial balance as [provider, clients, house].
 * The payment of every case: 100,000 paid, 4,440 kept by the provider, 100 ours, 95,460 the client's.
 */
import { describe, expect } from 'vitest'
import type { MoneyRow } from '../../../shared/journal/payment-money.ts'
import { getBalance } from '../../../shared/ledger/balance.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { bookLateRow } from '../../../shared/posting/book-late-row.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { entriesIn } from '../../support/recount/entries-in.ts'
import {
  aDayLater,
  anOpenPayment,
  aSucceededPayment,
  fail,
  payOut,
  post,
  postAssumed,
  recredit,
  settledRowFor,
  sweep,
  sweptNow,
} from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest } from '../settlement/client-test.ts'
import { aChargeback, aRefund, aVoid, aWin } from './provider-rows.ts'
import { writeOff } from './write-off.ts'

type Client = Parameters<typeof entriesIn>[1]

const now = async (deps: TestDeps, { paymentId }: Payment) => (await findStoredPayment(deps, paymentId)) as Payment

/** Applies rows one after the other, an hour apart. */
const heard = async (deps: TestDeps, payment: Payment, ...rows: readonly MoneyRow[]) => {
  for (const row of rows) {
    deps.clock.advance(3_600)
    await movePayment(deps, await now(deps, payment), row)
  }
}

/** In the order in which they were written. */
const linesIn = async (deps: TestDeps, client: Client) =>
  (await entriesIn(deps, client))
    .toSorted((a, b) => (a.postedAt < b.postedAt ? -1 : a.postedAt > b.postedAt ? 1 : 0))
    .map(({ type, grossMinor, feeMinor, markupMinor, netMinor, providerMinor, houseMinor }) => [
      type,
      ...[grossMinor, feeMinor, markupMinor, netMinor, providerMinor, houseMinor],
    ])

/** Of entries that one transaction wrote the journal knows no order. */
const byText = (a: unknown, b: unknown): number => (String(a) < String(b) ? -1 : 1)

/** What is at the provider, what clients were given and have, and what is ours; re-credits repeat what was there. */
const trialBalance = async (deps: TestDeps, client: Client) => {
  const entries = (await entriesIn(deps, client)).filter(({ type }) => type !== 'recredit')
  const sum = (of: 'providerMinor' | 'houseMinor') => entries.reduce((total, entry) => total + entry[of], 0)
  const { pendingMinor, availableMinor, inSettlementMinor, paidOutMinor } = await getBalance(deps, client.clientId)
  const clients = pendingMinor + availableMinor + inSettlementMinor + paidOutMinor
  expect(sum('providerMinor')).toBe(clients + sum('houseMinor'))
  return [sum('providerMinor'), clients, sum('houseMinor')]
}

const it = clientTest.extend('payment', async ({ deps, client }) =>
  post(deps, await anOpenPayment(deps, client), { feeMinor: 4_440 }),
)

const OWN = ['payment', 100_000, 4_440, 100, 95_460, 95_560, 100]

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

describe('money of an open payment', () => {
  const open = clientTest.extend('payment', async ({ deps, client }) => anOpenPayment(deps, client))
  const pendingOf = async (deps: TestDeps, { clientId }: Client) => (await getBalance(deps, clientId)).pendingMinor

  open('goes back at once, and by the final fee when it is posted', async ({ deps, client, payment }) => {
    await heard(deps, payment, aRefund(deps, 30_000))
    expect([await pendingOf(deps, client), await linesIn(deps, client)]).toStrictEqual([65_900, []])

    await post(deps, await now(deps, payment), { feeMinor: 4_440 })

    expect((await linesIn(deps, client)).toSorted(byText)).toStrictEqual([
      OWN,
      ['refund', -30_000, 0, 0, -30_000, -30_000, 0],
    ])
    expect(await trialBalance(deps, client)).toStrictEqual([65_560, 65_460, 100])
  })

  open.for([
    ['higher', 4_440],
    ['lower', 3_000],
  ] as const)(
    'goes back whole, and nothing is left whether its fee is %s',
    async ([, feeMinor], { deps, client, payment }) => {
      await heard(deps, payment, aRefund(deps, 100_000))
      expect(await pendingOf(deps, client)).toBe(0)

      await post(deps, await now(deps, payment), { feeMinor })

      expect(await trialBalance(deps, client)).toStrictEqual([-feeMinor, 0, -feeMinor])
      expect(await now(deps, payment)).toMatchObject({ takenBackMinor: 99_900 - feeMinor })
    },
  )

  open(
    'is void after a part went back: zeros for the client, and the part is ours',
    async ({ deps, client, payment }) => {
      await heard(deps, payment, aRefund(deps, 30_000), aVoid(deps, `txn_${payment.paymentId}`, 100_000, true))

      expect((await linesIn(deps, client)).toSorted(byText)).toStrictEqual([
        ['refund', 0, 0, 0, 0, -30_000, -30_000],
        ['reversal', 0, 0, 0, 0, 0, 0],
      ])
      expect(await trialBalance(deps, client)).toStrictEqual([-30_000, 0, -30_000])
      expect(await now(deps, payment)).not.toHaveProperty('openAt')
    },
  )

  open('that is void is moved by no later row but at the provider', async ({ deps, client, payment }) => {
    await heard(deps, payment, aVoid(deps, `txn_${payment.paymentId}`, 100_000, true), aRefund(deps, 10_000))

    expect((await linesIn(deps, client)).at(-1)).toStrictEqual(['refund', 0, 0, 0, 0, -10_000, -10_000])
    expect(await trialBalance(deps, client)).toStrictEqual([-10_000, 0, -10_000])
  })
})

describe('the row of an assumed payment', () => {
  const assumed = clientTest.extend('payment', async ({ deps, client }) =>
    postAssumed(deps, await anOpenPayment(deps, client)),
  )

  assumed.for([
    ['with the same fee', 4_000, [96_000, 95_900, 100]],
    ['with another fee, which costs us the difference', 4_440, [95_560, 95_900, -340]],
  ] as const)('comes %s', async ([, feeMinor, expected], { deps, client, payment }) => {
    expect(await trialBalance(deps, client)).toStrictEqual([0, 95_900, -95_900])

    expect(await bookLateRow(deps, payment, settledRowFor(payment, { feeMinor }))).toBe(true)
    expect(await bookLateRow(deps, payment, settledRowFor(payment, { feeMinor }))).toBe(false)

    expect(await trialBalance(deps, client)).toStrictEqual(expected)
  })

  assumed('is void: the provider takes back what its late row booked', async ({ deps, client, payment }) => {
    await bookLateRow(deps, payment, settledRowFor(payment, { feeMinor: 4_440 }))

    await heard(deps, payment, aVoid(deps, `txn_${payment.paymentId}`, 100_000, true))

    expect((await linesIn(deps, client)).at(-1)).toStrictEqual([
      'reversal',
      -100_000,
      -4_000,
      -100,
      -95_900,
      -95_560,
      340,
    ])
    expect(await trialBalance(deps, client)).toStrictEqual([0, 0, 0])
  })
})

describe('a payment whose net is zero or below', () => {
  clientTest.for([
    ['below zero', 1_000, [-3_000, -3_001, 1]],
    ['zero', 4_004, [4, 0, 4]],
  ] as const)(
    'of %s gives nothing back, and its refund is ours',
    async ([, notionalMinor, before], { deps, client }) => {
      const payment = await aSucceededPayment(deps, client, { notionalMinor })
      expect(await trialBalance(deps, client)).toStrictEqual(before)

      await heard(deps, payment, aRefund(deps, notionalMinor))

      const [provider, clients, house] = before
      expect((await linesIn(deps, client)).at(-1)).toStrictEqual(['refund', 0, 0, 0, 0, -notionalMinor, -notionalMinor])
      expect(await trialBalance(deps, client)).toStrictEqual([provider - notionalMinor, clients, house - notionalMinor])
    },
  )

  clientTest('leaves nothing when it is void, and the client is given what it lost', async ({ deps, client }) => {
    const payment = await aSucceededPayment(deps, client, { notionalMinor: 1_000 })

    await heard(deps, payment, aVoid(deps, `txn_${payment.paymentId}`, 1_000, true))

    expect((await linesIn(deps, client)).at(-1)).toStrictEqual(['reversal', -1_000, -4_000, -1, 3_001, 3_000, -1])
    expect(await trialBalance(deps, client)).toStrictEqual([0, 0, 0])
  })
})

describe('the 51st movement of a payment', () => {
  it('is a finding and the house’s', async ({ deps, client, payment }) => {
    const rows = Array.from({ length: 51 }, () => aRefund(deps, 1_000))
    await heard(deps, payment, ...rows)

    expect(await linesIn(deps, client)).toHaveLength(51)
    expect(await trialBalance(deps, client)).toStrictEqual([45_560, 45_460, 100])
    expect(deps.published.at(-1)?.message).toContain('has 50 movements')
    const last = rows.at(-1)
    const day = last?.at.slice(0, 10)
    expect(await deps.table.get({ pk: `JOURNAL#house#${day}`, sk: `${last?.transactionId}#unmatched` })).toMatchObject({
      providerMinor: -1_000,
      houseMinor: -1_000,
    })
  })
})
