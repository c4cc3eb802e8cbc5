import { expect } from 'vitest'
import type { MoneyRow } from '../../../shared/journal/payment-money.ts'
import { getBalance } from '../../../shared/ledger/balance.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { anOpenPayment, post } from '../../support/paid-builders.ts'
import { entriesIn } from '../../support/recount/entries-in.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest } from '../settlement/client-test.ts'

type Client = Parameters<typeof entriesIn>[1]

export const now = async (deps: TestDeps, { paymentId }: Payment) =>
  (await findStoredPayment(deps, paymentId)) as Payment

/** Applies rows one after the other, an hour apart. */
export const heard = async (deps: TestDeps, payment: Payment, ...rows: readonly MoneyRow[]) => {
  for (const row of rows) {
    deps.clock.advance(3_600)
    await movePayment(deps, await now(deps, payment), row)
  }
}

const FIGURES = ['grossMinor', 'feeMinor', 'markupMinor', 'netMinor', 'providerMinor', 'houseMinor'] as const

/** In the order in which they were written. */
export const linesIn = async (deps: TestDeps, client: Client) =>
  (await entriesIn(deps, client))
    .toSorted((a, b) => (a.postedAt < b.postedAt ? -1 : a.postedAt > b.postedAt ? 1 : 0))
    .map((entry) => [entry.type, ...FIGURES.map((name) => entry[name])])

/** Of entries that one transaction wrote the journal knows no order. */
export const byText = (a: unknown, b: unknown): number => (String(a) < String(b) ? -1 : 1)

/** What is at the provider, what clients were given and have, and what is ours; re-credits repeat what was there. */
export const trialBalance = async (deps: TestDeps, client: Client) => {
  const entries = (await entriesIn(deps, client)).filter(({ type }) => type !== 'recredit')
  const sum = (of: 'providerMinor' | 'houseMinor') => entries.reduce((total, entry) => total + entry[of], 0)
  const { pendingMinor, availableMinor, inSettlementMinor, paidOutMinor } = await getBalance(deps, client.clientId)
  const clients = pendingMinor + availableMinor + inSettlementMinor + paidOutMinor
  expect(sum('providerMinor')).toBe(clients + sum('houseMinor'))
  return [sum('providerMinor'), clients, sum('houseMinor')]
}

export const it = clientTest.extend('payment', async ({ deps, client }) =>
  post(deps, await anOpenPayment(deps, client), { feeMinor: 4_440 }),
)

export const OWN = ['payment', 100_000, 4_440, 100, 95_460, 95_560, 100]
