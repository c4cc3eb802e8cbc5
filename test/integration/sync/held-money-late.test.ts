/**
 * Goal: a row that settles weeks late, without being marked as updated, is booked all the same
 * (design section 12). Method: the sync runs every six hours, as its jobs are due.
 */
import { describe, expect } from 'vitest'
import { findUnclaimedRow } from '../../../shared/journal/house-store.ts'
import { minor } from '../../../shared/money.ts'
import { askForOwnRow, postOverduePayments } from '../../../shared/posting/assume-fee.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { handOverOwnRow } from '../../../shared/sync/hand-over-own-row.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { addMs, DAY_MS, HOUR_MS, type Timestamp } from '../../../shared/time.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import {
  expectFinding,
  expectPayment,
  expectSuspense,
  paymentOf,
  rowNow,
} from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { resolve } from '../payment/suspense-test.ts'
import { heldTest, refundFields, sumsOf, ZERO_SUMS } from './held-money.ts'

/** Expected after a day. */
function lateRow(start: Timestamp) {
  return { category: 'VIRTUAL_ACCOUNT', settlesAt: addMs(start, DAY_MS) }
}

async function syncForDays(deps: TestDeps, days: number) {
  for (let hours = 0; hours < days * 24; hours += 6) {
    deps.clock.advance(21_600)
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

    await expectSuspense(deps, row.providerPaymentId, { status: 'open', providerMinor: 95_560 })
  })

  heldTest(
    'of a payment whose fee is assumed is its late row within a month',
    async ({ deps, client, rows, credited }) => {
      const { settle } = await readOpen(deps, rows, rowNow(deps, credited, lateRow(deps.now())))
      await syncForDays(deps, 9)
      await postOverduePayments(deps, client.clientId)
      await expectPayment(deps, credited, { feeStatus: 'assumed' })

      settle()
      await syncForDays(deps, 23)

      expect(await paymentOf(deps, credited)).toHaveProperty('lateRowAt')
    },
  )

  heldTest(
    'of a payment whose fee is assumed is its late row months later, when an operator refreshes it',
    async ({ deps, client, rows, credited }) => {
      const { paymentId: payment_id } = credited.payment
      const refresh = () => invokeAdmin('refresh-payment', deps, { operator: 'ana', payment_id })
      deps.provider.silence('listTransactions')
      // Nothing is asked before the posting.
      expect(await refresh()).toHaveProperty('status', 200)
      deps.provider.heal('listTransactions')
      const row = rowNow(deps, credited, lateRow(deps.now()))
      await syncForDays(deps, 40)
      await postOverduePayments(deps, client.clientId)
      rows.push(row)
      await syncForDays(deps, 40)
      expect(await paymentOf(deps, credited)).not.toHaveProperty('lateRowAt')
      deps.provider.silence('listTransactions')
      expect(await refresh()).toMatchObject({
        body: { message: expect.stringContaining('the payment is refreshed, its row is not') },
      })
      const nameless = { ...(await paymentOf(deps, credited)), capture: { providerPaymentId: '' } }
      await handOverOwnRow(deps, nameless)
      expect(await askForOwnRow(deps, nameless)).toMatchObject({ kind: 'answered' })
      deps.provider.heal('listTransactions')

      await refresh()
      await refresh()
      await syncProviderTransactions(deps)

      expect(await paymentOf(deps, credited)).toHaveProperty('lateRowAt')
    },
  )

  heldTest(
    'of held money is asked for when an operator resolves it, and stays open without an answer',
    async ({ deps, rows, heldRow }) => {
      const row = heldRow('second_capture', lateRow(deps.now()))
      const { settle } = await readOpen(deps, rows, row)
      const item = { suspenseId: row.providerPaymentId }
      deps.provider.silence('listTransactions')
      await expect(resolve(deps, item)).rejects.toMatchObject({ code: 'network' })
      await expectSuspense(deps, row.providerPaymentId, { status: 'open' })
      deps.provider.heal('listTransactions')
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
    async (foreign, { deps, hold, sync, showAnew }) => {
      const { heldRow, item } = await hold('second_capture', { ...foreign, keptMinor: undefined })

      await resolve(deps, { suspenseId: heldRow.providerPaymentId })
      showAnew(heldRow, { status: 'reversed' })
      await sync()

      expect(await item()).toMatchObject({ resolution: 'refunded_by_bank', isVoid: true })
      expect(await sumsOf(deps)).toStrictEqual(ZERO_SUMS)
    },
  )
})

describe('sync: money that stays in suspense', () => {
  heldTest.for([{ settlesIn: DAY_MS }, { settlesIn: undefined }])(
    'the money’s own row is booked when it has settled, although the provider marks no update: %o',
    async ({ settlesIn }, { deps, rows, hold, sync }) => {
      const createdAt = deps.now()
      const settlesAt = settlesIn === undefined ? undefined : addMs(createdAt, settlesIn)
      const { heldRow, item } = await hold('unknown_reference', { ...NOT_SETTLED, settlesAt })
      // This round reads from two minutes before the end of the last round.
      await sync()
      const itemBefore = await item()
      rows.splice(0, 1, { ...heldRow, keptMinor: minor(4_440), settledAt: deps.now() })

      deps.clock.set(addMs(createdAt, (settlesIn ?? 4 * DAY_MS) + 2 * HOUR_MS))
      await sync()

      expect(itemBefore).not.toHaveProperty('providerMinor')
      expect(await item()).toMatchObject({ status: 'open', providerMinor: 100_000 })
    },
  )

  heldTest(
    'a dispute takes the disputed part, not the fee in the dispute’s row',
    async ({ deps, hold, sync }) => {
      const { heldRow, item } = await hold('unknown_reference')
      const amounts = {
        amountMinor: minor(30_000),
        disputedMinor: minor(25_000),
        providerMinor: minor(-30_000),
      }

      await sync(
        settledRow(heldRow, deps.now(), {
          ...refundFields,
          ...amounts,
          reversalKind: 'chargeback',
        }),
      )

      expect(await item()).toMatchObject({ status: 'open', refundedMinor: 25_000 })
      expect(await sumsOf(deps)).toMatchObject({ suspenseMinor: 75_000 })
    },
  )

  heldTest.for<readonly [string, Partial<ProviderTransaction>, string, object | undefined]>([
    ['a deduction', { type: 'correction' }, 'transaction_unexplained', { type: 'unmatched' }],
    [
      'a won dispute',
      { type: 'correction', isDisputeWon: true },
      'reversed_upstream',
      { type: 'unmatched' },
    ],
    [
      'a void refund',
      { type: 'return', status: 'reversed' },
      'reversal#reversed_upstream',
      undefined,
    ],
    ['an unknown status', { status: 'unknown' }, 'transaction_unexplained', undefined],
  ])(
    '%s is a finding, and the money stays in suspense',
    async ([, fields, cause, houseEntry], { deps, hold, sync }) => {
      const { heldRow, item } = await hold('unknown_reference')
      const itemBefore = await item()
      const row = settledRow(heldRow, deps.now(), {
        ...fields,
        keptMinor: undefined,
        amountMinor: minor(25_000),
      })

      await sync(row)

      expect(await item()).toStrictEqual(itemBefore)
      await expectFinding(deps, row.transactionId, cause, { status: 'open', amountMinor: 25_000 })
      expect(await findUnclaimedRow(deps, row.transactionId)).toEqual(
        houseEntry && expect.objectContaining(houseEntry),
      )
    },
  )
})
