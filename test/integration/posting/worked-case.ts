import { expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import type { MoneyRow } from '../../../shared/journal/payment-money.ts'
import { getBalance } from '../../../shared/ledger/ledger-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { anOpenPayment, entriesIn, post } from '../../support/paid-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest } from '../settlement/client-test.ts'

export function reread(deps: TestDeps, payment: Payment) {
  return paymentOf(deps, { payment })
}

export async function move(deps: TestDeps, payment: Payment, row: MoneyRow) {
  return movePayment(deps, await reread(deps, payment), row)
}

export async function applyRows(deps: TestDeps, payment: Payment, ...rows: readonly MoneyRow[]) {
  for (const row of rows) {
    deps.clock.advance(3_600)
    await move(deps, payment, row)
  }
}

const FIGURES = ['grossMinor', 'feeMinor', 'markupMinor', 'netMinor', 'providerMinor'] as const
const OWN_LEGS = ['bank', 'transit', 'suspense', 'cost', 'other'] as const

/**
 * The entries as lines of text, in the order of their posting times, then of their texts. Legs of
 * zero are left out, except the provider's.
 */
export async function linesIn(deps: TestDeps, client: Client) {
  const keyed = (await entriesIn(deps, client)).map((entry) => {
    const legs = OWN_LEGS.flatMap((name) => {
      const amount = entry[`${name}Minor`]
      return amount === 0 ? [] : [` ${name} ${formatFigures([amount])}`]
    })
    const line = `${entry.type} ${formatFigures(FIGURES.map((name) => entry[name]))}${legs.join('')}`
    return { key: `${entry.postedAt} ${line}`, line }
  })
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ line }) => line)
}

function formatFigures(figures: readonly number[]) {
  return figures.map((figure) => figure.toLocaleString('en-US')).join(' ')
}

/**
 * The money at the provider, the money that the client has or was paid, and the house's money: its
 * markup, cost and other, less what is in transit.
 */
export async function trialBalance(deps: TestDeps, client: Client) {
  const entries = await entriesIn(deps, client)
  const sum = (side: 'provider' | 'markup' | 'cost' | 'other' | 'transit') =>
    entries.reduce((total, entry) => total + entry[`${side}Minor`], 0)
  const { pendingMinor, availableMinor, inSettlementMinor, paidOutMinor } = await getBalance(
    deps,
    client.clientId,
  )
  const clients = pendingMinor + availableMinor + inSettlementMinor + paidOutMinor
  const house = sum('markup') + sum('cost') + sum('other') - sum('transit')
  expect(sum('provider')).toBe(clients + house)
  return formatFigures([sum('provider'), clients, house])
}

/**
 * The posted payment of the worked cases: 100,000 paid, 4,440 kept by the provider, 100 ours,
 * 95,460 the client's.
 */
export const it = clientTest.extend('payment', async ({ deps, client }) =>
  post(deps, await anOpenPayment(deps, client), { feeMinor: 4_440 }),
)
