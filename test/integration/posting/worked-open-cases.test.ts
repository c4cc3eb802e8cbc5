/**
 * Goal: what money that goes back costs whom, figure by figure. Method: each case is worked by hand; the entries are
 * compared as [type, gross, fee, markup, net, provider, house], and the trial balance as [provider, clients, house].
 * The payment of every case: 100,000 paid, 4,440 kept by the provider, 100 ours, 95,460 the client's.
 */

import { describe, expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { getBalance } from '../../../shared/ledger/balance.ts'
import { bookLateRow } from '../../../shared/posting/book-late-row.ts'
import { anOpenPayment, aSucceededPayment, post, postAssumed, settledRowFor } from '../../support/paid-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest } from '../settlement/client-test.ts'
import { aChargeback, aRefund, aVoid, aWin } from './provider-rows.ts'
import { byText, heard, it, linesIn, now, OWN, trialBalance } from './worked-case.ts'

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
    'shows its dispute as undone once its final fee makes the part that was won the whole',
    async ({ deps, client, payment }) => {
      await heard(deps, payment, aChargeback(deps, 100_000), aWin(deps, 95_600))
      expect((await now(deps, payment)).reversal).not.toHaveProperty('undoneAt')

      await post(deps, await now(deps, payment), { feeMinor: 4_440 })

      const posted = await now(deps, payment)
      expect(posted.reversal).toStrictEqual({ ...posted.reversal, undoneAt: posted.movements.at(-1)?.at })
      expect(posted.takenBackMinor).toBe(0)
      await expectBalanced(deps, client.clientId)
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
