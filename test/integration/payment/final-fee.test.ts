import { describe, expect, it } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { minor } from '../../../shared/money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import type { ProviderFees } from '../../../shared/stage-settings.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { DAY_MS } from '../../../shared/time.ts'
import { NOT_SETTLED } from '../../support/fake-provider.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { entriesIn } from '../../support/recount/entries-in.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { settle, withFloor } from '../../support/settlement-builders.ts'
import {
  creditedPayment,
  findingAbout,
  type PaidUpstream,
  paidUpstream,
  paymentOf,
  pendingOf,
  rowNow,
} from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'

const under = (deps: TestDeps, providerFees: ProviderFees): TestDeps => ({
  ...deps,
  stage: { ...deps.stage, providerFees },
})

/** A gateway whose contract with the provider has fees billed after the month. */
const aWorld = async () => {
  const deps = under(memoryDeps(), 'invoiced')
  const client = await withFloor(deps)
  return { deps, client, rows: deps.provider.transactions }
}

const TARIFFS_FEE = { feeStatus: 'actual', providerFeeMinor: 4_000, netMinor: 95_900 } as const

const expectTariffsFee = async (deps: TestDeps, client: Client, paid: PaidUpstream) => {
  expect(await paymentOf(deps, paid)).toMatchObject(TARIFFS_FEE)
  expect(await pendingOf(deps, client.clientId)).toBe(95_900)
  await expectBalanced(deps, client.clientId)
}

describe('a contract that bills fees after the month (stage setting providerFees: invoiced)', () => {
  it('makes the tariff’s fee the actual one in the transaction of success, and asks no provider', async () => {
    const { deps, client } = await aWorld()
    const paid = await paidUpstream(deps, client)

    await applyProviderNews(deps, { providerPaymentId: paid.providerPaymentId }, 'callback')

    const invoiced = { status: 'actual', feeMinor: 4_000, at: deps.now(), invoiced: true }
    expect((await paymentOf(deps, paid)).finalFee).toStrictEqual(invoiced)
    expect(deps.provider.countOf('listTransactions')).toBe(0)
    await expectTariffsFee(deps, client, paid)
  })

  it('posts a payment when its row settles, and not before', async () => {
    const { deps, client, rows } = await aWorld()
    const paid = await creditedPayment(deps, client)
    rows.push(rowNow(deps, paid, NOT_SETTLED))
    await syncProviderTransactions(deps)
    deps.clock.advance(DAY_MS / 1_000)
    expect(await settle(deps, client)).toMatchObject({ settlement: undefined })
    rows.splice(0, 1, rowNow(deps, paid, { keptMinor: minor(0) }))
    await syncProviderTransactions(deps)

    const { settlement } = await settle(deps, client)

    expect(settlement).toMatchObject({ providerFeesMinor: 4_000, netMinor: 95_900, paymentCount: 1 })
    expect(await entriesIn(deps, client)).toMatchObject([{ providerMinor: 100_000, houseMinor: 4_100 }])
  })

  it('has nothing to say about rows that show no fee', async () => {
    const { deps, client, rows } = await aWorld()
    const paid = await creditedPayment(deps, client)
    rows.push(rowNow(deps, paid, { keptMinor: minor(0) }))

    await syncProviderTransactions(deps)

    expect(deps.published).toStrictEqual([])
    expect(await paymentOf(deps, paid)).toHaveProperty('providerSettledAt')
    await expectTariffsFee(deps, client, paid)
  })

  it.each([4_440, 4_000, -1])('takes a row that shows a fee (%d) for a finding, and changes nothing', async (kept) => {
    const { deps, client, rows } = await aWorld()
    const paid = await creditedPayment(deps, client)
    rows.push(rowNow(deps, paid, { keptMinor: minor(kept) }))

    await syncProviderTransactions(deps)

    expect(await findingAbout(deps, paid.payment.paymentId, 'fee_changed')).toMatchObject({ amountMinor: kept })
    await expectTariffsFee(deps, client, paid)
  })
})

describe('a contract that changes', () => {
  it.each([
    [0, TARIFFS_FEE],
    [4_440, { feeStatus: 'actual', providerFeeMinor: 4_440, netMinor: 95_460 }],
  ])('leaves what was estimated before to its row, of which %d was kept', async (kept, expected) => {
    const { deps, client, rows } = await aWorld()
    const paid = await creditedPayment(under(deps, 'deducted'), client)
    rows.push(rowNow(deps, paid, { keptMinor: minor(kept) }))

    await syncProviderTransactions(deps)

    expect(await paymentOf(deps, paid)).toMatchObject(expected)
    expect(deps.published).toStrictEqual([])
    await expectBalanced(deps, client.clientId)
  })

  it('finds nothing wrong with what was final before: its own contract is on the payment', async () => {
    const { deps, client, rows } = await aWorld()
    const deducted = under(deps, 'deducted')
    const invoicedBefore = await creditedPayment(deps, client)
    const deductedBefore = await creditedPayment(deducted, client)
    rows.push(rowNow(deps, invoicedBefore, { keptMinor: minor(0) }), rowNow(deps, deductedBefore))
    await syncProviderTransactions(deducted)

    await syncProviderTransactions(deps)

    expect(deps.published).toStrictEqual([])
    expect(await paymentOf(deps, invoicedBefore)).toMatchObject(TARIFFS_FEE)
    expect(await paymentOf(deps, deductedBefore)).toMatchObject({ feeStatus: 'actual', providerFeeMinor: 4_440 })
  })
})
