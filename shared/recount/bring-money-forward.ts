import { eventNamesOf } from '../audit/judged/audit-event.ts'
import { auditMoney } from '../audit/judged/audit-money.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import { reversedEventName } from '../event/event.ts'
import type { PaymentId } from '../ids.ts'
import type { Entry } from '../journal/entry.ts'
import { entryText } from '../journal/entry-digest.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { addedEntries } from '../posting/payment-entries.ts'
import { changeMoney } from '../posting/posting-store.ts'
import { ensureSuspense } from '../suspense/suspense-store.ts'
import type { Steps } from '../table/table.ts'
import { lateAfter, type MoneyAfter, movedAfter, postedAfter } from './money-after.ts'
import { rebuiltEvent } from './rebuilt-event.ts'
import { type RecountBy, type RecountDeps, type Repair, repairOf } from './repair.ts'
import { shiftedBy } from './shifted-by.ts'
import { keptEvent, type StrayEvent, type Strays } from './strays.ts'

type Given = { readonly books: ClientBooks; readonly strays: Strays }

/** The transaction id in the name of a movement's event: `payment.reversed#<transaction id>#<type>`. */
const transactionOf = ({ event }: StrayEvent): string => event.name.split('#').slice(1, -1).join('#')

const candidates = async (
  deps: RecountDeps,
  { window }: Pick<NonNullable<ClientBooks['ledger']>, 'window'>,
  payment: Payment,
  { entries: stray, events }: Strays,
): Promise<readonly MoneyAfter[]> => {
  const entries = stray.map(({ entry }) => entry).toSorted((a, b) => (a.postedAt < b.postedAt ? -1 : 1))
  const [first] = entries
  if (first?.type === 'late_row') return [lateAfter(payment, first)]
  const known = new Set(payment.movements.map(({ transactionId }) => transactionId))
  const isPosting = ({ type, providerTransactionId: id = '' }: Entry) => type === 'payment' || known.has(id)
  if (payment.openAt !== undefined && entries.some(isPosting)) return postedAfter(deps, payment, entries)
  const [event] = events
  const transactionId = first?.providerTransactionId ?? (event && transactionOf(event))
  const at = first?.postedAt ?? event?.event.firedAt
  if (transactionId === undefined || at === undefined) return []
  const { writtenOffMinor } = window
  return movedAfter(deps, payment, { transactionId, at, strays: entries, writtenOffMinor })
}

/**
 * The strays that the repaired payment explains. None if one of them differs in any figure, or the payment is
 * inconsistent. If two changes are torn, one is explained and the next recount repairs the other.
 */
const explainedBy = (before: Payment, { entries, events }: Strays, { after }: MoneyAfter): Strays => {
  const expected = new Map(addedEntries(before, after).map((entry) => [entry.entryId, entryText(entry)]))
  const names = eventNamesOf(after)
  const isWrong = entries.some(({ entry }) => (expected.get(entry.entryId) ?? entryText(entry)) !== entryText(entry))
  const isSound = auditMoney({ ...after, moneyVersion: (before.moneyVersion ?? 0) + 1 }).length === 0
  if (isWrong || !isSound) return { entries: [], events: [] }
  return {
    entries: entries.filter(({ entry }) => expected.has(entry.entryId)),
    events: events.filter(({ event }) => names.includes(event.name)),
  }
}

const isSome = ({ entries, events }: Strays): boolean => entries.length > 0 || events.length > 0

/** The events of the added movements: a stored event is kept, a lost one is rebuilt. */
const eventsOf = async (deps: RecountDeps, before: Payment, after: Payment, { events }: Strays) => {
  const known = eventNamesOf(before)
  const added = after.movements.map(reversedEventName).filter((name) => !known.includes(name))
  const steps = await Promise.all(
    added.map((name) => {
      const stray = events.find(({ event }) => event.name === name)
      return stray ? keptEvent(deps, stray) : rebuiltEvent(deps, after, name)
    }),
  )
  const all: Steps<string> = Object.assign({}, ...steps)
  return all
}

const stepsOf = async (
  deps: RecountDeps,
  { books, strays }: Given,
  before: Payment,
  { after, suspense }: MoneyAfter,
): Promise<Steps<string>> => {
  const stored = new Set<string>(strays.entries.map(({ entry }) => entry.entryId))
  const entries = addedEntries(before, after).filter(({ entryId }) => !stored.has(entryId))
  const changed = Object.entries(changeMoney(before, after)).filter(([name]) => !stored.has(name))
  return {
    ...Object.fromEntries(changed),
    ...shiftedBy(books, { before, after, entries, at: deps.now() }),
    ...(await eventsOf(deps, before, after, strays)),
    suspense: suspense && ensureSuspense(suspense),
  }
}

/**
 * Repairs a payment whose entries or event show a movement that its row does not: the row gets the change of the
 * entries and of the provider's row, at their time. Existing items are never written again, so no money counts twice.
 * Undefined if no single change explains any of them exactly.
 */
export const bringMoneyForward = async (
  deps: RecountDeps,
  by: RecountBy,
  { paymentId, books, strays }: Given & { readonly paymentId: PaymentId },
): Promise<Repair | undefined> => {
  const before = await findStoredPayment(deps, paymentId)
  if (before?.status !== 'succeeded' || before.clientId !== books.clientId || books.ledger === undefined)
    return undefined
  const found = (await candidates(deps, books.ledger, before, strays)).find((one) =>
    isSome(explainedBy(before, strays, one)),
  )
  if (found === undefined) return undefined
  const explained = explainedBy(before, strays, found)
  return repairOf(deps, by, {
    subject: paymentId,
    of: [...explained.entries, ...explained.events].map(({ difference }) => difference),
    steps: () => stepsOf(deps, { books, strays: explained }, before, found),
  })
}
