import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { askForOwnRow, feeByKept } from '../../../shared/payment/actual-fee.ts'
import { invoicedFee } from '../../../shared/payment/news/succeed-payment.ts'
import type { Provider, ProviderTransaction } from '../../../shared/provider/provider.ts'
import { aClient } from '../../support/client-builders.ts'
import { aTransaction, succeededPayment } from '../../support/paid-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

const PAYMENT = succeededPayment(aClient(), { paidAt: aClient().createdAt })
const OWN = aTransaction(PAYMENT, { keptMinor: 4_440 })

const askWhile = (listTransactions: Provider['listTransactions']) => {
  const deps = testDeps()
  deps.provider.script('listTransactions', listTransactions)
  return askForOwnRow(deps, PAYMENT)
}
const askAbout = (...transactions: readonly ProviderTransaction[]) =>
  askWhile(async () => ({ kind: 'found', value: { transactions, hasMore: false } }))

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

  it('is not known while the provider cannot be asked', async () => {
    const unanswered = { kind: 'unanswered', reason: 'rate_limited' } as const

    expect(await askWhile(async () => unanswered)).toStrictEqual(unanswered)
  })
})

describe('the fee of a row, by the contract', () => {
  const { stage } = testDeps()
  const tariffs = { feeMinor: PAYMENT.providerFeeMinor, invoiced: true }

  // An actual fee of 0 against the tariff: a promotion, or the provider's test mode.
  it.each([
    [undefined, 0, { feeMinor: 0 }],
    ['deducted', 0, { feeMinor: 0 }],
    ['deducted', 4_440, { feeMinor: 4_440 }],
    ['invoiced', 0, tariffs],
    ['invoiced', 4_440, { feeMinor: 4_440 }],
    ['deducted', -1, undefined],
    ['invoiced', -1, undefined],
  ] as const)('%s, %d kept: %j', (providerFees, kept, expected) => {
    const deps = { stage: { ...stage, ...(providerFees && { providerFees }) } }

    expect(feeByKept(deps, PAYMENT, minor(kept))).toStrictEqual(expected)
  })

  it('is the tariff’s at success where the provider bills later, and not known otherwise', () => {
    const at = PAYMENT.createdAt
    const under = (providerFees: 'invoiced' | 'deducted') => ({ stage: { ...stage, providerFees } })

    expect(invoicedFee(under('invoiced'), PAYMENT, at)).toStrictEqual({ status: 'actual', at, ...tariffs })
    expect(invoicedFee(under('deducted'), PAYMENT, at)).toBeUndefined()
    expect(invoicedFee({ stage }, PAYMENT, at)).toBeUndefined()
  })
})
