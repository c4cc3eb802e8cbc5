import type { ClientBooks } from '../audit/judged/client-books.ts'
import { type Entry, netsOf } from '../journal/entry.ts'
import { standingFigures } from '../journal/payment-money.ts'
import { moveOpenCredit } from '../ledger/shard-store.ts'
import { writeOffInWindow } from '../ledger/window-store.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import type { Payment } from '../payment/payment.ts'
import { moneyOf } from '../posting/payment-entries.ts'
import type { Steps } from '../table/table.ts'
import { later, type Timestamp } from '../time.ts'

const openNet = (payment: Payment): Minor =>
  payment.openAt === undefined ? ZERO : standingFigures(moneyOf(payment)).netMinor

/** What an audit adds up after the last settlement: entries before it are in that settlement's own sums. */
const inTail = ({ settlements, client }: ClientBooks, { eligibleAt }: Entry): boolean =>
  eligibleAt >= (settlements.at(-1)?.settlement.sweptUntil ?? client.createdAt)

/**
 * The shard, and the window's written-off sum, moved by as much as a repair moves what an audit expects of them. So a
 * repair never changes the gap between the two, and figures are corrected once, before or after it.
 */
export const shiftedBy = (
  books: ClientBooks,
  {
    before,
    after,
    entries,
    at,
  }: {
    readonly before: Payment
    readonly after: Payment
    /** The ones that the repair adds. */
    readonly entries: readonly Entry[]
    readonly at: Timestamp
  },
): Steps<string> => {
  const added = entries.filter((entry) => inTail(books, entry))
  const netMinor = plus(less(openNet(after), openNet(before)), netsOf(added))
  const writtenOff = netsOf(added.filter(({ type }) => type === 'written_off'))
  return {
    ledger: netMinor === 0 ? undefined : moveOpenCredit(after, netMinor, at),
    window:
      writtenOff === 0 || books.ledger === undefined
        ? undefined
        : writeOffInWindow(after.clientId, {
            readMinor: books.ledger.window.writtenOffMinor,
            addMinor: writtenOff,
            postedAt: later(at, books.ledger.window.closedUntil),
          }),
  }
}
