/**
 * Goal: the entries of a payment add up to one function of its state, for all reversals and returns
 * in any order (design section 10). Method: 200,000 random histories of rows. A model that shares
 * no code with the gateway computes the sums after each row, and the test compares them.
 */

import { expect, it } from 'vitest'
import { figuresOf, lessFigures, NO_FIGURES } from '../../../shared/journal/entry.ts'
import {
  initialMoney,
  type MoneyRow,
  moneyAfter,
  moveMoney,
} from '../../../shared/journal/payment-money.ts'
import { minor, ZERO } from '../../../shared/money.ts'
import type { Reversal } from '../../../shared/payment/payment.ts'
import { reversalAfter } from '../../../shared/posting/reversal-after.ts'
import { timestampOf } from '../../../shared/time.ts'
import { createPrng, type Prng } from '../../simulation/world/prng.ts'
import { modelOf } from '../../support/money-model.ts'

const AT = timestampOf(Date.UTC(2026, 10, 20))

const HISTORIES = 200_000

/**
 * Few ids, so that rows meet: refunds, two disputes and their ends; and the payment's own row,
 * seldom.
 */
const ROWS: readonly Pick<MoneyRow, 'type' | 'transactionId' | 'isOwnRow'>[] = [
  ...['r1', 'r2', 'r3'].map((transactionId) => ({ type: 'refund' as const, transactionId })),
  ...['c1', 'c2', 'c1', 'c2'].map((transactionId) => ({
    type: 'chargeback' as const,
    transactionId,
  })),
  ...['w1', 'w2', 'w3', 'w1'].map((transactionId) => ({
    type: 'dispute_won' as const,
    transactionId,
  })),
  ...['r1', 'r2', 'c1', 'c2', 'w1'].map((transactionId) => ({
    type: 'reversal' as const,
    transactionId,
  })),
  { type: 'reversal', transactionId: 'own', isOwnRow: true },
]

const PRICES = [
  [100, 9, 1],
  [100, 99, 1],
  [10, 40, 0],
] as const

/** Answers the rows up to the first row that the model contradicts. */
function findContradiction(prng: Prng): readonly MoneyRow[] | undefined {
  const [gross, fee, markup] = prng.pick(PRICES)
  const model = modelOf(gross, fee, markup)
  let money = initialMoney(figuresOf(minor(gross), minor(fee), minor(markup)))
  let sum = money.price
  const rows: MoneyRow[] = []
  for (let rowsLeft = prng.int(1, 10); rowsLeft > 0; rowsLeft--) {
    // Any amount, or an amount at the edges of a net of 90.
    const amountMinor = minor(prng.chance(1 / 2) ? prng.int(1, 120) : prng.pick([89, 90, 91, 100]))
    const row: MoneyRow = { ...prng.pick(ROWS), amountMinor, providerMinor: ZERO, at: AT }
    rows.push(row)
    model.apply(row)
    const moved = moveMoney(money, row)
    if (moved)
      [money, sum] = [moved.money, lessFigures(sum, lessFigures(NO_FIGURES, moved.figures))]
    const figures = [sum.grossMinor, sum.feeMinor, sum.markupMinor, sum.netMinor]
    if (model.figures().some((expected, at) => expected !== figures[at])) return rows
  }
  return undefined
}

it('the reversal of a void payment without a net is not undone', () => {
  const row = {
    type: 'reversal',
    transactionId: 'own',
    amountMinor: minor(10),
    providerMinor: ZERO,
    at: AT,
  } as const
  const money = moneyAfter(figuresOf(minor(10), minor(9), minor(1)), [{ ...row, isOwnRow: true }])
  const before = { kind: 'voided', amountMinor: minor(10), at: AT } as const

  expect(reversalAfter(before, row, money)).toStrictEqual(before)
})

it('a reversal is no longer undone if a void win takes money back again', () => {
  const price = figuresOf(minor(10), ZERO, ZERO)
  const won = { type: 'dispute_won', amountMinor: minor(10), providerMinor: ZERO, at: AT } as const
  const rows: readonly MoneyRow[] = [
    { ...won, type: 'chargeback', transactionId: 'c' },
    { ...won, transactionId: 'w1' },
    { ...won, transactionId: 'w2' },
    { ...won, type: 'reversal', transactionId: 'w1' },
  ]
  const reversals: Reversal[] = []
  for (const [at, row] of rows.entries())
    reversals.push(reversalAfter(reversals.at(-1), row, moneyAfter(price, rows.slice(0, at + 1))))

  expect(reversals.map(({ undoneAt }) => undoneAt)).toStrictEqual([undefined, AT, AT, undefined])
})

it('a movement whose entries would not add up is refused', () => {
  const price = figuresOf(minor(100), minor(9), minor(1))
  const row = {
    type: 'refund',
    transactionId: 'r1',
    amountMinor: minor(10),
    providerMinor: ZERO,
    at: AT,
  } as const

  expect(() => moveMoney({ ...initialMoney(price), isVoid: true }, row)).toThrow('do not add up')
})

it(`every prefix of every history adds up to what a model counts, in ${HISTORIES} histories`, () => {
  const prng = createPrng(20_261_122)
  let contradiction: readonly MoneyRow[] | undefined
  for (let history = 0; history < HISTORIES && contradiction === undefined; history++)
    contradiction = findContradiction(prng)

  expect(contradiction).toBeUndefined()
})
