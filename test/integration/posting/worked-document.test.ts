import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Payment } from '../../../shared/payment/payment.ts'
import { bookLateRow } from '../../../shared/posting/post-payments.ts'
import { balanceEntries } from '../../../shared/settlement/statement/settlement-entries.ts'
import { timestampOf } from '../../../shared/time.ts'
import { aChargeback, aRefund, aWin } from '../../support/money-rows.ts'
import { anOpenPayment, post, postAssumed, settledRowFor } from '../../support/paid-builders.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest as it } from '../settlement/client-test.ts'
import { heard, now } from './worked-case.ts'

const PAGE = readFileSync(join(PROJECT_ROOT, 'docs/merchants/settlements.md'), 'utf8')

/** The table of worked examples: what happens, and the cells of the entry that it makes. */
const ROWS = [...PAGE.matchAll(/^\| ([^|`]+\.) \| (.+) \|$/gm)].map(([, happens = '', cells = '']) => ({
  happens,
  cells: cells.split('|').map((cell) => cell.replaceAll('`', '').trim()),
}))

const SETTLED = { feeMinor: 4_440 }
const settled = (deps: TestDeps, payment: Payment) => post(deps, payment, SETTLED)

const HAPPENS: Readonly<Record<string, (deps: TestDeps, payment: Payment) => Promise<unknown>>> = {
  'The provider settles it with a fee of 4,440.': settled,
  'You refund 30,000.': (deps, payment) => heard(deps, payment, aRefund(deps, 30_000)),
  'You refund the other 70,000.': (deps, payment) => heard(deps, payment, aRefund(deps, 70_000)),
  'Another one: the provider settles it with a fee of 4,440.': settled,
  'A bank charges all of it back.': (deps, payment) => heard(deps, payment, aChargeback(deps, 100_000)),
  'The dispute is won.': (deps, payment) => heard(deps, payment, aWin(deps, 100_000)),
  'A third one: the provider does not settle it within 7 days.': postAssumed,
  'The provider settles it on day 9, with a fee of 4,440.': async (deps, payment) =>
    bookLateRow(deps, await now(deps, payment), settledRowFor(payment, SETTLED)),
}

it('the worked examples of docs/merchants/settlements.md are what merchants are shown', async ({ deps, client }) => {
  const entries = async () =>
    (await balanceEntries(deps, { clientId: client.clientId, since: timestampOf(0), limit: 100 })).entries
  expect(ROWS.map(({ happens }) => happens)).toStrictEqual(Object.keys(HAPPENS))

  let payment = await anOpenPayment(deps, client)
  const seen = new Set<string>()
  for (const { happens, cells } of ROWS) {
    if (/^(Another|A third) one/.test(happens)) payment = await anOpenPayment(deps, client)
    await HAPPENS[happens]?.(deps, payment)
    const added = (await entries()).filter(({ id }) => !seen.has(id))
    for (const { id } of added) seen.add(id)
    const shown = added.map((one) => [
      one.type,
      ...[one.notional_minor, one.xendit_fee_minor, one.hexolus_markup_minor, one.client_net_minor].map(String),
    ])
    expect({ happens, shown }).toStrictEqual({ happens, shown: cells[0] === 'none' ? [] : [cells] })
  }
})
