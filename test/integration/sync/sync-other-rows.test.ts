import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import type { FindingCause } from '../../../shared/suspense/suspense.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-provider-transactions.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { settledRow } from '../../support/fake-provider.ts'
import {
  aSyncWorld,
  creditedPayment,
  findingAbout,
  paidUpstream,
  paymentOf,
  rowNow,
} from '../../support/synced-payment.ts'

const foreign = { providerPaymentId: 'inv-1 ?/', reference: 'order 17' }

describe('sync: rows that are no payments, or of which we know nothing', () => {
  it.each<[string, Partial<ProviderTransaction>, FindingCause]>([
    ['a refund', { type: 'return' }, 'reversed_upstream'],
    ['a refund that came back', { type: 'return', status: 'reversed' }, 'transaction_unexplained'],
    ['an adjustment', { type: 'correction' }, 'transaction_unexplained'],
    ['a withdrawal', { type: 'account' }, 'transaction_unexplained'],
    ['a type of tomorrow', { type: 'unknown', status: 'pending' }, 'transaction_unexplained'],
    ['a status of tomorrow', { status: 'unknown' }, 'transaction_unexplained'],
  ])('%s that names a payment of ours is a finding, once, and moves nothing', async (_, fields, cause) => {
    const { deps, client, rows } = await aSyncWorld()
    const paid = await creditedPayment(deps, client)
    const row = rowNow(deps, paid, { ...fields, keptMinor: undefined, amountMinor: minor(25_000) })
    rows.push(row)

    await syncProviderTransactions(deps)
    deps.clock.advance(3_600)
    const again = await syncProviderTransactions(deps)

    expect(again.complete).toBe(true)
    expect(await findingAbout(deps, row.transactionId, cause)).toMatchObject({
      amountMinor: 25_000,
      paymentId: paid.payment.paymentId,
      clientId: client.clientId,
    })
    expect(deps.published).toHaveLength(1)
    expect(await paymentOf(deps, paid)).toStrictEqual(paid.payment)
    await expectBalanced(deps, client.clientId)
  })

  it.each(['return', 'correction', 'unknown'] as const)(
    'of kind %s that name nobody are findings too',
    async (type) => {
      const { deps, rows } = await aSyncWorld()
      const row = settledRow(foreign, deps.now(), { type })
      rows.push(row)

      await syncProviderTransactions(deps)

      expect(deps.published).toMatchObject([{ subject: expect.stringContaining(row.transactionId) }])
      expect(deps.provider.countOf('getPayment')).toBe(0)
    },
  )

  it('passes over the account’s own affairs, and says how many it saw', async () => {
    const { deps, rows } = await aSyncWorld()
    rows.push(settledRow(foreign, deps.now(), { type: 'account' }))
    rows.push(settledRow(foreign, deps.now(), { type: 'account', status: 'reversed' }))
    rows.push(settledRow(foreign, deps.now(), { type: 'return', status: 'failed' }))

    const summary = await syncProviderTransactions(deps)

    expect(summary).toMatchObject({ transactions: 3, unanswered: 0, complete: true })
    expect(deps.published).toStrictEqual([])
    expect(deps.lines.filter(({ code }) => code === 'sync.completed')).toMatchObject([{ fields: { passed_over: 3 } }])
  })

  it('takes no other row for the payment’s own: a refund neither credits nor fixes a fee', async () => {
    const { deps, client, rows } = await aSyncWorld()
    const paid = await paidUpstream(deps, client)
    rows.push(rowNow(deps, paid, { type: 'return' }))

    await syncProviderTransactions(deps)

    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'pending' })
    expect(deps.provider.countOf('getPayment')).toBe(0)
  })
})
