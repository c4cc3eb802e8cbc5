import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import type { ProviderFees } from '../../../shared/stage-settings.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { creditedPayment, findingAbout, paymentOf, pendingOf, rowNow } from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { syncTest } from '../sync/sync-test.ts'

const under = <Deps extends TestDeps>(deps: Deps, providerFees: ProviderFees): Deps => ({
  ...deps,
  stage: { ...deps.stage, providerFees },
})

/** The `it` of a gateway whose contract with the provider has fees billed after the month. */
const it = syncTest.extend('deps', () => under(memoryDeps(), 'invoiced'))

const TARIFFS_FEE = { feeStatus: 'actual', providerFeeMinor: 4_000, netMinor: 95_900 } as const
const NO_FEE = { keptMinor: minor(0) }

describe('a contract that bills fees after the month (stage setting providerFees: invoiced)', () => {
  it('makes the tariff’s fee the actual one in the transaction of success, and asks no provider', async ({
    deps,
    client,
    paid,
  }) => {
    await applyProviderNews(deps, { providerPaymentId: paid.providerPaymentId }, 'callback')

    const invoiced = { status: 'actual', feeMinor: 4_000, at: deps.now(), invoiced: true }
    const { finalFee, ...stored } = await paymentOf(deps, paid)
    expect(stored).toMatchObject(TARIFFS_FEE)
    expect(finalFee).toStrictEqual(invoiced)
    expect(deps.provider.countOf('listTransactions')).toBe(0)
    expect(await pendingOf(deps, client.clientId)).toBe(95_900)
  })

  it.for([4_440, 4_000, -1])(
    'reports a row that shows a fee (%d), and changes nothing',
    async (kept, { deps, client, rows, credited }) => {
      rows.push(rowNow(deps, credited, { keptMinor: minor(kept) }))

      await syncProviderTransactions(deps)

      expect(await findingAbout(deps, credited.payment.paymentId, 'fee_changed')).toMatchObject({ amountMinor: kept })
      expect(await paymentOf(deps, credited)).toMatchObject(TARIFFS_FEE)
      expect(await pendingOf(deps, client.clientId)).toBe(95_900)
    },
  )
})

const DEDUCTED_FEE = { feeStatus: 'actual', providerFeeMinor: 4_440, netMinor: 95_460 } as const

describe('a contract that changes', () => {
  it.for([
    [0, TARIFFS_FEE],
    [4_440, DEDUCTED_FEE],
  ] as const)(
    'takes an earlier estimate’s fee from its row, which kept %d',
    async ([kept, expected], { deps, client, rows }) => {
      const paid = await creditedPayment(under(deps, 'deducted'), client)
      rows.push(rowNow(deps, paid, { keptMinor: minor(kept) }))

      await syncProviderTransactions(deps)

      expect(await paymentOf(deps, paid)).toMatchObject(expected)
      expect(deps.published).toStrictEqual([])
    },
  )

  it('reports nothing about fees that were final before', async ({ deps, client, rows, credited }) => {
    const deducted = under(deps, 'deducted')
    const deductedBefore = await creditedPayment(deducted, client)
    rows.push(rowNow(deps, credited, NO_FEE), rowNow(deps, deductedBefore))
    await syncProviderTransactions(deducted)

    await syncProviderTransactions(deps)

    expect(deps.published).toStrictEqual([])
    expect(await paymentOf(deps, credited)).toMatchObject(TARIFFS_FEE)
    expect(await paymentOf(deps, deductedBefore)).toMatchObject(DEDUCTED_FEE)
  })
})
