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

/** The row that an event of a movement is about: `payment.reversed#<transaction id>#<type>`. */
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
 * What of the strays the payment then tells. None where it tells one of them otherwise than it is, to the letter, or does
 * not agree with itself. Of two changes that are both torn, one is explained and the other is left for the next recount.
 */
const explainedBy = (before: Payment, { entries, events }: Strays, { after }: MoneyAfter): Strays => {
  const told = new Map(addedEntries(before, after).map((entry) => [entry.entryId, entryText(entry)]))
  const names = eventNamesOf(after)
  const isWrong = entries.some(({ entry }) => (told.get(entry.entryId) ?? entryText(entry)) !== entryText(entry))
  const isSound = auditMoney({ ...after, moneyVersion: (before.moneyVersion ?? 0) + 1 }).length === 0
  if (isWrong || !isSound) return { entries: [], events: [] }
  return {
    entries: entries.filter(({ entry }) => told.has(entry.entryId)),
    events: events.filter(({ event }) => names.includes(event.name)),
  }
}

const isSome = ({ entries, events }: Strays): boolean => entries.length > 0 || events.length > 0

/** Each event of a movement that the change adds: kept where it is there, made again where it is not. */
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
  { after, noted }: MoneyAfter,
): Promise<Steps<string>> => {
  const there = new Set<string>(strays.entries.map(({ entry }) => entry.entryId))
  const entries = addedEntries(before, after).filter(({ entryId }) => !there.has(entryId))
  const changed = Object.entries(changeMoney(before, after)).filter(([name]) => !there.has(name))
  return {
    ...Object.fromEntries(changed),
    ...shiftedBy(books, { before, after, entries, at: deps.now() }),
    ...(await eventsOf(deps, before, after, strays)),
    suspense: noted && ensureSuspense(noted),
  }
}

/**
 * A payment whose money moved by its entries or its event, and not in its own row: the row follows, as the entries say and
 * as the provider shows, at their time. What is there is never written again, so no money counts twice. Undefined where
 * no one change of the payment explains any of them to the letter.
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
