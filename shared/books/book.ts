import { ENTRY_TYPES, type EntryType } from '../journal/entry.ts'
import { HOUSE_ENTRY_TYPES, type HouseEntryType } from '../journal/house-entry.ts'
import { type Minor, plus, ZERO } from '../money.ts'
import { PAYMENT_METHODS } from '../payment-method.ts'

/** A re-credit repeats other entries, so it is in no figure of the books. */
export const RECREDIT: EntryType = 'recredit'

const LOSS_TYPES: readonly string[] = [
  ...new Set<EntryType | HouseEntryType>([...ENTRY_TYPES.filter((type) => type !== RECREDIT), ...HOUSE_ENTRY_TYPES]),
]

const SOURCES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    PAYMENT_METHODS.map((method) => [`taken_in.${method}`, `gross of the ${method} payments that were posted`]),
  ),
  fees: "the provider's fees of all entries",
  markup: 'the markup of all entries',
  taken_back: 'gross of refunds, chargebacks and reversals, less reversals that were voided',
  given_back: 'gross of disputes that were won',
  paid_out: 'net of the settlements that were marked paid, by settled_at',
  ...Object.fromEntries(
    LOSS_TYPES.map((type) => [`loss.${type}`, `markup less the house's side of the ${type} entries`]),
  ),
  owed_to_clients: 'nets less payouts of the clients above zero, at the end of the period',
  owed_by_clients: 'the same of the clients below zero',
  in_suspense: 'suspense side of the house journal, at the end of the period',
  at_provider: 'provider side of all entries, at the end of the period',
  at_bank: 'bank side of all entries less payouts, at the end of the period',
  clients: 'nets of all entries less payouts, at the end of the period',
  house: "the house's side of all entries, at the end of the period",
}

/** The names of the figures, in the order in which they are shown. */
export const FIGURE_NAMES: readonly string[] = Object.keys(SOURCES)

/** Figures by their names (design section 12); one that is zero may be absent. */
export type Book = Readonly<Record<string, Minor>>

export const figureOf = (book: Book, name: string): Minor => book[name] ?? ZERO

/** The sum of several books. Debts stay apart: one client's debt pays no other client. */
export const addBooks = (...books: readonly Book[]): Book => {
  const sums: Record<string, Minor> = {}
  for (const [name, amount] of books.flatMap((book) => Object.entries(book)))
    sums[name] = plus(sums[name] ?? ZERO, amount)
  return sums
}

/** The trial balance, each side counted separately. */
export const trialBalance = (book: Book): { readonly left: Minor; readonly right: Minor } => ({
  left: plus(figureOf(book, 'at_provider'), figureOf(book, 'at_bank')),
  right: plus(plus(figureOf(book, 'clients'), figureOf(book, 'in_suspense')), figureOf(book, 'house')),
})

export const shownFigures = (book: Book) =>
  FIGURE_NAMES.map((name) => ({ name, amount_minor: figureOf(book, name), source: SOURCES[name] ?? '' }))
