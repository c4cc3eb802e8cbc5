/**
 * Goal: a row that settles weeks late, without being marked as updated, is booked all the same
 * (design section 12). Method: the sync runs every two hours, as its jobs are due.
 */
import { describe, expect } from 'vitest'
import { postOverduePayments } from '../../../shared/posting/assume-fee.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { addMs, DAY_MS, type Timestamp } from '../../../shared/time.ts'
import { NOT_SETTLED } from '../../support/fake-provider.ts'
import { paymentOf, rowNow } from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { resolve } from '../payment/suspense-test.ts'
import { heldTest, sumsOf, ZERO_SUMS } from './held-money.ts'

/** Expected after a day. */
function lateRow(start: Timestamp) {
  return { category: 'VIRTUAL_ACCOUNT', settlesAt: addMs(start, DAY_MS) }
}

async function syncForDays(deps: TestDeps, days: number) {
  for (let hours = 0; hours < days * 24; hours += 2) {
    deps.clock.advance(7_200)
    await syncProviderTransactions(deps)
  }
}

/** `settle` makes the row final without marking it as updated. */
async function readOpen(deps: TestDeps, rows: ProviderTransaction[], row: ProviderTransaction) {
  const open = { ...row, ...NOT_SETTLED }
  rows.push(open)
  await syncProviderTransactions(deps)
  return { settle: () => void rows.splice(rows.indexOf(open), 1, row) }
}

describe('sync: a row that settles late and is not marked as updated', () => {
  heldTest('of held money is booked within a month', async ({ deps, rows, heldRow }) => {
    const row = heldRow('second_capture', lateRow(deps.now()))
    const { settle } = await readOpen(deps, rows, row)
    await syncForDays(deps, 10)

    settle()
    await syncForDays(deps, 22)

    expect(await findSuspense(deps, row.providerPaymentId)).toMatchObject({
      status: 'open',
      providerMinor: 95_560,
    })
  })

  heldTest(
    'of a payment whose fee is assumed is its late row within a month',
    async ({ deps, client, rows, credited }) => {
      const { settle } = await readOpen(deps, rows, rowNow(deps, credited, lateRow(deps.now())))
      await syncForDays(deps, 9)
      await postOverduePayments(deps, client.clientId)
      expect(await paymentOf(deps, credited)).toMatchObject({ feeStatus: 'assumed' })

      settle()
      await syncForDays(deps, 23)

      expect(await paymentOf(deps, credited)).toHaveProperty('lateRowAt')
    },
  )

  heldTest(
    'of held money is asked for when an operator resolves it',
    async ({ deps, rows, heldRow }) => {
      const row = heldRow('second_capture', lateRow(deps.now()))
      const { settle } = await readOpen(deps, rows, row)
      const item = { suspenseId: row.providerPaymentId }
      await expect(resolve(deps, item)).rejects.toThrow('has not settled this money yet')

      settle()
      const resolved = await resolve(deps, item)

      expect(resolved).toMatchObject({ status: 'resolved', resolution: 'refunded_by_bank' })
      expect(await sumsOf(deps)).toStrictEqual({
        ...ZERO_SUMS,
        providerMinor: 95_560,
        bankMinor: -100_000,
        costMinor: -4_440,
      })
    },
  )

  heldTest.for([{ currency: 'PHP' }, { isForeignNet: true }])(
    'of held money in %o books nothing, resolved or void',
    async (foreign, { deps, rows, hold, sync }) => {
      const { heldRow, item } = await hold('second_capture', { ...foreign, keptMinor: undefined })

      await resolve(deps, { suspenseId: heldRow.providerPaymentId })
      rows.splice(0, 1, { ...heldRow, status: 'reversed', updatedAt: deps.now() })
      await sync()

      expect(await item()).toMatchObject({ resolution: 'refunded_by_bank', isVoid: true })
      expect(await sumsOf(deps)).toStrictEqual(ZERO_SUMS)
    },
  )

  heldTest(
    'stays in suspense while the provider does not answer',
    async ({ deps, rows, heldRow }) => {
      const row = heldRow('second_capture', lateRow(deps.now()))
      await readOpen(deps, rows, row)
      deps.provider.script('listTransactions', async () => ({
        kind: 'unanswered',
        reason: 'unreachable',
      }))

      const resolving = resolve(deps, { suspenseId: row.providerPaymentId })

      await expect(resolving).rejects.toMatchObject({ code: 'network' })
      expect(await findSuspense(deps, row.providerPaymentId)).toMatchObject({ status: 'open' })
    },
  )
})
