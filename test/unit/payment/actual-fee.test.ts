import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { askForFee, feeAtSuccess, feeByKept } from '../../../shared/payment/fee/actual-fee.ts'
import type { Provider, ProviderTransaction } from '../../../shared/provider/provider.ts'
import { aClient } from '../../support/client-builders.ts'
import { aTransaction, succeededPayment } from '../../support/settlement-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

const PAYMENT = succeededPayment(aClient(), { paidAt: aClient().createdAt, feeStatus: 'estimated' })
const OWN = aTransaction(PAYMENT, { keptMinor: 4_440, settledAt: PAYMENT.paidAt })

const askWhile = (listTransactions: Provider['listTransactions']) => {
  const deps = testDeps()
  deps.provider.script('listTransactions', listTransactions)
  return askForFee(deps, OWN.providerPaymentId, PAYMENT)
}
const askAbout = (...transactions: readonly ProviderTransaction[]) =>
  askWhile(async () => ({ kind: 'found', value: { transactions, hasMore: false } }))

describe('askForFee (design section 4, Fee)', () => {
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
    expect(await askAbout({ ...OWN, ...fields })).toStrictEqual({ kind: 'not_known', hasTransaction })
  })

  // An actual fee of 0, whatever the tariff says: a promotion, the provider's test mode.
  it.each([
    [4_440, { kind: 'known', feeMinor: 4_440, settledAt: OWN.settledAt }],
    [0, { kind: 'known', feeMinor: 0, settledAt: OWN.settledAt }],
    [-1, { kind: 'below_zero', keptMinor: -1 }],
  ])('is what the provider kept of this very payment, and less than nothing is not believed: %i', async (kept, fee) => {
    const stranger = { ...OWN, providerPaymentId: 'py-other', keptMinor: minor(1) }

    expect(await askAbout(stranger, { ...OWN, keptMinor: minor(kept) })).toStrictEqual(fee)
  })

  it('is not known while the provider cannot be asked', async () => {
    const unanswered = { kind: 'unanswered', reason: 'rate_limited' } as const

    expect(await askWhile(async () => unanswered)).toStrictEqual(unanswered)
  })
})

describe('the fee of a row, by the contract', () => {
  const { stage } = testDeps()
  const tariffs = { kind: 'known', feeMinor: PAYMENT.providerFeeMinor, invoiced: true }

  it.each([
    [undefined, 0, { kind: 'known', feeMinor: 0 }],
    ['deducted', 0, { kind: 'known', feeMinor: 0 }],
    ['deducted', 4_440, { kind: 'known', feeMinor: 4_440 }],
    ['invoiced', 0, tariffs],
    ['invoiced', 4_440, { kind: 'known', feeMinor: 4_440 }],
    ['deducted', -1, { kind: 'below_zero', keptMinor: -1 }],
    ['invoiced', -1, { kind: 'below_zero', keptMinor: -1 }],
  ] as const)('%s, %d kept: %j', (providerFees, kept, expected) => {
    const deps = { stage: { ...stage, ...(providerFees && { providerFees }) } }

    expect(feeByKept(deps, PAYMENT, minor(kept))).toStrictEqual(expected)
  })

  const KNOWN = { kind: 'known', feeMinor: 4_440, settledAt: OWN.settledAt }
  const LATER = { kind: 'not_known', hasTransaction: false }
  const [BNI, BCA, OVO, QRIS] = [
    { method: 'virtual_account', channelCode: 'BNI' },
    { method: 'virtual_account', channelCode: 'BCA' },
    { method: 'ewallet', channelCode: 'OVO' },
    { method: 'qris', channelCode: undefined },
  ] as const

  it.each([
    ['asked for', BNI, 'deducted', undefined, KNOWN, ['listTransactions']],
    ['asked for while half of a minute’s calls are left', BNI, undefined, 300, KNOWN, ['listTransactions']],
    ['left to the sync when less than half are left, which are the sync’s', BNI, undefined, 299, LATER, []],
    ['left to the sync', BCA, undefined, undefined, LATER, []],
    ['left to the sync', OVO, 'deducted', undefined, LATER, []],
    ['left to the sync', QRIS, 'deducted', undefined, LATER, []],
    ['the tariff’s, without a question,', BNI, 'invoiced', undefined, tariffs, []],
  ] as const)('at success is %s: %j, fees %s', async (_, channel, providerFees, left, fee, calls) => {
    const deps = testDeps()
    deps.provider.transactions.push(OWN)
    deps.provider.script('callsLeft', (operation) => (operation === 'listTransactions' ? left : 0))
    const asked = { ...deps, stage: { ...stage, ...(providerFees && { providerFees }) } }

    expect(await feeAtSuccess(asked, OWN.providerPaymentId, { ...PAYMENT, ...channel })).toStrictEqual(fee)
    expect(deps.provider.calls.map(({ operation }) => operation)).toStrictEqual(calls)
  })
})
