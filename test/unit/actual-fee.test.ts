import { describe, expect, it } from 'vitest'
import { minor } from '../../shared/money.ts'
import { askForFee, isUnexplainedFee } from '../../shared/payment/actual-fee.ts'
import type { ProviderTransaction } from '../../shared/provider/provider.ts'
import { aClient } from '../support/client-builders.ts'
import { fakeProvider } from '../support/fake-provider.ts'
import { aTransaction, succeededPayment } from '../support/settlement-builders.ts'

const PAYMENT = succeededPayment(aClient(), { paidAt: aClient().createdAt, feeStatus: 'estimated' })
const OWN = aTransaction(PAYMENT, { keptMinor: 4_440 })

const askAbout = (transactions: readonly ProviderTransaction[]) => {
  const provider = fakeProvider()
  provider.script('listTransactions', async () => ({ kind: 'found', value: { transactions, hasMore: false } }))
  return askForFee({ provider }, OWN.providerPaymentId, PAYMENT)
}

describe('askForFee (design section 4, Fee)', () => {
  it('is what the provider kept of this very payment', async () => {
    const stranger = { ...OWN, providerPaymentId: 'py-other', keptMinor: minor(1) }

    expect(await askAbout([stranger, OWN])).toStrictEqual({ kind: 'known', feeMinor: 4_440 })
  })

  it.each([
    ['of another payment', { providerPaymentId: 'py-other' }, false],
    ['that was reversed', { status: 'reversed' }, true],
    ['that is pending', { status: 'pending' }, true],
    ['that failed', { status: 'failed' }, true],
    ['that is not settled', { keptMinor: undefined }, true],
    ['about another amount', { amountMinor: minor(99_999) }, true],
    ['in another currency', { currency: 'PHP' }, true],
  ] as const)('is not taken from a transaction %s', async (_case, fields, hasTransaction) => {
    expect(await askAbout([{ ...OWN, ...fields }])).toStrictEqual({ kind: 'not_known', hasTransaction })
  })

  it.each([
    [0, 'unexplained_zero'],
    [-1, 'unexplained_zero'],
  ] as const)('of %d is not believed against a tariff', async (kept, kind) => {
    expect(await askAbout([{ ...OWN, keptMinor: minor(kept) }])).toStrictEqual({ kind })
  })

  it('is not known while the provider cannot be asked', async () => {
    const provider = fakeProvider()
    provider.script('listTransactions', async () => ({ kind: 'unanswered', reason: 'rate_limited' }))

    expect(await askForFee({ provider }, OWN.providerPaymentId, PAYMENT)).toStrictEqual({
      kind: 'unanswered',
      reason: 'rate_limited',
    })
  })
})

describe('isUnexplainedFee', () => {
  it.each([
    [0, 4_000, true],
    [-1, 4_000, true],
    [-1, 0, true],
    [0, 0, false],
    [1, 4_000, false],
  ])('says of %d kept against an estimate of %d: %o', (kept, estimate, unexplained) => {
    expect(isUnexplainedFee(minor(kept), minor(estimate))).toBe(unexplained)
  })
})
