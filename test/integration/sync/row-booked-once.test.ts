/**
 * Goal: one row of the provider is booked once, by its payment or by the house, also when two
 * processes have read it before and after the payment was credited (design section 12). Method:
 * each booking of the row is overtaken, just before its write, by each other booking.
 */
import { expect } from 'vitest'
import { auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import {
  bookSuspenseRefund,
  bookTransfer,
  bookUnmatchedRow,
} from '../../../shared/posting/house-journal.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { finding } from '../../../shared/suspense/record-suspense.ts'
import { aRefund } from '../../support/money-rows.ts'
import { entriesIn } from '../../support/paid-builders.ts'
import { findingAbout, paymentOf, rowNow } from '../../support/synced-payment.ts'
import { beforeFirst, type TestDeps } from '../../support/test-deps.ts'
import { heldTest, sumsOf } from './held-money.ts'

const BACK_MINOR = 30_000

const bookings = ['a movement', 'held money', 'an unmatched row', 'a withdrawal'] as const
type Booking = (typeof bookings)[number]

const it = heldTest
  /** Each booking of one row, as a process that has decided for it does it. */
  .extend('booked', async ({ deps, credited, hold, sync }) => {
    await sync(rowNow(deps, credited))
    const { item } = await hold('second_capture')
    const held = await item()
    if (held === undefined) throw new Error('nothing is held')
    const row = aRefund(deps, BACK_MINOR)
    const houseRow = { ...row, rowAt: row.createdAt ?? row.at }
    const about = { payment: held, now: deps.now() }
    const unexplained = finding({
      ...about,
      subject: row.transactionId,
      cause: 'reversed_upstream',
    })
    const contradiction = finding({
      ...about,
      subject: row.transactionId,
      cause: 'row_contradicts',
    })
    const ways: Record<Booking, (acting: TestDeps) => Promise<unknown>> = {
      'a movement': async (acting) => movePayment(acting, await paymentOf(deps, credited), row),
      'held money': (acting) => bookSuspenseRefund(acting, held, houseRow, contradiction),
      'an unmatched row': (acting) => bookUnmatchedRow(acting, houseRow, unexplained),
      'a withdrawal': (acting) => bookTransfer(acting, houseRow, 'withdrawal', { contradiction }),
    }
    return { ways, row }
  })
  /** What the books say is at the provider. */
  .extend('atProvider', ({ deps, client }) => async () => {
    const entries = await entriesIn(deps, client)
    const house = await sumsOf(deps)
    return entries.reduce((sum, entry) => sum + entry.providerMinor, house['providerMinor'] ?? 0)
  })

const pairs = bookings.flatMap((late) =>
  bookings.flatMap((early) => (early === late ? [] : [[late, early] as const])),
)

it.for(pairs)(
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
    expect((await auditWholeGateway(deps)).differences).toStrictEqual([])
  },
)
