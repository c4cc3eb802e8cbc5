/**
 * Goal: each reversal costs the right party the right amount, figure by figure. Method: each case
 * is worked by hand; the entries are compared as [type, gross, fee, markup, net, provider, further
 * legs], and the trial balance as [provider, clients, house].
 */

import { describe, expect } from 'vitest'
import type { MoneyRow } from '../../../shared/journal/payment-money.ts'
import { minor } from '../../../shared/money.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { bookLateRow } from '../../../shared/posting/post-payments.ts'
import { balanceEntries } from '../../../shared/settlement/statement/settlement-entries.ts'
import { addMs, DAY_MS, timestampOf } from '../../../shared/time.ts'
import {
  aChargeback,
  adjustBalance,
  aRefund,
  aVoid,
  aWin,
  DISPUTE_FEE,
} from '../../support/money-rows.ts'
import {
  anAssumedPayment,
  anOpenPayment,
  post,
  postAssumed,
  settledRowFor,
} from '../../support/paid-builders.ts'
import { projectText } from '../../support/source-file.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest } from '../settlement/client-test.ts'
import { applyRows, it, linesIn, reread, trialBalance } from './worked-case.ts'

function voidOf(deps: TestDeps, { transactionId }: MoneyRow, amount: number) {
  return aVoid(deps, transactionId, amount)
}

type Rows = (deps: TestDeps, payment: Payment) => readonly MoneyRow[]

const PAYMENT_LINE = 'payment 100,000 4,440 100 95,460 95,560'
const REFUND_LINE = 'refund -30,000 0 0 -30,000 -30,000'

function ownVoid(deps: TestDeps, { paymentId, notionalMinor }: Payment) {
  return aVoid(deps, `txn_${paymentId}`, notionalMinor, true)
}

