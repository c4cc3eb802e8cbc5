import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { askForFee, feeAtSuccess, feeByKept } from '../../../shared/payment/fee/actual-fee.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { aClient } from '../../support/client-builders.ts'
import { fakeProvider } from '../../support/fake-provider.ts'
import { aTransaction, succeededPayment } from '../../support/settlement-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

const PAYMENT = succeededPayment(aClient(), { paidAt: aClient().createdAt, feeStatus: 'estimated' })
const OWN = aTransaction(PAYMENT, { keptMinor: 4_440 })

const askAbout = (transactions: readonly ProviderTransaction[]) => {
  const provider = fakeProvider()
  provider.script('listTransactions', async () => ({ kind: 'found', value: { transactions, hasMore: false } }))
  return askForFee({ ...testDeps(), provider }, OWN.providerPaymentId, PAYMENT)
}

describe('askForFee (design section 4, Fee)', () => {
  it('is what the provider kept of this very payment', async () => {
    const stranger = { ...OWN, providerPaymentId: 'py-other', keptMinor: minor(1) }

    expect(await askAbout([stranger, OWN])).toStrictEqual({ kind: 'known', feeMinor: 4_440 })
  })

  it.each([
    ['of another payment', { providerPaymentId: 'py-other' }, false],
    ['that is no payment', { type: 'return' }, false],
    ['that was reversed', { status: 'reversed' }, true],
    ['that is pending', { status: 'pending' }, true],
    ['that failed', { status: 'failed' }, true],
    ['that is not settled', { keptMinor: undefined }, true],
    ['about another amount', { amountMinor: minor(99_999) }, true],
    ['in another currency', { currency: 'PHP' }, true],
  ] as const)('is not taken from a transaction %s', async (_case, fields, hasTransaction) => {
    expect(await askAbout([{ ...OWN, ...fields }])).toStrictEqual({ kind: 'not_known', hasTransaction })
  })

  it('of 0 is an actual fee, whatever the tariff says: a promotion, the provider’s test mode', async () => {
    expect(await askAbout([{ ...OWN, keptMinor: minor(0) }])).toStrictEqual({ kind: 'known', feeMinor: 0 })
  })

  it('of less than nothing is not believed', async () => {
    expect(await askAbout([{ ...OWN, keptMinor: minor(-1) }])).toStrictEqual({ kind: 'below_zero', keptMinor: -1 })
  })

  it('is not known while the provider cannot be asked', async () => {
    const provider = fakeProvider()
    provider.script('listTransactions', async () => ({ kind: 'unanswered', reason: 'rate_limited' }))

    expect(await askForFee({ ...testDeps(), provider }, OWN.providerPaymentId, PAYMENT)).toStrictEqual({
      kind: 'unanswered',
      reason: 'rate_limited',
    })
  })
})

describe('the fee of a row, by the contract', () => {
  const tariffs = { kind: 'known', feeMinor: PAYMENT.providerFeeMinor, invoiced: true }

  it.each([
    ['deducted', 0, { kind: 'known', feeMinor: 0 }],
    ['deducted', 4_440, { kind: 'known', feeMinor: 4_440 }],
    ['invoiced', 0, tariffs],
    ['invoiced', 4_440, { kind: 'known', feeMinor: 4_440 }],
    ['deducted', -1, { kind: 'below_zero', keptMinor: -1 }],
    ['invoiced', -1, { kind: 'below_zero', keptMinor: -1 }],
  ] as const)('%s, %d kept: %j', (providerFees, kept, expected) => {
    const { stage } = testDeps()

    expect(feeByKept({ stage: { ...stage, providerFees } }, PAYMENT, minor(kept))).toStrictEqual(expected)
  })

  it('is deducted where the stage says nothing', () => {
    expect(feeByKept(testDeps(), PAYMENT, minor(0))).toStrictEqual({ kind: 'known', feeMinor: 0 })
  })

  it('is the tariff’s at success where fees are billed later, and nobody is asked', async () => {
    const { stage, provider } = testDeps()
    const deps = { provider, stage: { ...stage, providerFees: 'invoiced' as const } }

    expect(await feeAtSuccess(deps, OWN.providerPaymentId, PAYMENT)).toStrictEqual(tariffs)
    expect(provider.calls).toStrictEqual([])
  })
})
