import { describe, expect } from 'vitest'
import { holdMoney } from '../../../shared/payment/held-money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { postOverduePayments } from '../../../shared/posting/assume-fee.ts'
import {
  bookSuspense,
  bookSuspenseRefund,
  bookSuspenseVoid,
  bookTransfer,
  bookUnmatchedRow,
  houseRowOf,
} from '../../../shared/posting/house-journal.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { endCreditedMoney } from '../../../shared/posting/post-payments.ts'
import { finding, recordSuspense } from '../../../shared/suspense/record-suspense.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { suspenseKey } from '../../../shared/table/keys.ts'
import { aRefund, someHeldMoney } from '../../support/money-rows.ts'
import { expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import {
  expectPayment,
  expectSuspense,
  findingAbout,
  notifyOf,
  paymentOf,
  rowNow,
} from '../../support/synced-payment.ts'
import { changeRow } from '../../support/tampering.ts'
import { beforeFirst, type TestDeps, writtenKeys } from '../../support/test-deps.ts'
import { heldMoneyItem, refundOf, resolve } from '../payment/suspense-test.ts'
import { heldTest, refundFields } from './held-money.ts'
import { dyingBefore } from './sync-test.ts'

/**
 * Goal: money that was held before its payment was there (after a restore) is counted once when
 * the payment is credited with it after all. Method: each way to credit and to post the payment.
 */

const CREDITED = { status: 'resolved', resolution: 'credited' }

const it = heldTest
  .extend('held', async ({ deps, paid: { providerPaymentId } }) => {
    const item = someHeldMoney(deps, providerPaymentId, 100_000)
    await recordSuspense(deps, item)
    const refund = () => refundOf(deps, item, 'txn_part', 20_000)
    return { item, refund, reread: () => findSuspense(deps, providerPaymentId) }
  })
  .extend('credit', ({ deps, paid: { providerPaymentId } }) => async () => {
    await notifyOf(deps, providerPaymentId)
  })

describe('held money that a payment is credited with after all', () => {
  it('stays given back although its own row is read again', async ({ deps, paid, held, sync }) => {
    const row = rowNow(deps, paid)
    await resolve(deps, await bookSuspense(deps, held.item, houseRowOf(row)), 'written_off')

    await sync(row)

    await expectPayment(deps, paid, { status: 'pending' })
  })

  it.for([
    ['booked', { reference: 'order 17' }, { status: 'open', providerMinor: 95_560 }],
    ['ended as credited', {}, CREDITED],
  ] as const)(
    'is %s by its key, whatever id its row names',
    async ([, fields, after], { deps, paid, held, sync }) => {
      const other = heldMoneyItem(deps)
      await recordSuspense(deps, other)
      const { suspenseId } = held.item
      const rename = (name: string) =>
        changeRow(deps, suspenseKey(suspenseId), { set: { suspenseId: name } })
      await rename(other.suspenseId)

      await sync(rowNow(deps, paid, fields))

      expect(await held.reread()).toMatchObject(after)
      expect(await findSuspense(deps, other.suspenseId)).toEqual(other)
      // The audit after the test names an altered id.
      await rename(suspenseId)
    },
  )

  it('takes no row without a reference after due work has credited the payment', async ({
    deps,
    client,
    paid,
    held,
    sync,
    atProvider,
  }) => {
    await applyProviderNews(deps, paid, 'due_work')
    await sync(rowNow(deps, paid, { reference: '' }))
    deps.clock.advance(8 * 86_400)
    await postOverduePayments(deps, client.clientId)

    expect(await held.reread()).toMatchObject(CREDITED)
    expect(await atProvider()).toBe(95_560)
  })

  it('ends when its own row credits its payment, which shows it', async ({ deps, paid, sync }) => {
    const about = { cause: 'wrong_amount', payment: paid.payment } as const
    await holdMoney(deps, someHeldMoney(deps, paid.providerPaymentId, 100_000, about))
    deps.provider.transactions.push(rowNow(deps, paid))
    // A process dies after the credit, and a second process before it books the row.
    for (let died = 0; died < 2; died++)
      await syncProviderTransactions(dyingBefore(deps, paid.providerPaymentId))
    deps.clock.advance(600)

    await sync()

    await expectPayment(deps, paid, { feeStatus: 'actual', held: [{ status: 'credited' }] })
    await expectSuspense(deps, paid.providerPaymentId, CREDITED)
    await expectHouseBalanced(deps)
  })

  it.for(['assumed', 'actual'])(
    'ends when the sync reads the row of an overdue payment, whose fee is %s',
    async (feeStatus, { deps, client, paid, held, rows, credit, sync }) => {
      await credit()
      deps.clock.advance(8 * 86_400)
      const row = rowNow(deps, paid)
      if (feeStatus === 'actual') rows.push(row)
      await postOverduePayments(deps, client.clientId)

      await (rows.length > 0 ? sync() : sync(row))

      await expectPayment(deps, paid, { feeStatus, ownRow: {} })
      expect(await held.reread()).toMatchObject(CREDITED)
    },
  )

  it('has a refund with a reference of its own taken from the payment', async ({
    deps,
    paid,
    held,
    sync,
  }) => {
    await sync(rowNow(deps, paid))
    expect(await held.reread()).toMatchObject(CREDITED)

    await sync(rowNow(deps, { ...paid, reference: 'refund-17' }, refundFields))

    expect((await paymentOf(deps, paid)).movements).toMatchObject([{ type: 'refund' }])
  })

  it('stays open for a person if a part of it is refunded before it ends', async ({
    deps,
    paid,
    held,
    credit,
  }) => {
    await credit()
    const payments = [await paymentOf(deps, paid)]

    const ending = endCreditedMoney(beforeFirst(deps, 'transact', held.refund), payments)

    await expect(ending).rejects.toMatchObject({ code: 'conflict' })
    expect(await held.reread()).toMatchObject({ status: 'open' })
    await endCreditedMoney(deps, payments)
    expect(await held.reread()).toMatchObject({ status: 'open', refundedMinor: 20_000 })
  })

  it('is not booked by a process that read the item before', async ({
    deps,
    paid,
    held,
    sync,
    atProvider,
  }) => {
    const row = rowNow(deps, paid)
    await sync(row)

    await bookSuspense(deps, held.item, houseRowOf(row))
    await bookSuspenseVoid(deps, held.item, houseRowOf(row))
    await held.refund()

    expect(await atProvider()).toBe(95_560)
    await expectHouseBalanced(deps)
  })

  it.for([{}, { reference: '' }, { status: 'reversed' }] as const)(
    'is not given back by an operator, and ends: row with %o',
    async (fields, { deps, paid, held, rows, credit, atProvider }) => {
      await credit()
      rows.push(rowNow(deps, paid, fields))
      const refusal = `payment ${paid.payment.paymentId} is credited with this money`

      await expect(resolve(deps, held.item)).rejects.toMatchObject({
        code: 'conflict',
        message: refusal,
      })

      expect(await held.reread()).toMatchObject(CREDITED)
      expect(await atProvider()).toBe(0)
    },
  )

  it.for([
    ['a credit', 'PAYMENT#', 'unknown_reference'],
    ['its return', 'SUSPENSE#', 'unknown_reference'],
    ['its return', 'SUSPENSE#', 'wrong_amount'],
  ] as const)(
    'is paid once if the other payer overtakes %s just before its write: %s, %s',
    async ([late, prefix, cause], { deps, paid, rows }) => {
      const payment = cause === 'wrong_amount' ? paid.payment : undefined
      const item = someHeldMoney(deps, paid.providerPaymentId, 100_000, { cause, payment })
      await holdMoney(deps, item)
      const row = rowNow(deps, paid)
      rows.push(row)
      await bookSuspense(deps, item, houseRowOf(row))
      const credit = (acting: TestDeps) => applyProviderNews(acting, paid, 'due_work')
      const giveBack = (acting: TestDeps) => resolve(acting, item)
      const [first, second] = late === 'a credit' ? [giveBack, credit] : [credit, giveBack]
      const slow = beforeFirst(
        deps,
        (call) =>
          call.name === 'transact' && writtenKeys([call]).some(({ pk }) => pk.startsWith(prefix)),
        () => first(deps),
      )

      await second(slow).catch(() => undefined)

      const { status } = await paymentOf(deps, paid)
      expect([status, (await findSuspense(deps, item.suspenseId))?.status]).toStrictEqual(
        late === 'a credit' ? ['pending', 'resolved'] : ['succeeded', 'open'],
      )
    },
  )

  it.for(['shown', 'shown no more'])(
    'is not given back after its row was booked on the item, and is written off: row %s',
    async (how, { deps, paid, held, rows, credit }) => {
      const row = rowNow(deps, paid)
      if (how === 'shown') rows.push(row)
      await bookSuspense(deps, held.item, houseRowOf(row))
      await credit()

      await expect(resolve(deps, held.item)).rejects.toMatchObject({ code: 'conflict' })

      expect(await held.reread()).toMatchObject({ status: 'open' })
      expect(await resolve(deps, held.item, 'written_off')).toMatchObject({ status: 'resolved' })
    },
  )
})

/**
 * Goal: one row of the provider is booked once, by its payment or by the house, also when two
 * processes have read it before and after the payment was credited (design section 12). Method:
 * each booking of the row is overtaken, just before its write, by each other booking.
 */

const BACK_MINOR = 30_000

const bookings = ['a movement', 'held money', 'an unmatched row', 'a withdrawal'] as const
type Booking = (typeof bookings)[number]

const booking = heldTest
  /** Each booking of one row, as a process that has decided for it does it. */
  .extend('booked', async ({ deps, credited, hold, sync }) => {
    await sync(rowNow(deps, credited))
    const { item } = await hold('second_capture')
    const held = await item()
    if (held === undefined) throw new Error('nothing is held')
    const row = aRefund(deps, BACK_MINOR)
    const houseRow = { ...row, rowAt: row.at }
    const about = { subject: row.transactionId, payment: held, now: deps.now() }
    const unexplained = finding({ ...about, cause: 'reversed_upstream' })
    const contradiction = finding({ ...about, cause: 'row_contradicts' })
    const ways: Record<Booking, (acting: TestDeps) => Promise<unknown>> = {
      'a movement': async (acting) => movePayment(acting, await paymentOf(deps, credited), row),
      'held money': (acting) => bookSuspenseRefund(acting, held, houseRow, contradiction),
      'an unmatched row': (acting) => bookUnmatchedRow(acting, houseRow, unexplained),
      'a withdrawal': (acting) => bookTransfer(acting, houseRow, 'withdrawal', { contradiction }),
    }
    return { ways, row }
  })

const pairs = bookings.flatMap((late) =>
  bookings.flatMap((early) => (early === late ? [] : [[late, early] as const])),
)

booking.for(pairs)(
  '%s leaves a row alone that another process books as %s just before its write',
  async ([late, early], { deps, booked, atProvider, credited }) => {
    const before = await atProvider()
    const slow = beforeFirst(deps, 'transact', () => booked.ways[early](deps))

    await booked.ways[late](slow)

    expect(await atProvider()).toBe(before - BACK_MINOR)
    expect((await paymentOf(deps, credited)).movements).toHaveLength(early === 'a movement' ? 1 : 0)
    expect(await findingAbout(deps, booked.row.transactionId, 'reversed_upstream')).toSatisfy(
      (item) => (item === undefined) === (early !== 'an unmatched row'),
    )
    await expectHouseBalanced(deps)
  },
)
