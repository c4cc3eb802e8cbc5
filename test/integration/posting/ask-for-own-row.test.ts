import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { askForOwnRow } from '../../../shared/posting/assume-fee.ts'
import { isPossibleFee } from '../../../shared/posting/post-payments.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { aTransaction, succeededPayment } from '../../support/paid-builders.ts'
import { aClient } from '../../support/payment-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

const PAYMENT = succeededPayment(aClient(), { paidAt: aClient().createdAt })
const OWN_ROW = aTransaction(PAYMENT, { keptMinor: 4_440 })

function askAbout(...transactions: readonly ProviderTransaction[]) {
  const deps = testDeps()
  deps.provider.answer('listTransactions', {
    kind: 'found',
    value: { transactions, hasMore: false },
  })
  return askForOwnRow(deps, PAYMENT)
}

describe('askForOwnRow (design section 4, Fee)', () => {
  it.each([
    ['of another payment', { providerPaymentId: 'py-other' }, false],
    ['that names another payment', { reference: 'order 17' }, false],
    ['that is no payment', { type: 'return' }, false],
    ['that was reversed', { status: 'reversed' }, true],
    ['that is pending', { status: 'pending' }, true],
    ['that failed', { status: 'failed' }, true],
    ['that is not settled', { keptMinor: undefined }, true],
    ['in another currency', { currency: 'PHP' }, true],
  ] as const)('finds no settled row in a transaction %s', async (_case, fields, isKnown) => {
    expect(await askAbout({ ...OWN_ROW, ...fields })).toStrictEqual({
      kind: 'answered',
      row: undefined,
      isKnown,
      isVoid: 'status' in fields && fields.status !== 'pending',
    })
  })

  it.each([{ keptMinor: minor(-1) }, { keptMinor: minor(14_001) }, { amountMinor: minor(99_999) }])(
    'says of a row with %o only what it moved',
    async (fields) => {
      expect(await askAbout({ ...OWN_ROW, ...fields })).toMatchObject({
        row: undefined,
        contradicting: { contradicts: true, providerMinor: 95_560 },
      })
    },
  )

  it('knows of a row that cannot be read', async () => {
    const deps = testDeps()
    const value = { transactions: [], hasMore: false, unreadableIds: ['txn-1'] }
    deps.provider.answer('listTransactions', { kind: 'found', value })

    expect(await askForOwnRow(deps, PAYMENT)).toMatchObject({ row: undefined, isKnown: true })
  })

  it('says of a void row nothing while a second row of the capture stands', async () => {
    const rows = [{ ...OWN_ROW, status: 'reversed' } as const, { ...OWN_ROW, keptMinor: undefined }]

    expect(await askAbout(...rows)).toMatchObject({ row: undefined, isVoid: false })
  })

  it.each([{ keptMinor: 14_000 }, { reference: '' }, { keptMinor: 0 }])(
    'finds the settled row of this payment with %o',
    async ({ keptMinor = 4_440, ...fields }) => {
      const otherRow = { ...OWN_ROW, providerPaymentId: 'py-other', keptMinor: minor(1) }

      const ownRow = { ...OWN_ROW, ...fields, keptMinor: minor(keptMinor) }

      const answer = { row: { feeMinor: keptMinor }, isKnown: true }
      expect(await askAbout(otherRow, ownRow)).toMatchObject(answer)
    },
  )

  it('takes a fee of three times the estimate for possible, however far above, and no more', () => {
    const isPossible = (fee: number) =>
      isPossibleFee({ providerFeeMinor: minor(6_000) }, minor(fee))
    expect([18_000, 18_001].map(isPossible)).toStrictEqual([true, false])
  })
})
