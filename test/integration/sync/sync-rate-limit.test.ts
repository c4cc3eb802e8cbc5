import { describe, expect, it } from 'vitest'
import type { TransactionFilter } from '../../../shared/provider/provider.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-provider-transactions.ts'
import { pageOfRows } from '../../support/fake-provider.ts'
import { aSyncWorld, creditedPayment, paidUpstream, paymentOf, rowNow } from '../../support/synced-payment.ts'

describe('sync: the provider’s Rate-Limit headers', () => {
  it('waits as long as the provider’s headers say, and reads on where it was', async () => {
    const { deps, client, rows } = await aSyncWorld()
    const paid = await creditedPayment(deps, client)
    rows.push(rowNow(deps, paid))
    const asked: TransactionFilter[] = []
    let roomAtMs = 0
    deps.provider.script('pauseMs', () => Math.max(0, roomAtMs - deps.monotonicMs()))
    deps.provider.script('listTransactions', async (filter) => {
      asked.push(filter)
      if (asked.length !== 3) return { kind: 'found', value: pageOfRows(rows, filter) }
      roomAtMs = deps.monotonicMs() + 45_000
      return { kind: 'unanswered', reason: 'rate_limited' }
    })
    const startedMs = deps.monotonicMs()

    const summary = await syncProviderTransactions(deps)

    expect(summary.complete).toBe(true)
    expect(deps.monotonicMs() - startedMs).toBe(45_000)
    expect(asked).toHaveLength(29)
    expect(asked[3]).toStrictEqual(asked[2])
    expect(await paymentOf(deps, paid)).toMatchObject({ feeStatus: 'actual' })
  })

  it('waits before it asks about money while the provider wants no questions about it, and asks again behind a 429', async () => {
    const { deps, client, rows } = await aSyncWorld()
    const paid = await paidUpstream(deps, client)
    rows.push(rowNow(deps, paid))
    let roomAtMs = deps.monotonicMs() + 10_000
    deps.provider.script('pauseMs', (operation) =>
      operation === 'getPayment' ? Math.max(0, roomAtMs - deps.monotonicMs()) : 0,
    )
    const shown = deps.provider.payments.get(paid.providerPaymentId)
    if (!shown) throw new Error('the provider has no such payment')
    const askedAtMs: number[] = []
    deps.provider.script('getPayment', async () => {
      askedAtMs.push(deps.monotonicMs())
      if (askedAtMs.length > 1) return { kind: 'found', value: shown }
      roomAtMs = deps.monotonicMs() + 5_000
      return { kind: 'unanswered', reason: 'rate_limited' }
    })
    const startedMs = deps.monotonicMs()

    await syncProviderTransactions(deps)

    expect(askedAtMs.map((at) => at - startedMs)).toStrictEqual([10_000, 15_000])
    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded' })
  })
})
