import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { askForOwnRow } from '../../../shared/posting/assume-fee.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { aClient } from '../../support/client-builders.ts'
import { aTransaction, succeededPayment } from '../../support/paid-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

const PAYMENT = succeededPayment(aClient(), { paidAt: aClient().createdAt })
const OWN = aTransaction(PAYMENT, { keptMinor: 4_440 })

const askAbout = (...transactions: readonly ProviderTransaction[]) => {
  const deps = testDeps()
  deps.provider.script('listTransactions', async () => ({ kind: 'found', value: { transactions, hasMore: false } }))
  return askForOwnRow(deps, PAYMENT)
}

// Contracts, negative fees, and a provider that cannot be asked: `assume-fee.test.ts`, `sync-credited.test.ts`.
describe('askForOwnRow (design section 4, Fee)', () => {
  it.each([
    ['of another payment', { providerPaymentId: 'py-other' }, false],
    ['that is no payment', { type: 'return' }, false],
    ['that was reversed', { status: 'reversed' }, true],
    ['that is pending', { status: 'pending' }, true],
    ['that failed', { status: 'failed' }, true],
    ['that is not settled', { keptMinor: undefined }, true],
    ['about another amount', { amountMinor: minor(99_999) }, true],
    ['in another currency', { currency: 'PHP' }, true],
  ] as const)('finds no settled row in a transaction %s', async (_case, fields, hasTransaction) => {
    expect(await askAbout({ ...OWN, ...fields })).toStrictEqual({ kind: 'not_settled', hasTransaction })
  })

  it.each([4_440, 0, -1])('finds the settled row of this payment when the provider kept %i', async (kept) => {
    const stranger = { ...OWN, providerPaymentId: 'py-other', keptMinor: minor(1) }
    const own = { ...OWN, keptMinor: minor(kept) }

    expect(await askAbout(stranger, own)).toStrictEqual({ kind: 'settled', transaction: own })
  })
})
