import type { AuditDeps } from '../audit/audit-parts.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import type { Event } from '../event/event.ts'
import type { PaymentId } from '../ids.ts'
import { type Entry, netsOf, standingFigures } from '../journal/entry.ts'
import { moveOpenCredit } from '../ledger/shard-store.ts'
import { writeOffInWindow } from '../ledger/window-store.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import type { Payment, StoredPayment } from '../payment/payment.ts'
import { moneyOf } from '../posting/payment-entries.ts'
import { PROVIDER_READ_TIMEOUT_MS, type TransactionFilter } from '../provider/provider.ts'
import { providerFailure } from '../provider/provider-failure.ts'
import type { Item } from '../table/attributes.ts'
import type { Steps } from '../table/table.ts'
import { later, type Timestamp } from '../time.ts'
import type { Difference } from '../verdict/difference.ts'

export type RecountDeps = AuditDeps & RecordDeps & Pick<Deps, 'provider'>

/** One transaction that repairs some differences. */
export type Repair = {
  /** The repaired payment or settlement, or the client. */
  readonly subject: string
  /** The repaired differences, with their present values. */
  readonly of: readonly Difference[]
  /** Writes the repair with its audit record. False: its data has changed after the read; nothing was written. */
  readonly write: () => Promise<boolean>
}

export type RecountBy = { readonly client: Client; readonly operator: string }

/** A stored event that its payment does not show. */
export type StrayEvent = {
  readonly difference: Difference
  readonly payment: StoredPayment
  readonly event: Event
  readonly item: Item
}

/** A stored entry that its payment does not show. */
export type StrayEntry = { readonly difference: Difference; readonly paymentId: PaymentId; readonly entry: Entry }

export type Strays = { readonly events: readonly StrayEvent[]; readonly entries: readonly StrayEntry[] }

export const ADVICE = 'nothing was written; try again'

/** The provider's transactions of an id or a reference. Throws 502 if the provider does not answer. */
export const providerRows = async ({ provider }: RecountDeps, filter: TransactionFilter) => {
  const answer = await provider.listTransactions(filter, PROVIDER_READ_TIMEOUT_MS)
  if (answer.kind === 'unanswered') throw providerFailure(answer, ADVICE)
  return answer.kind === 'found' ? answer.value.transactions : []
}

const figure = ({ what, id, expected, found }: Difference) => ({ what, id, expected, found })

/** Makes a repair whose steps are built when it is written. */
export const repairOf = (
  deps: RecordDeps,
  { client: { clientId }, operator }: RecountBy,
  {
    steps,
    towards,
    ...repair
  }: Pick<Repair, 'subject' | 'of'> & {
    /** The differences in the audit record: those of this repair, or of a later one that needs it. */
    readonly towards?: readonly Difference[]
    readonly steps: () => Promise<Steps<string>> | Steps<string>
  },
): Repair => ({
  ...repair,
  write: async () => {
    const after = { repaired: (towards ?? repair.of).map(figure) }
    const record = { subject: repair.subject, clientId, operator, action: 'recount-ledger', after }
    return (await recordChange(deps, record, await steps())).applied
  },
})

const openNet = (payment: Payment): Minor =>
  payment.openAt === undefined ? ZERO : standingFigures(moneyOf(payment)).netMinor

/** Whether an entry is after the last settlement; earlier entries are in that settlement's own sums. */
const inTail = ({ settlements, client }: ClientBooks, { eligibleAt }: Entry): boolean =>
  eligibleAt >= (settlements.at(-1)?.settlement.sweptUntil ?? client.createdAt)

/**
 * Changes the shard and the window's written-off sum by as much as a repair changes the audit's expectation. So a
 * repair keeps the difference between them, and figures can be corrected before or after it.
 */
export const shiftedBy = (
  books: ClientBooks,
  // `entries`: those that the repair adds.
  change: {
    readonly before: Payment
    readonly after: Payment
    readonly entries: readonly Entry[]
    readonly at: Timestamp
  },
): Steps<string> => {
  const { before, after, entries, at } = change
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
