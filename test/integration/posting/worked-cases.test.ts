/**
 * Goal: each reversal costs the right party the right amount, figure by figure. Method: each case
 * is worked by hand; the entries are compared as [type, gross, fee, markup, net, provider, further
 * legs], and the trial balance as [provider, clients, house].
 */
import { describe, expect } from 'vitest'
import type { MoneyRow } from '../../../shared/journal/payment-money.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { bookLateRow } from '../../../shared/posting/post-payments.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { aChargeback, aRefund, aVoid, aWin, DISPUTE_FEE } from '../../support/money-rows.ts'
import { anOpenPayment, postAssumed, settledRowFor } from '../../support/paid-builders.ts'
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
    const payment = await postAssumed(deps, await anOpenPayment(deps, client))
    expect(await trialBalance(deps, client)).toBe('0 95,900 -95,900')
    await bookLateRow(deps, payment, settledRowFor(payment, { feeMinor: 4_440 }))

    await applyRows(deps, payment, ownVoid(deps, payment))

    expect((await linesIn(deps, client)).at(-1)).toBe(
      'reversal -100,000 -4,000 -100 -95,900 -95,560 cost 440',
    )
    expect(await trialBalance(deps, client)).toBe('0 0 0')
  },
)
