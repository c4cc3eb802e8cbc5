import type { AuditDeps } from '../audit/history.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import type { Deps } from '../deps.ts'
import type { Event } from '../event/event.ts'
import type { PaymentId } from '../ids.ts'
import { type Entry, netsOf } from '../journal/entry.ts'
import { standingFigures } from '../journal/payment-money.ts'
import { moveOpenCredit } from '../ledger/shard-store.ts'
import { writeOffInWindow } from '../ledger/window-store.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import type { RecordDeps } from '../operator/audit-record-store.ts'
import type { Payment } from '../payment/payment.ts'
import { moneyOf } from '../posting/payment-entries.ts'
import { providerFailure, type TransactionFilter } from '../provider/provider.ts'
import type { Item } from '../table/attributes.ts'
import type { Steps } from '../table/table.ts'
import { later } from '../time.ts'
import type { Difference } from '../verdict/difference.ts'

export type RecountDeps = AuditDeps & RecordDeps & Pick<Deps, 'provider'>

/** One transaction that repairs some differences. */
export type Repair = {
  /** The repaired payment or settlement, or the client. */
  readonly subject: string
  /** The differences that it repairs, with their present values. */
  readonly targets: readonly Difference[]
  /** The differences that its audit record names, if only a later repair ends them. */
  readonly recordedTargets?: readonly Difference[]
  /** Built when the repair is written. */
  readonly steps: () => Promise<Steps<string>> | Steps<string>
}

/** A stored event or entry that its payment does not show. */
type Stray = { readonly difference: Difference; readonly paymentId: PaymentId }

export type StrayEvent = Stray & { readonly event: Event; readonly item: Item }

export type StrayEntry = Stray & { readonly entry: Entry }

export type Strays = {
  readonly events: readonly StrayEvent[]
  readonly entries: readonly StrayEntry[]
}

export const ADVICE = 'nothing was written; try again'

/** Throws 502 if the provider does not answer. */
export async function listProviderRows({ provider }: RecountDeps, filter: TransactionFilter) {
  const answer = await provider.listTransactions(filter)
  if (answer.kind === 'unanswered') throw providerFailure(answer, ADVICE)
  return answer.kind === 'found' ? answer.value.transactions : []
}

/**
 * Moves shard and written-off sum as the audit's expectation moves. Figures can be corrected before
 * or after this repair.
 */
export function shiftFigures(
  { now }: Pick<Deps, 'now'>,
  { ledger, unsettled }: ClientBooks,
  // `entries`: those that the repair adds.
  {
    before,
    after,
    entries,
  }: { readonly before: Payment; readonly after: Payment; readonly entries: readonly Entry[] },
): Steps<string> {
  // Entries before the last settlement's end are in that settlement's own sums.
  const unsettledEntries = entries.filter(({ eligibleAt }) => eligibleAt >= unsettled.span.start)
  const netMinor = plus(less(openNet(after), openNet(before)), netsOf(unsettledEntries))
  const addMinor = netsOf(unsettledEntries.filter(({ type }) => type === 'written_off'))
  const window = addMinor === 0 ? undefined : ledger?.window
  const writeOff = window && {
    readMinor: window.writtenOffMinor,
    addMinor,
    postedAt: later(now(), window.closedUntil),
  }
  return {
    ledger: netMinor === 0 ? undefined : moveOpenCredit(after, netMinor, now()),
    window: writeOff && writeOffInWindow(after.clientId, writeOff),
  }
}

function openNet(payment: Payment): Minor {
  return payment.openAt === undefined ? ZERO : standingFigures(moneyOf(payment)).netMinor
}
