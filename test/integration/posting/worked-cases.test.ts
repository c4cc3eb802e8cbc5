/**
 * Goal: what money that goes back costs whom, figure by figure. Method: each case is worked by hand; the entries are
 * compared as [type, gross, fee, markup, net, provider, house], and the trial balance as [provider, clients, house].
 * The payment of most cases: 100,000 paid, 4,440 kept by the provider, 100 ours, 95,460 the client's.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { MoneyRow } from '../../../shared/journal/payment-money.ts'
import { getBalance } from '../../../shared/ledger/ledger-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { bookLateRow } from '../../../shared/posting/post-payments.ts'
import { balanceEntries } from '../../../shared/settlement/statement/settlement-entries.ts'
import { addMs, DAY_MS, timestampOf } from '../../../shared/time.ts'
import {
  aChargeback,
  adjusted,
  aRefund,
  aVoid,
  aWin,
  DISPUTE_FEE,
} from '../../support/money-rows.ts'
import { anOpenPayment, post, postAssumed, settledRowFor } from '../../support/paid-builders.ts'
import { payOut, sweptADayLater } from '../../support/settlement-builders.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { pendingOf } from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest } from '../settlement/client-test.ts'
import { applyRows, it, linesIn, now, trialBalance } from './worked-case.ts'

function voidOf(deps: TestDeps, { transactionId }: MoneyRow, amount: number) {
  return aVoid(deps, transactionId, amount)
}

type Rows = (deps: TestDeps, payment: Payment) => readonly MoneyRow[]

const OWN = 'payment 100,000 4,440 100 95,460 95,560 100'
const REFUND = 'refund -30,000 0 0 -30,000 -30,000 0'
const WHOLE_REFUND = 'refund -100,000 -4,440 -100 -95,460 -100,000 -4,540'
const LOST = 'chargeback -100,000 -4,440 -100 -95,460 -125,000 -29,540'
const WON = 'dispute_won 100,000 4,440 100 95,460 100,000 4,540'

function ownVoid(deps: TestDeps, { paymentId, notionalMinor }: Payment) {
  return aVoid(deps, `txn_${paymentId}`, notionalMinor, true)
}

describe('money of a posted payment', () => {
  it.for<readonly [what: string, Rows, lines: readonly string[], balance: string]>([
    [
      'goes back once more when the dispute is raised again, and comes when that is won too',
      (deps) =>
        [DISPUTE_FEE, 0].flatMap((fee) => [aChargeback(deps, 100_000, fee), aWin(deps, 100_000)]),
      [LOST, WON, 'chargeback -100,000 -4,440 -100 -95,460 -100,000 -4,540', WON],
      '70,560 95,460 -24,900',
    ],
    [
      'is void at the provider, after a part went back',
      (deps, payment) => [aRefund(deps, 30_000), ownVoid(deps, payment)],
      [REFUND, 'reversal -70,000 -4,440 -100 -65,460 -95,560 -30,100'],
      '-30,000 0 -30,000',
    ],
    [
      'is void at the provider once, although its row has two ids there',
      (deps, payment) => [
        ownVoid(deps, payment),
        { ...ownVoid(deps, payment), transactionId: 'txn_second' },
      ],
      ['reversal -100,000 -4,440 -100 -95,460 -95,560 -100', 'reversal 0 0 0 0 0 0'],
      '0 0 0',
    ],
    [
      'comes again when a refund is void: it gives back what is left of its own',
      (deps) => [
        aRefund(deps, 30_000, 'r1'),
        aRefund(deps, 20_000, 'r2'),
        aVoid(deps, 'r1', 30_000),
      ],
      [REFUND, 'refund -20,000 0 0 -20,000 -20,000 0', 'reversal 30,000 0 0 30,000 30,000 0'],
      '75,560 75,460 100',
    ],
  ])('%s', async ([, rows, lines, balance], { deps, client, payment }) => {
    await applyRows(deps, payment, ...rows(deps, payment))

    expect(await linesIn(deps, client)).toStrictEqual([OWN, ...lines])
    expect(await trialBalance(deps, client)).toBe(balance)
  })

  it.for<readonly [string, readonly ('lost' | 'won')[]]>([
    ['win is void, then the dispute itself', ['won', 'lost']],
    ['dispute is void, then its win', ['lost', 'won']],
  ])('is the client’s again when a %s', async ([, voided], { deps, client, payment }) => {
    const rows = { lost: aChargeback(deps, 100_000, 0), won: aWin(deps, 100_000) }
    await applyRows(
      deps,
      payment,
      rows.lost,
      rows.won,
      ...voided.map((name) => voidOf(deps, rows[name], 100_000)),
    )

    const reversal = { amountMinor: 0, undoneAt: rows.won.at }
    expect(await now(deps, payment)).toMatchObject({ takenBackMinor: 0, reversal })
    expect(await trialBalance(deps, client)).toBe('95,560 95,460 100')
  })

  it('that moves for the 51st time is a finding, and the house bears it', async ({
    deps,
    client,
    payment,
  }) => {
    const createdAt = addMs(deps.now(), -DAY_MS)
    const rows = Array.from({ length: 51 }, () => ({ ...aRefund(deps, 1_000), createdAt }))
    await applyRows(deps, payment, ...rows)

    expect(await linesIn(deps, client)).toHaveLength(51)
    expect(await trialBalance(deps, client)).toBe('45,560 45,460 100')
    expect(deps.published.at(-1)?.message).toContain('has 50 movements')
    const house = {
      pk: `JOURNAL#house#${createdAt.slice(0, 10)}`,
      sk: `${rows.at(-1)?.transactionId}#unmatched`,
    }
    expect(await deps.table.get(house)).toMatchObject({ providerMinor: -1_000, houseMinor: -1_000 })
  })
})

it.for<
  readonly [
    string,
    (deps: TestDeps) => readonly MoneyRow[],
    shown: readonly [number, string, since: number],
  ]
>([
  [
    'counts a dispute again when its win is void',
    (deps) => {
      const won = aWin(deps, 40_000)
      return [aChargeback(deps, 40_000), won, voidOf(deps, won, 40_000)]
    },
    [40_000, 'chargeback', 2],
  ],
  [
    'loses what a void dispute took, without the fee in its row',
    (deps) => {
      const lost = aChargeback(deps, 40_000)
      return [lost, aRefund(deps, 30_000), voidOf(deps, lost, 40_000 + DISPUTE_FEE)]
    },
    [30_000, 'refund', 1],
  ],
  [
    'stays when a refund was void from the start',
    (deps) => [aRefund(deps, 10_000), aVoid(deps, 'r9', 10_000)],
    [10_000, 'refund', 0],
  ],
])('the public reversal %s', async ([, rowsOf, [amountMinor, kind, since]], { deps, payment }) => {
  const rows = rowsOf(deps).map((row, at) => ({ ...row, at: addMs(row.at, at) }))
  await applyRows(deps, payment, ...rows)

  const { reversal, ...after } = await now(deps, payment)
  expect(reversal).toStrictEqual({ kind, amountMinor, at: rows[since]?.at })
  expect(after.takenBackMinor).toBe(amountMinor)
})

describe('money of a payment that was paid out', () => {
  const paidOut = it.extend('paid', async ({ deps, client, payment }) => {
    await payOut(deps, await sweptADayLater(deps, client))
    return payment
  })

  paidOut.for([
    [95_460, 'written_off 95,460 0 0 95,460 0 -95,460', 'written_off -95,460 0 0 -95,460 0 95,460'],
    // Of less the client has the rest.
    [40_000, 'written_off 40,000 0 0 40,000 0 -40,000', 'written_off -40,000 0 0 -40,000 0 40,000'],
  ] as const)(
    'is won after a write-off of %d, which is undone',
    async (lines, { deps, client, paid }) => {
      const [amount, given, taken] = lines
      await applyRows(deps, paid, aChargeback(deps, 100_000))
      deps.clock.advance(60)
      await adjusted(deps, client, 'written_off', amount)
      expect(await pendingOf(deps, client.clientId)).toBe(amount - 95_460)

      await applyRows(deps, paid, aWin(deps, 100_000))

      expect(await linesIn(deps, client)).toStrictEqual([OWN, LOST, given, WON, taken])
      expect(await getBalance(deps, client.clientId)).toMatchObject({
        pendingMinor: 0,
        paidOutMinor: 95_460,
      })
      expect(await trialBalance(deps, client)).toBe('70,560 95,460 -24,900')
    },
  )
})

describe('money of an open payment', () => {
  const open = clientTest.extend('payment', async ({ deps, client }) => anOpenPayment(deps, client))

  open.for([
    [
      'in part: the balance changes at once, and by the final fee later',
      30_000,
      65_900,
      REFUND,
      '65,560 65,460 100',
    ],
    [
      'in full: a higher final fee changes nothing for the client',
      100_000,
      0,
      WHOLE_REFUND,
      '-4,440 0 -4,440',
    ],
  ] as const)(
    'is refunded %s',
    async ([, refund, pending, line, balance], { deps, client, payment }) => {
      await applyRows(deps, payment, aRefund(deps, refund))
      expect([await pendingOf(deps, client.clientId), await linesIn(deps, client)]).toStrictEqual([
        pending,
        [],
      ])

      await post(deps, await now(deps, payment), { feeMinor: 4_440 })

      expect(await linesIn(deps, client)).toStrictEqual([OWN, line])
      expect(await trialBalance(deps, client)).toBe(balance)
    },
  )

  open(
    'is undone whole once its final fee makes what was won the whole',
    async ({ deps, payment }) => {
      await applyRows(deps, payment, aChargeback(deps, 100_000), aWin(deps, 95_600))
      expect((await now(deps, payment)).reversal).not.toHaveProperty('undoneAt')

      const { reversal, movements, takenBackMinor } = await post(deps, await now(deps, payment), {
        feeMinor: 4_440,
      })

      expect(reversal).toStrictEqual({ ...reversal, undoneAt: movements.at(-1)?.at })
      expect(takenBackMinor).toBe(0)
    },
  )

  open(
    'is void after a part went back: zeros for the client',
    async ({ deps, client, payment }) => {
      await applyRows(
        deps,
        payment,
        aRefund(deps, 30_000),
        ownVoid(deps, payment),
        aRefund(deps, 10_000),
      )

      expect(await linesIn(deps, client)).toStrictEqual([
        'refund 0 0 0 0 -30,000 -30,000',
        'reversal 0 0 0 0 0 0',
        // No later row moves it but at the provider.
        'refund 0 0 0 0 -10,000 -10,000',
      ])
      expect(await trialBalance(deps, client)).toBe('-40,000 0 -40,000')
      expect(await now(deps, payment)).not.toHaveProperty('openAt')
    },
  )
})

clientTest(
  'the void of an assumed payment takes back what its late row booked',
  async ({ deps, client }) => {
    const payment = await postAssumed(deps, await anOpenPayment(deps, client))
    expect(await trialBalance(deps, client)).toBe('0 95,900 -95,900')
    await bookLateRow(deps, payment, settledRowFor(payment, { feeMinor: 4_440 }))

    await applyRows(deps, payment, ownVoid(deps, payment))

    expect((await linesIn(deps, client)).at(-1)).toBe(
      'reversal -100,000 -4,000 -100 -95,900 -95,560 340',
    )
    expect(await trialBalance(deps, client)).toBe('0 0 0')
  },
)

function settled(deps: TestDeps, payment: Payment) {
  return post(deps, payment, { feeMinor: 4_440 })
}

const HAPPENS: Readonly<Record<string, (deps: TestDeps, payment: Payment) => Promise<unknown>>> = {
  'The provider settles it with a fee of 4,440.': settled,
  'You refund 30,000.': (deps, payment) => applyRows(deps, payment, aRefund(deps, 30_000)),
  'You refund the other 70,000.': (deps, payment) =>
    applyRows(deps, payment, aRefund(deps, 70_000)),
  'Another one: the provider settles it with a fee of 4,440.': settled,
  'A bank charges all of it back.': (deps, payment) =>
    applyRows(deps, payment, aChargeback(deps, 100_000)),
  'The dispute is won.': (deps, payment) => applyRows(deps, payment, aWin(deps, 100_000)),
  'A third one: the provider does not settle it within 7 days.': postAssumed,
  'The provider settles it on day 9, with a fee of 4,440.': async (deps, payment) =>
    bookLateRow(deps, await now(deps, payment), settledRowFor(payment, { feeMinor: 4_440 })),
}

clientTest(
  'the worked examples of docs/merchants/settlements.md are what merchants are shown',
  async ({ deps, client }) => {
    const page = readFileSync(join(PROJECT_ROOT, 'docs/merchants/settlements.md'), 'utf8')
    // Its table: what happens, and the cells of the entry that it makes.
    const rows = [...page.matchAll(/^\| ([^|`]+\.) \| (.+) \|$/gm)].map(
      ([, happens = '', cells = '']) => ({
        happens,
        cells: cells.split('|').map((cell) => cell.replaceAll('`', '').trim()),
      }),
    )
    expect(rows.map(({ happens }) => happens)).toStrictEqual(Object.keys(HAPPENS))

    let payment = await anOpenPayment(deps, client)
    const seen = new Set<string>()
    for (const { happens, cells } of rows) {
      if (/^(Another|A third) one/.test(happens)) payment = await anOpenPayment(deps, client)
      await HAPPENS[happens]?.(deps, payment)
      const asked = { clientId: client.clientId, since: timestampOf(0), limit: 100 }
      const added = (await balanceEntries(deps, asked)).entries.filter(({ id }) => !seen.has(id))
      for (const { id } of added) seen.add(id)
      const shown = added.map((one) => [
        one.type,
        ...[
          one.notional_minor,
          one.xendit_fee_minor,
          one.hexolus_markup_minor,
          one.client_net_minor,
        ].map(String),
      ])
      expect({ happens, shown }).toStrictEqual({
        happens,
        shown: cells[0] === 'none' ? [] : [cells],
      })
    }
  },
)
