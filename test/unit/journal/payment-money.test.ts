/**
 * Goal: the entries of a payment add up to one function of its state, for all reversals and returns
 * in any order (design section 10). Method: random histories of rows. A model that shares no code
 * with the gateway computes the sums after each row, and the test compares them.
 */

import * as v from 'valibot'
import { expect, it } from 'vitest'
import { UuidSchema } from '../../../shared/ids.ts'
import {
  type Figures,
  figuresOf,
  lessFigures,
  NO_FIGURES,
  newEntry,
} from '../../../shared/journal/entry.ts'
import { newHouseEntry } from '../../../shared/journal/house-store.ts'
import {
  type MoneyRow,
  moneyAfter,
  moveMoney,
  standingFigures,
} from '../../../shared/journal/payment-money.ts'
import { minor, ZERO } from '../../../shared/money.ts'
import type { Reversal } from '../../../shared/payment/payment.ts'
import { reversalAfter } from '../../../shared/posting/reversal-after.ts'
import { addMs, timestampOf } from '../../../shared/time.ts'
import { createPrng, type Prng } from '../../simulation/world/prng.ts'
import { modelOf } from '../../support/money-model.ts'
import { runs } from '../../support/runs.ts'

const AT = timestampOf(Date.UTC(2026, 10, 20))

const HISTORIES = runs(10_000)
const SETS = runs(2_000)

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

type Drawn = { readonly price: Figures; readonly rows: readonly MoneyRow[] }

function drawRows(prng: Prng) {
  const [gross, fee, markup] = prng.pick(PRICES)
  const rows = Array.from({ length: prng.int(1, 10) }, () => {
    // Any amount, or an amount at the edges of a net of 90.
    const amountMinor = minor(prng.chance(1 / 2) ? prng.int(1, 120) : prng.pick([89, 90, 91, 100]))
    return { ...prng.pick(ROWS), amountMinor, providerMinor: ZERO, at: AT }
  })
  return { price: figuresOf(minor(gross), minor(fee), minor(markup)), rows }
}

function shuffled(prng: Prng, rows: readonly MoneyRow[]) {
  return rows
    .map((row) => ({ row, at: prng.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ row }) => row)
}

/** Answers the rows up to the first row that the model contradicts. */
function findContradiction({ price, rows }: Drawn) {
  const model = modelOf(price.grossMinor, price.feeMinor, price.markupMinor)
  let money = moneyAfter(price, [])
  let sum = price
  let reversal: Reversal | undefined
  for (const [at, row] of rows.entries()) {
    model.apply(row)
    const moved = moveMoney(money, row)
    if (moved) {
      sum = lessFigures(sum, lessFigures(NO_FIGURES, moved.figures))
      money = moved.money
      reversal = reversalAfter(reversal, row, money)
    }
    const figures = [sum.grossMinor, sum.feeMinor, sum.markupMinor, sum.netMinor]
    const isAsModelled = model.figures().every((expected, index) => expected === figures[index])
    if (!isAsModelled || model.reversed() !== (reversal?.amountMinor ?? 0))
      return rows.slice(0, at + 1)
  }
  return undefined
}

it('an entry whose sides are not equal is refused, before any write', () => {
  const figures = figuresOf(minor(100), minor(9), minor(1))
  const [entryId, at] = [v.parse(UuidSchema, crypto.randomUUID()), AT]
  const entry = { entryId, type: 'payment', eligibleAt: at, postedAt: at, ...figures } as const
  const row = { type: 'topup', transactionId: 't', rowAt: at, postedAt: at } as const

  expect(newEntry({ ...entry, providerMinor: minor(91) }).costMinor).toBe(0)
  expect(() => newEntry({ ...entry, providerMinor: minor(92) })).toThrow('sides of an entry')
  expect(() => newEntry({ ...entry, costMinor: minor(1) })).toThrow('sides of an entry')
  const carried = { ...figures, netMinor: minor(1), paymentCount: 1, unprovenMinor: ZERO }
  expect(() => newEntry({ ...entry, ...NO_FIGURES, carried })).toThrow('do not add up')
  expect(() => newHouseEntry({ ...row, bankMinor: minor(-1) })).toThrow('sides of an entry')
})

