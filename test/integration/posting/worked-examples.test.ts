import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { bookLateRow } from '../../../shared/posting/post-payments.ts'
import { balanceEntries } from '../../../shared/settlement/statement/settlement-entries.ts'
import { timestampOf } from '../../../shared/time.ts'
import { aChargeback, aRefund, aWin } from '../../support/money-rows.ts'
import { anOpenPayment, post, postAssumed, settledRowFor } from '../../support/paid-builders.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest } from '../settlement/client-test.ts'
import { applyRows, linesIn, reread, trialBalance } from './worked-case.ts'

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
    const page = readFileSync(join(PROJECT_ROOT, 'docs/merchants/settlements.md'), 'utf8')
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
  const payment = await postAssumed(deps, await anOpenPayment(deps, client))
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
