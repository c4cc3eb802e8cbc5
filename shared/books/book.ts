import {
  ENTRY_TYPES,
  type Entry,
  type EntryType,
  type Figures,
  type Legs,
} from '../journal/entry.ts'
import { HOUSE_ENTRY_TYPES, type HouseEntryType } from '../journal/house-store.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import { PAYMENT_METHODS, type PaymentMethod } from '../payment-status.ts'
import { compare, type Difference } from '../verdict/difference.ts'
import { type BookPeriod, isInPeriod } from './book-period.ts'

/** A re-credit repeats other entries, so it is in no figure of the books. */
const RECREDIT: EntryType = 'recredit'

const LOSS_TYPES = new Set<string>([
  ...ENTRY_TYPES.filter((type) => type !== RECREDIT),
  ...HOUSE_ENTRY_TYPES,
])

/** The figures in the order in which they are shown, each with its source. */
export const FIGURES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    PAYMENT_METHODS.map((method) => [
      `taken_in.${method}`,
      `gross of the posted ${method} payments`,
    ]),
  ),
  fees: "the provider's fees of all entries",
  markup: 'the markup of all entries',
  taken_back: 'gross of refunds, chargebacks and reversals, less voided ones',
  given_back: 'gross of won disputes',
  paid_out: 'net of the paid settlements, by settled_at',
  ...Object.fromEntries(
    [...LOSS_TYPES].map((type) => [
      `loss.${type}`,
      `markup less the house's side of the ${type} entries`,
    ]),
  ),
  owed_to_clients: 'nets less payouts of the clients above zero, at the end of the period',
  owed_by_clients: 'nets less payouts of the clients below zero, at the end of the period',
  in_suspense: 'suspense side of the house journal, at the end of the period',
  at_provider: 'provider side of all entries, at the end of the period',
  at_bank: 'bank side of all entries less payouts, at the end of the period',
  clients: 'nets of all entries less payouts, at the end of the period',
  house: "the house's side of all entries, at the end of the period",
}

/** Figures by their names (design section 12); a figure of zero may be absent. */
export type Book = Readonly<Record<string, Minor>>

export function figureOf(book: Book, name: string): Minor {
  return book[name] ?? ZERO
}

/** Debts stay apart: one client's debt pays no other client. */
export function addBooks(...books: readonly Book[]): Book {
  const sums: Record<string, Minor> = {}
  for (const [name, amount] of books.flatMap((book) => Object.entries(book)))
    sums[name] = plus(sums[name] ?? ZERO, amount)
  return sums
}

/** Sums of entries of one type and day, of clients or of the house. */
export type BookLine = Readonly<Partial<Figures> & Legs & Pick<Entry, 'houseMinor'>> & {
  readonly type: EntryType | HouseEntryType
  readonly method?: PaymentMethod | undefined
  readonly day: string
  readonly lastDay?: string | undefined
}

/**
 * The book of the lines of a period, with the balances at its end. Later lines and re-credits count
 * nowhere.
 */
export function bookOfLines(lines: readonly BookLine[], period: BookPeriod): Book {
  return addBooks(
    ...lines
      .filter(({ type, day }) => type !== RECREDIT && day <= period.to)
      .map((line) => bookOfLine(line, period)),
  )
}

const TAKEN_BACK: ReadonlySet<string> = new Set<EntryType>(['refund', 'chargeback', 'reversal'])

/** House = markup - losses, so the losses of all types explain the house. */
function bookOfLine(line: BookLine, period: BookPeriod): Book {
  const { type, method, day, providerMinor, bankMinor, suspenseMinor, houseMinor } = line
  const { grossMinor = ZERO, feeMinor = ZERO, markupMinor = ZERO, netMinor = ZERO } = line
  return {
    at_provider: providerMinor,
    at_bank: bankMinor,
    clients: netMinor,
    in_suspense: suspenseMinor,
    house: houseMinor,
    ...(isInPeriod(period, day) && {
      fees: feeMinor,
      markup: markupMinor,
      [`loss.${type}`]: less(markupMinor, houseMinor),
      ...(type === 'payment' && method && { [`taken_in.${method}`]: grossMinor }),
      ...(TAKEN_BACK.has(type) && { taken_back: less(ZERO, grossMinor) }),
      ...(type === 'dispute_won' && { given_back: grossMinor }),
    }),
  }
}

/** A payout lowers our bank account and our debt to a client. `day`: when it was marked paid. */
export function bookOfPayout(
  { day, netMinor }: { day: string; netMinor: Minor },
  period: BookPeriod,
): Book {
  if (day > period.to) return {}
  const change = less(ZERO, netMinor)
  return {
    at_bank: change,
    clients: change,
    ...(isInPeriod(period, day) && { paid_out: netMinor }),
  }
}

/** One client's whole book, with what the client is owed or owes. */
export function withDebts(book: Book): Book {
  const { clients = ZERO } = book
  return {
    ...book,
    ...(clients >= 0 ? { owed_to_clients: clients } : { owed_by_clients: less(ZERO, clients) }),
  }
}

/**
 * Provider + bank = client + suspense + house, and net = gross - fee - markup; one difference at
 * most.
 */
export function unequalSides(line: BookLine, what: string, id: string): readonly Difference[] {
  const { grossMinor = ZERO, feeMinor = ZERO, markupMinor = ZERO, netMinor = ZERO } = line
  const sides = plus(plus(netMinor, line.suspenseMinor), line.houseMinor)
  const unequal = compare(what, id, plus(line.providerMinor, line.bankMinor), sides)
  return unequal.length > 0
    ? unequal
    : compare(what, id, less(less(grossMinor, feeMinor), markupMinor), netMinor)
}
