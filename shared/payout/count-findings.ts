import {
  readStoredSettlements,
  type StoredSettlement,
  withCarried,
} from '../audit/judged/client-books.ts'
import { mapInChunks } from '../chunks.ts'
import type { TableDeps } from '../deps.ts'
import { PaymentIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import type { EntryType } from '../journal/entry.ts'
import { parseStored } from '../payment/payment-store.ts'
import { entriesOf } from '../posting/payment-entries.ts'
import { hasSwept, type Settlement } from '../settlement/settlement.ts'
import { MOVED_CAUSES, type Noted, saidById } from '../suspense/suspense.ts'
import { notedPages } from '../suspense/suspense-store.ts'
import type { Item } from '../table/attributes.ts'
import { paymentKey } from '../table/keys.ts'
import type { Timestamp } from '../time.ts'

const AT_ONCE = 50

/**
 * The number of cases and findings that name a payment of a settlement, or of the settlements
 * whose sums it pays again, whether they are open or have ended. A payment that is missing or
 * cannot be read counts, and if sums are paid again, a payment of a lost or unreadable
 * settlement.
 */
export async function countFindings(deps: TableDeps, settlement: Settlement) {
  let count = 0
  let isPaid: IsPaid | undefined
  for await (const noted of notedPages(deps, settlement.clientId)) {
    const paymentIds = noted.flatMap(namedPayment)
    if (paymentIds.length === 0) continue
    const isIn = (isPaid ??= await paymentsPaid(deps, settlement))
    const isNamed = await mapInChunks(paymentIds, AT_ONCE, async (paymentId) => {
      const item = paymentId && (await deps.table.get(paymentKey(paymentId)))
      return item === undefined || mayBeIn(isIn, item)
    })
    count += isNamed.filter(Boolean).length
  }
  return count
}

/** By the time at which an entry of a payment is eligible. */
type IsPaid = (eligibleAt: Timestamp) => boolean

/** A payment that cannot be read may be in any settlement of its client. */
function mayBeIn(isPaid: IsPaid, item: Item) {
  try {
    const payment = parseStored(item)
    if (payment === undefined || payment.status === 'creating') return false
    return entriesOf(payment).some(({ eligibleAt }) => isPaid(eligibleAt))
  } catch {
    return true
  }
}

/**
 * An assumed fee is counted as unproven, a statement is about no payment, and a booked movement
 * needs no person.
 */
const UNCOUNTED: ReadonlySet<string> = new Set([
  'fee_assumed',
  'statement_differs',
  ...MOVED_CAUSES,
])

function namedPayment(noted: Noted) {
  const { kind, cause, paymentId } = { ...noted, ...saidById(noted.suspenseId) }
  if (kind === 'money' || UNCOUNTED.has(cause)) return []
  return [ifValid(PaymentIdSchema, paymentId)]
}

const PAID_AGAIN: ReadonlySet<string> = new Set<EntryType>(['recredit', 'returned'])

/** All settlements are read only for one that pays sums again, because lists count findings too. */
async function paymentsPaid(deps: TableDeps, settlement: Settlement): Promise<IsPaid> {
  const { clientId, settlementId, sweptUntil, totals } = settlement
  if (!totals.some(({ type }) => PAID_AGAIN.has(type))) return (at) => hasSwept(settlement, at)
  const { settlements } = await readStoredSettlements(deps, clientId, settlementId)
  const paid = withCarried({ settlements }, { settlement, item: {} }).map(idOf)
  const others = settlements.filter((one) => !paid.includes(idOf(one)))
  return (at) => at < sweptUntil && !others.some((other) => hasSwept(other.settlement, at))
}

function idOf({ settlement }: StoredSettlement) {
  return settlement.settlementId
}