it('the reversal of a void payment without a net is not undone, and keeps its kind', () => {
  const row = {
    type: 'reversal',
    transactionId: 'own',
    amountMinor: minor(10),
    providerMinor: ZERO,
    at: AT,
  } as const
  const money = moneyAfter(figuresOf(minor(10), minor(9), minor(1)), [{ ...row, isOwnRow: true }])
  const before = { kind: 'voided', amountMinor: minor(10), at: AT } as const

  const refund = { ...row, type: 'refund', kind: 'refund' } as const
  expect(reversalAfter(before, refund, money)).toStrictEqual(before)
  const own = { ...row, isOwnRow: true, kind: 'voided' } as const
  expect(reversalAfter(undefined, own, money)).toStrictEqual(before)
  const unnamed = { ...own, kind: undefined }
  const refunded = { ...before, kind: 'refund' } as const
  expect(reversalAfter(refunded, unnamed, money)).toMatchObject({ kind: 'reversed' })
})

// Public report: hyperswitch #10533.
it('the reversal shows at most the payment, and is undone exactly when nothing is taken', () => {
  const price = figuresOf(minor(10), ZERO, ZERO)
  const won = { type: 'dispute_won', amountMinor: minor(10), providerMinor: ZERO, at: AT } as const
  const rows: readonly MoneyRow[] = [
    { ...won, type: 'chargeback', transactionId: 'c' },
    { ...won, transactionId: 'w1' },
    { ...won, transactionId: 'w2' },
    { ...won, type: 'reversal', transactionId: 'w1' },
    { ...won, type: 'reversal', transactionId: 'w2' },
    { ...won, type: 'refund', transactionId: 'r' },
  ]
  const reversals: Reversal[] = []
  for (const [n, one] of rows.entries()) {
    const row = { ...one, at: addMs(AT, n) }
    reversals.push(reversalAfter(reversals.at(-1), row, moneyAfter(price, rows.slice(0, n + 1))))
  }

  expect(reversals.map(({ kind, amountMinor }) => [kind, amountMinor])).toStrictEqual([
    ['chargeback', 10],
    ...[0, 0, 0].map((amount) => ['chargeback', amount]),
    ['chargeback', 10],
    ['chargeback', 10],
  ])
  const first = addMs(AT, 1)
  const undone = [undefined, first, first, first, undefined, undefined]
  expect(reversals.map(({ undoneAt }) => undoneAt)).toStrictEqual(undone)
})

it(`every prefix of every history adds up to what a model counts, in ${HISTORIES} histories`, () => {
  const prng = createPrng(20_261_122)
  let contradiction: readonly MoneyRow[] | undefined
  for (let history = 0; history < HISTORIES && contradiction === undefined; history++)
    contradiction = findContradiction(drawRows(prng))

  expect(contradiction).toBeUndefined()
})

it(`${SETS} sets of rows have one result each, in any order`, () => {
  const prng = createPrng(20_261_126)
  const results = Array.from({ length: SETS }, () => {
    const { price, rows } = drawRows(prng)
    // Each id once as itself and once void: these are the rows that a provider can show.
    const shown = [
      ...new Map(rows.map((row) => [`${row.type} ${row.transactionId}`, row])).values(),
    ]
    const resultOf = (ordered: readonly MoneyRow[]) => {
      const money = moneyAfter(price, ordered)
      const last = ordered.at(-1)
      const reversal = last && reversalAfter(undefined, last, money)
      return JSON.stringify([standingFigures(money), money.takenBackMinor, reversal?.amountMinor])
    }
    return new Set([shown, shuffled(prng, shown), shuffled(prng, shown)].map(resultOf)).size
  })

  expect(new Set(results)).toStrictEqual(new Set([1]))
})
