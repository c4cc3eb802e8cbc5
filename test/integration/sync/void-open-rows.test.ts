/**
 * Goal: a refund that changed or became void while a job of it was open moves what its newest form
 * says, although the job keeps the row as it was read. Method: a page shows the new form, and the
 * job checks it afterwards.
 */
import { describe, expect } from 'vitest'
import { MAX_MOVEMENTS } from '../../../shared/journal/payment-money.ts'
import { minor } from '../../../shared/money.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { claimJob, findDueJobs, finishJob } from '../../../shared/sync/job-store.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { aChargeback, bookRefund } from '../../support/money-rows.ts'
import { invokeWhole, OPERATOR } from '../../support/operator-actions.ts'
import { expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import {
  expectPayment,
  expectSuspense,
  expire,
  findingAbout,
  PENDING,
  paymentOf,
  pendingOf,
  rowNow,
} from '../../support/synced-payment.ts'
import { beforeCommit, beforeFirst, type TestDeps } from '../../support/test-deps.ts'
import { heldTest, sumsOf, ZERO_SUMS } from './held-money.ts'
import { FINAL, refund, rowOut } from './transfer-rows.ts'

const DAY = 86_400

/**
 * `silence`: after the payment's row the provider answers nothing. `open`: the sync reads a refund.
 * `change`: the provider shows the refund in a new form.
 */
const it = heldTest
  .extend('silence', ({ deps, credited, sync }) => async () => {
    await sync(rowNow(deps, credited))
    deps.provider.silence('getPayment', 'server_error')
  })
  .extend('open', ({ deps, rows, sync }) => async (shown: object) => {
    const row = rowOut(deps, { type: 'REFUND', ...shown, created: deps.now() })
    await sync(row)
    const change = (changed: object) => {
      rows.splice(
        1,
        1,
        rowOut(deps, {
          type: 'REFUND',
          ...shown,
          created: row.createdAt,
          id: row.transactionId,
          ...changed,
        }),
      )
    }
    return { row, change }
  })
  .extend('refundBy', ({ deps, credited, sync }) => async (reference_id: string) => {
    await sync(rowNow(deps, credited))
    const row = rowOut(deps, { reference_id })
    await sync(row)
    const reply = await refund(deps, credited.payment.paymentId, row.transactionId)
    if (reply.status !== 200) throw new Error('the refund was not booked')
    return row
  })
  .extend('becomes', ({ deps, sync, syncAfter, showAnew }) => {
    return async (row: ProviderTransaction, status: ProviderTransaction['status']) => {
      deps.clock.advance(600)
      showAnew(row, { status })
      await sync()
      // The second round reads the row again.
      await syncAfter(60)
    }
  })
  .extend('refundUntilFull', ({ deps, credited }) => async () => {
    for (;;) {
      const payment = await paymentOf(deps, credited)
      if (payment.movements.length === MAX_MOVEMENTS) return
      await bookRefund(deps, payment, 1)
    }
  })

describe('sync: an open refund that becomes void', () => {
  it('takes nothing of the client after it waited for its fee', async ({
    deps,
    client,
    credited,
    sync,
    syncAfter,
    open,
  }) => {
    await sync(rowNow(deps, credited))
    const { reference: reference_id, providerPaymentId: product_id } = credited
    const { change } = await open({ reference_id, product_id, ...PENDING })
    change({ status: 'FAILED' })
    await syncAfter(DAY)

    for (let days = 0; days < 8; days++) await syncAfter(DAY)

    await expectPayment(deps, credited, { movements: [] })
    expect(await pendingOf(deps, client)).toBe(95_460)
  })

  it('takes nothing of the client although a worker checks its old form', async ({
    deps,
    credited,
    syncAfter,
    open,
    silence,
  }) => {
    await silence()
    const ids = { reference_id: 'refund-17', product_id: credited.providerPaymentId }
    const { row, change } = await open(ids)
    change({ status: 'FAILED' })
    deps.clock.advance(120)
    const [due] = await findDueJobs(deps, 1)
    const job = due && (await claimJob(deps, due))
    let finished: unknown
    // The worker is done just before the page reads what it has booked.
    const page = beforeFirst(
      deps,
      (call) => call.name === 'batchGet' && JSON.stringify(call.keys).includes(row.transactionId),
      async () => {
        finished = job && (await finishJob(deps, job))
      },
    )
    await syncProviderTransactions(page)
    deps.provider.heal('getPayment')

    await syncAfter(3_700)

    expect(finished).toMatchObject({ applied: false })
    await expectPayment(deps, credited, { movements: [] })
  })

  it('gives back no held money', async ({ deps, paid, sync, syncAfter, open }) => {
    await expire(deps, paid.payment)
    await sync(rowNow(deps, paid))
    const { change } = await open({
      reference_id: paid.reference,
      product_id: paid.providerPaymentId,
      amount: 100_000,
      net_amount: 100_000,
      ...PENDING,
    })
    change({ status: 'VOIDED' })
    await syncAfter(DAY)
    await syncAfter(6 * DAY - 3_600)

    await syncAfter(7_200)

    await expectSuspense(deps, paid.providerPaymentId, { status: 'open' })
  })

  it('has no late fee, also if a page shows its old form again', async ({
    deps,
    credited,
    rows,
    syncAfter,
    open,
    silence,
  }) => {
    await silence()
    const { providerPaymentId: product_id, reference: reference_id } = credited
    const { row, change } = await open({ reference_id: 'refund-17', product_id, ...FINAL })
    change({ reference_id, status: 'VOIDED' })
    await syncAfter(600)
    deps.provider.heal('getPayment')
    await syncAfter(3_700)

    rows.splice(1, 1, { ...row, reference: reference_id })
    await syncAfter(2 * DAY)

    await expectPayment(deps, credited, { movements: [{ type: 'reversal' }] })
    expect(await findingAbout(deps, `${row.transactionId}#fee`, 'fee_changed')).toBeUndefined()
    expect(await sumsOf(deps)).toMatchObject({ providerMinor: 0, otherMinor: 0 })
  })
})

it('a void that was read before its row has moved the payment gives back what the row moves', async ({
  deps,
  credited,
}) => {
  const payment = await paymentOf(deps, credited)
  const row = aChargeback(deps, 60_000)
  const overtaken = beforeCommit(deps, () => movePayment(deps, payment, row))

  // The provider counts its fee to the row's amount.
  await movePayment(overtaken, payment, { ...row, type: 'reversal', amountMinor: minor(85_000) })

  const undone = { amountMinor: 60_000, providerMinor: 85_000 }
  await expectPayment(deps, credited, { movements: [{}, undone] })
})

it('an open refund whose fee is given back has no late fee of its older form', async ({
  deps,
  credited,
  sync,
  syncAfter,
  open,
  silence,
}) => {
  await silence()
  const { change } = await open({
    reference_id: 'refund-17',
    product_id: credited.providerPaymentId,
    ...FINAL,
  })
  deps.clock.advance(60)
  deps.provider.heal('getPayment')
  change({ net_amount: 60_000, fee: { ...FINAL.fee, status: 'REVERSED' } })
  await sync()

  await syncAfter(3_600)

  await expectPayment(deps, credited, { movements: [{ providerMinor: -60_000 }] })
  expect(await sumsOf(deps)).toStrictEqual(ZERO_SUMS)
})

/**
 * Goal: a refund whose row is undone later is undone in the books too (design section 12), also if
 * its payment has the most movements. Method: `refund-payment` takes a transfer's row over from the
 * house, or the row is a refund's; then the provider shows the row with another status.
 */

const NAMES: readonly (readonly [string, (id: string) => string])[] = [
  ['its payment', (id) => id],
  ['an attempt of its payment', (id) => `${id}-1`],
  ['an order', () => 'order-77'],
]
const cases = NAMES.flatMap(([name, referenceOf]) =>
  (['reversed', 'failed'] as const).map((status) => [name, status, referenceOf] as const),
)

it.for(cases)(
  'a refund by a transfer that names %s is reversed when its row is %s',
  async ([, status, referenceOf], { deps, credited, refundBy, becomes, atProvider }) => {
    const row = await refundBy(referenceOf(credited.payment.paymentId))
    expect(await atProvider()).toBe(35_560)
    deps.published.length = 0

    await becomes(row, status)

    await expectPayment(deps, credited, {
      takenBackMinor: 0,
      reversal: { undoneAt: addMs(deps.now(), -MINUTE_MS) },
      movements: [{ type: 'refund' }, { type: 'reversal', transactionId: row.transactionId }],
    })
    expect(await atProvider()).toBe(95_560)
    expect(deps.published).toMatchObject([
      { subject: `${row.transactionId}#reversal#money_came_back` },
    ])
    await expectHouseBalanced(deps)
  },
)

it.for(['transfer', 'refund'])(
  'a payment with 50 movements is not refunded, and the void of its %s leaves the house with its money',
  async (type, { deps, credited, sync, refundBy, refundUntilFull, becomes, atProvider }) => {
    const row =
      type === 'transfer'
        ? await refundBy('order-77')
        : rowNow(deps, credited, {
            type: 'return',
            transactionId: 'txn_refund',
            amountMinor: minor(60_000),
          })
    if (type === 'refund') await sync(rowNow(deps, credited), row)
    await refundUntilFull()
    expect(await refundByBank(deps, credited.payment.paymentId)).toMatchObject({
      body: { message: 'amount_minor: this payment has 50 movements already' },
    })
    const before = await atProvider()
    deps.published.length = 0

    await becomes(row, 'reversed')

    expect(await atProvider()).toBe(before + 60_000)
    expect(await sumsOf(deps)).toMatchObject({ otherMinor: 60_000 })
    expect(deps.published).toMatchObject([
      { subject: `${row.transactionId}#reversal#too_many_movements` },
    ])
    await expectHouseBalanced(deps)
  },
)

function refundByBank(deps: TestDeps, payment_id: string) {
  return invokeWhole('refund-payment', deps, {
    operator: OPERATOR,
    payment_id,
    amount_minor: 1,
    bank_reference: 'B-50',
  })
}