describe('money of a posted payment', () => {
  it.for<readonly [what: string, Rows, lines: readonly string[], balance: string]>([
    [
      'is voided at the provider after a partial refund',
      (deps, payment) => [aRefund(deps, 30_000), ownVoid(deps, payment)],
      [REFUND_LINE, 'reversal -70,000 -4,440 -100 -65,460 -95,560 cost -30,000'],
      '-30,000 0 -30,000',
    ],
    [
      'is voided once, although its row has two ids at the provider',
      (deps, payment) => [
        ownVoid(deps, payment),
        { ...ownVoid(deps, payment), transactionId: 'txn_second' },
      ],
      ['reversal -100,000 -4,440 -100 -95,460 -95,560', 'reversal 0 0 0 0 0'],
      '0 0 0',
    ],
  ])('%s', async ([, rows, lines, balance], { deps, client, payment }) => {
    await applyRows(deps, payment, ...rows(deps, payment))

    expect(await linesIn(deps, client)).toStrictEqual([PAYMENT_LINE, ...lines])
    expect(await trialBalance(deps, client)).toBe(balance)
  })

  it('is a finding at its 51st movement, which the house bears', async ({
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
    expect(await deps.table.get(house)).toMatchObject({ providerMinor: -1_000, otherMinor: -1_000 })
  })
})

it.for<
  readonly [
    string,
    (deps: TestDeps) => readonly MoneyRow[],
    shown: readonly [amountMinor: number, kind: string, causeIndex: number],
  ]
>([
  [
    'counts a dispute again when its win is voided',
    (deps) => {
      const won = aWin(deps, 40_000)
      return [aChargeback(deps, 40_000), won, voidOf(deps, won, 40_000)]
    },
    [40_000, 'chargeback', 2],
  ],
  [
    'loses the amount of a voided dispute, without the fee in the dispute’s row',
    (deps) => {
      const dispute = aChargeback(deps, 40_000)
      return [dispute, aRefund(deps, 30_000), voidOf(deps, dispute, 40_000 + DISPUTE_FEE)]
    },
    [30_000, 'refund', 1],
  ],
  [
    'stays when a refund was void from the start',
    (deps) => [aRefund(deps, 10_000), aVoid(deps, 'r9', 10_000)],
    [10_000, 'refund', 0],
  ],
])(
  'the public reversal %s',
  async ([, rowsOf, [amountMinor, kind, causeIndex]], { deps, payment }) => {
    const rows = rowsOf(deps).map((row, at) => ({ ...row, at: addMs(row.at, at) }))
    await applyRows(deps, payment, ...rows)

    const { reversal, ...paymentAfter } = await reread(deps, payment)
    expect(reversal).toStrictEqual({ kind, amountMinor, at: rows[causeIndex]?.at })
    expect(paymentAfter.takenBackMinor).toBe(amountMinor)
  },
)

clientTest(
  'the void of an assumed payment takes back what its late row booked',
  async ({ deps, client }) => {
    const payment = await anAssumedPayment(deps, client)
    expect(await trialBalance(deps, client)).toBe('0 95,900 -95,900')
    await bookLateRow(deps, payment, settledRowFor(payment, { feeMinor: 4_440 }))

    await applyRows(deps, payment, ownVoid(deps, payment))

    expect((await linesIn(deps, client)).at(-1)).toBe(
      'reversal -100,000 -4,000 -100 -95,900 -95,560 cost 440',
    )
    expect(await trialBalance(deps, client)).toBe('0 0 0')
  },
)

function settle(deps: TestDeps, payment: Payment) {
  return post(deps, payment, { feeMinor: 4_440 })
}

const EXAMPLES: Readonly<Record<string, (deps: TestDeps, payment: Payment) => Promise<unknown>>> = {
  'The provider settles it with a fee of 4,440.': settle,
  'You refund 30,000.': (deps, payment) => applyRows(deps, payment, aRefund(deps, 30_000)),
  'You refund the other 70,000.': (deps, payment) =>
    applyRows(deps, payment, aRefund(deps, 70_000)),
  'Another one: the provider settles it with a fee of 4,440.': settle,
  'A bank charges all of it back.': (deps, payment) =>
    applyRows(deps, payment, aChargeback(deps, 100_000)),
  'The dispute is won.': (deps, payment) => applyRows(deps, payment, aWin(deps, 100_000)),
  'A third one: the provider does not settle it within 7 days.': postAssumed,
  'The provider settles it on day 9, with a fee of 4,440.': async (deps, payment) =>
    bookLateRow(deps, await reread(deps, payment), settledRowFor(payment, { feeMinor: 4_440 })),
}

clientTest(
  'the worked examples of docs/merchants/settlements.md match the entries that merchants see',
  async ({ deps, client }) => {
    const page = projectText('docs/merchants/settlements.md')
    const rows = [...page.matchAll(/^\| ([^|`]+\.) \| (.+) \|$/gm)].map(
      ([, step = '', cells = '']) => ({
        step,
        cells: cells.split('|').map((cell) => cell.replaceAll('`', '').trim()),
      }),
    )
    expect(rows.map(({ step }) => step)).toStrictEqual(Object.keys(EXAMPLES))

    let payment = await anOpenPayment(deps, client)
    const seen = new Set<string>()
    for (const { step, cells } of rows) {
      if (/^(Another|A third) one/.test(step)) payment = await anOpenPayment(deps, client)
      await EXAMPLES[step]?.(deps, payment)
      const request = { clientId: client.clientId, since: timestampOf(0), limit: 100 }
      const added = (await balanceEntries(deps, request)).entries.filter(({ id }) => !seen.has(id))
      for (const { id } of added) seen.add(id)
      const shown = added.map((entry) => [
        entry.type,
        ...[
          entry.notional_minor,
          entry.xendit_fee_minor,
          entry.hexolus_markup_minor,
          entry.client_net_minor,
        ].map(String),
      ])
      expect({ step, shown }).toStrictEqual({ step, shown: cells[0] === 'none' ? [] : [cells] })
    }
  },
)

clientTest('a payment of one rupiah costs its client the fee', async ({ deps, client }) => {
  const payment = await anOpenPayment(deps, client, { notionalMinor: 1 })
  await post(deps, payment, { feeMinor: 4_440 })

  expect(await linesIn(deps, client)).toStrictEqual(['payment 1 4,440 0 -4,439 -4,439'])
  expect(await trialBalance(deps, client)).toBe('-4,439 -4,439 0')
})

clientTest('a row of one rupiah less is other, not a fee', async ({ deps, client }) => {
  const payment = await anAssumedPayment(deps, client)
  const row = {
    ...settledRowFor(payment),
    providerMinor: minor(95_999),
    contradicts: true,
  } as const
  await bookLateRow(deps, payment, row)

  expect((await linesIn(deps, client)).toSorted()).toStrictEqual([
    'late_row 0 0 0 0 95,999 transit -96,000 other -1',
    'payment 100,000 4,000 100 95,900 0 transit 96,000',
  ])
})

it('what was written off is taken from a win, and costs the house as much less', async ({
  deps,
  client,
  payment,
}) => {
  await applyRows(deps, payment, aChargeback(deps, 100_000))
  await adjustBalance(deps, client, 'correction', -9_000)
  await adjustBalance(deps, client, 'written_off', 9_000)

  await applyRows(deps, payment, aWin(deps, 100_000))

  expect(await linesIn(deps, client)).toContain('written_off -9,000 0 0 -9,000 0 cost 9,000')
})
