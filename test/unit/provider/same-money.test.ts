import { expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { isOfSameMoney } from '../../../shared/posting/ask-for-rows.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { settledRow } from '../../support/fake-provider.ts'
import { testDeps } from '../../support/test-deps.ts'

const ROW = settledRow({ providerPaymentId: 'py-1', reference: '' }, testDeps().now())

it.for<readonly [boolean, string, Partial<ProviderTransaction>]>([
  [true, 'has the least net', { providerMinor: minor(1) }],
  [true, 'has no fee', { providerMinor: minor(100_000) }],
  [true, 'is pending without a net', { status: 'pending', providerMinor: minor(0) }],
  [false, 'brings nothing', { providerMinor: minor(0) }],
  [false, 'brings more than was paid', { providerMinor: minor(100_001) }],
  [false, 'has a net in another currency', { isForeignNet: true }],
  [false, 'has another amount', { amountMinor: minor(99_999) }],
  [false, 'has another currency', { currency: 'USD' }],
])('stands for a void row of its capture (%s) if it %s', ([stands, , fields]) => {
  expect(isOfSameMoney({ ...ROW, ...fields }, { ...ROW, status: 'reversed' })).toBe(stands)
})
