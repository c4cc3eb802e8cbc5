import { describe, expect, it } from 'vitest'
import { mapInChunks } from '../../../shared/chunks.ts'
import type { Client } from '../../../shared/client/client.ts'
import { slotOf } from '../../../shared/ids.ts'
import { minor } from '../../../shared/money.ts'
import { makeFeeFinal } from '../../../shared/payment/fee/fee-store.ts'
import { finalFee } from '../../../shared/payment/fee/final-fee.ts'
import { makeFeesActual } from '../../../shared/payment/fee/make-fees-actual.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import type { ProviderFees } from '../../../shared/stage-settings.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-provider-transactions.ts'
import { LEDGER_SHARDS } from '../../../shared/table/schema.ts'
import { DAY_MS } from '../../../shared/time.ts'
import { processThatDies } from '../../support/dying-process.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { recordTable, writtenKeys } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
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
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const aCredited = async () => {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const rows = deps.provider.transactions
  return { deps, client, rows, paid: await creditedPayment(deps, client) }
}

describe('finalFee: a fee that was waited for long enough (design section 4, Sweep and settle)', () => {
  it.each([
    ['the provider shows no transaction', [], 'transaction_missing'],
    ['its transaction is not settled', [NOT_SETTLED], 'fee_assumed'],
    ['its transaction was reversed', [{ status: 'reversed' as const }], 'fee_assumed'],
    ['its transaction is about another amount', [{ amountMinor: minor(99_999) }], 'fee_assumed'],
    ['less than nothing was kept', [{ keptMinor: minor(-5) }], 'fee_assumed'],
  ])('is the estimate, with a finding, when %s', async (_, overrides, cause) => {
    const { deps, client, rows, paid } = await aCredited()
    rows.push(...overrides.map((fields) => settledRow(paid, deps.now(), fields)))

    const amounts = await finalFee(deps, paid.payment.paymentId)

    expect(amounts).toStrictEqual({ providerFeeMinor: 4_000, netMinor: 95_900, feeStatus: 'assumed' })
    expect(await findingAbout(deps, paid.payment.paymentId, cause)).toMatchObject({ clientId: client.clientId })
    expect(deps.published.map(({ kind }) => kind)).toStrictEqual(['suspense.finding'])
    await expectBalanced(deps, client.clientId)
  })
})

describe('makeFeesActual: the fees of one page (design section 4, Fee)', () => {
  const MANY = 24
  const FEE = minor(4_440)

  /** More payments than a ledger has shards, one of them with the fee that was estimated. */
  const aPage = async () => {
    const deps = memoryDeps()
    const client = await aStoredClient(deps)
    const paid = await mapInChunks(Array.from({ length: MANY }), 1, () => creditedPayment(deps, client))
    const fees = paid.map(({ payment }, at) => ({ payment, feeMinor: at === 0 ? minor(4_000) : FEE }))
    return { deps, client, fees }
  }
  type Page = Awaited<ReturnType<typeof aPage>>
  const feesOf = ({ deps, fees }: Page) =>
    Promise.all(fees.map(async (fee) => (await paymentOf(deps, fee)).providerFeeMinor))
  const ALL = [4_000, ...Array.from({ length: MANY - 1 }, () => FEE)]

  it('credits the differences with one correction of each shard, and writes nothing twice', async () => {
    const page = await aPage()
    const { deps, calls } = recordTable(page.deps)

    const made = await makeFeesActual(deps, page.fees)

    expect(made).toEqual(await Promise.all(page.fees.map((fee) => paymentOf(page.deps, fee))))
    expect(await feesOf(page)).toStrictEqual(ALL)
    const shards = new Set(page.fees.slice(1).map(({ payment }) => slotOf(payment.paymentId, LEDGER_SHARDS)))
    expect(writtenKeys(calls)).toHaveLength(MANY + shards.size)
    expect(new Set(calls.map(({ name }) => name))).toStrictEqual(new Set(['transact', 'update']))
    await expectBalanced(page.deps, page.client.clientId)
  })

  it('holds up nobody for one that somebody else made final, and makes one that is named twice final once', async () => {
    const page = await aPage()
    const { deps, client, fees } = page
    const [, overtaken, twice] = fees
    if (!overtaken || !twice) throw new Error('the page is too short')
    await makeFeeFinal(deps, overtaken.payment, { status: 'assumed', feeMinor: minor(4_000) })

    const made = await makeFeesActual(deps, [...fees, { ...twice }])

    expect(made.map((payment) => payment !== undefined)).toStrictEqual([...fees.map((fee) => fee !== overtaken), false])
    expect(await feesOf(page)).toStrictEqual(ALL.with(1, 4_000))
    await expectBalanced(deps, client.clientId)
  })

  it('dies between two shards without harm: the next run makes the rest final', async () => {
    const page = await aPage()
    const { deps, client, fees } = page
    const dying = processThatDies(deps, { call: 5, when: 'after' })

    await makeFeesActual(dying.deps, fees).catch(() => undefined)

    expect(dying.died()).toBe(true)
    await expectBalanced(deps, client.clientId)
    await makeFeesActual(deps, fees)
    expect(await feesOf(page)).toStrictEqual(ALL)
    await expectBalanced(deps, client.clientId)
  })
})

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
  it('makes the tariff’s fee the actual one in the transaction of success, and asks nobody', async () => {
    const { deps, client } = await aWorld()
    const paid = await paidUpstream(deps, client)

    await applyProviderNews(deps, { providerPaymentId: paid.providerPaymentId }, 'callback')

    const invoiced = { status: 'actual', feeMinor: 4_000, at: deps.now(), invoiced: true }
    expect((await paymentOf(deps, paid)).finalFee).toStrictEqual(invoiced)
    expect(deps.provider.countOf('listTransactions')).toBe(0)
    await expectTariffsFee(deps, client, paid)
  })

  it('lets a settlement wait for nothing', async () => {
    const { deps, client, rows } = await aWorld()
    const paid = await creditedPayment(deps, client)
    rows.push(rowNow(deps, paid, NOT_SETTLED))
    deps.clock.advance(DAY_MS / 1_000)

    const { settlements } = await settle(deps, client)

    expect(settlements).toMatchObject([{ providerFeesMinor: 4_000, netMinor: 95_900, paymentCount: 1 }])
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
