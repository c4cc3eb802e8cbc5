import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { makeFeeFinal } from '../../../shared/payment/fee/fee-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { addMs, DAY_MS, SECOND_MS } from '../../../shared/time.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import {
  anOverdueFee,
  aSucceededPayment,
  aTransaction,
  feeOf,
  settle,
  withFloor,
} from '../../support/settlement-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

describe('a fee that is asked for once more after seven days (design section 4, "Sweep and settle")', () => {
  it('becomes actual when the provider knows it, and pending moves by the difference before it is settled', async () => {
    const { deps, client, payment } = await anOverdueFee()
    await aSucceededPayment(deps, client)
    deps.provider.transactions.push(aTransaction(payment, { keptMinor: 3_000 }))

    const { settlements } = await settle(deps, client)

    expect(settlements).toMatchObject([{ providerFeesMinor: 3_000, netMinor: 96_900, paymentCount: 1 }])
    expect(await feeOf(deps, payment)).toStrictEqual([3_000, 96_900, 'actual'])
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 2 })
    expect(deps.published).toStrictEqual([])
    await expectBalanced(deps, client.clientId)
  })

  it('becomes an actual fee of 0 when the provider kept nothing, and is not billed at the tariff', async () => {
    const { deps, client, payment } = await anOverdueFee()
    deps.provider.transactions.push(aTransaction(payment, { keptMinor: 0 }))

    const { settlements } = await settle(deps, client)

    expect(settlements).toMatchObject([{ providerFeesMinor: 0, netMinor: 99_900 }])
    expect(await feeOf(deps, payment)).toStrictEqual([0, 99_900, 'actual'])
    expect(deps.published).toStrictEqual([])
    await expectBalanced(deps, client.clientId)
  })

  const assumed: readonly (readonly [string, (payment: Payment) => readonly ProviderTransaction[], string])[] = [
    ['has no transaction for it', () => [], 'transaction_missing'],
    ['has one without a final fee', (payment) => [{ ...aTransaction(payment), keptMinor: undefined }], 'fee_assumed'],
    ['kept less than nothing', (payment) => [aTransaction(payment, { keptMinor: -1 })], 'fee_assumed'],
  ]
  it.each(assumed)('is assumed with a finding and an alert when the provider %s', async (_, transactions, cause) => {
    const { deps, client, payment } = await anOverdueFee()
    deps.provider.transactions.push(...transactions(payment))

    const { settlements } = await settle(deps, client)

    expect(settlements).toMatchObject([{ providerFeesMinor: 4_000, netMinor: 95_900 }])
    expect(await feeOf(deps, payment)).toStrictEqual([4_000, 95_900, 'assumed'])
    const suspenseId = `${payment.paymentId}#${cause}`
    expect(await findSuspense(deps, suspenseId)).toMatchObject({ kind: 'finding', cause, paymentId: payment.paymentId })
    expect(deps.published).toMatchObject([{ kind: 'suspense.finding', subject: suspenseId }])
    await expectBalanced(deps, client.clientId)
  })

  it.each(['unreachable', 'server_error', 'rate_limited', 'misconfigured'] as const)(
    'stays estimated while the provider gives no answer (%s), and is asked for again by the next run',
    async (reason) => {
      const { deps, client, payment } = await anOverdueFee()
      deps.provider.script('listTransactions', async () => ({ kind: 'unanswered', reason }))

      expect(await settle(deps, client)).toMatchObject({ settlements: [], heldSince: payment.paidAt })
      expect(await feeOf(deps, payment)).toStrictEqual([4_000, 95_900, 'estimated'])
      deps.provider.heal('listTransactions')
      deps.provider.transactions.push(aTransaction(payment))
      expect((await settle(deps, client)).settlements).toHaveLength(1)

      expect(deps.published).toStrictEqual([])
      await expectBalanced(deps, client.clientId)
    },
  )

  it.each([
    ['another fee', [4_440]],
    ['that it knows nothing', []],
  ])('is read again when it became actual while the provider said %s', async (_, kept) => {
    const { deps, client, payment } = await anOverdueFee()
    deps.provider.script('listTransactions', async () => {
      await makeFeeFinal(deps, payment, { status: 'actual', feeMinor: minor(4_100) })
      const transactions = kept.map((keptMinor) => aTransaction(payment, { keptMinor }))
      return { kind: 'found', value: { transactions, hasMore: false } }
    })

    const { settlements } = await settle(deps, client)

    expect(settlements).toMatchObject([{ providerFeesMinor: 4_100, netMinor: 95_800 }])
    expect(await feeOf(deps, payment)).toStrictEqual([4_100, 95_800, 'actual'])
    expect(deps.published).toStrictEqual([])
    expect(await findSuspense(deps, `${payment.paymentId}#transaction_missing`)).toBeUndefined()
    await expectBalanced(deps, client.clientId)
  })

  it('stops a run that asked for four minutes: what is final is settled, the rest is held for the next', async () => {
    const deps = testDeps()
    const client = await withFloor(deps)
    const payments: Payment[] = []
    for (let at = 0; at < 5; at++) {
      payments.push(await aSucceededPayment(deps, client, { feeStatus: 'estimated' }))
      deps.clock.set(addMs(deps.now(), 1))
    }
    deps.clock.set(addMs(deps.now(), 7 * DAY_MS))
    deps.provider.transactions.push(...payments.map((payment) => aTransaction(payment)))
    deps.provider.script('listTransactions', async (filter, timeoutMs) => {
      await deps.sleep(100 * SECOND_MS)
      return deps.provider.healthy.listTransactions(filter, timeoutMs)
    })

    const first = await settle(deps, client)
    const second = await settle(deps, client)

    expect(first).toMatchObject({ settlements: [{ paymentCount: 3 }], heldSince: payments[3]?.paidAt })
    expect(second).toMatchObject({ settlements: [{ paymentCount: 2 }], heldSince: undefined })
    await expectBalanced(deps, client.clientId)
  })
})
