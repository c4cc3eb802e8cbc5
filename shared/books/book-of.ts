import type { EntryType } from '../journal/entry.ts'
import { type HouseEntryType } from '../journal/house-entry.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import type { PaymentMethod } from '../payment-method.ts'
import { addBooks, type Book, RECREDIT } from './book.ts'
import { type BookPeriod, isIn } from './book-period.ts'

/** Sums of entries of one type and day, of clients or of the house. */
export type BookLine = {
  readonly type: EntryType | HouseEntryType
  readonly method?: PaymentMethod | undefined
  readonly day: string
  readonly grossMinor?: Minor
  readonly feeMinor?: Minor
  readonly markupMinor?: Minor
  readonly netMinor?: Minor
  readonly providerMinor: Minor
  readonly bankMinor: Minor
  readonly suspenseMinor: Minor
  readonly houseMinor: Minor
}

const TAKEN_BACK: ReadonlySet<string> = new Set<EntryType>(['refund', 'chargeback', 'reversal'])
const GIVEN_BACK: EntryType = 'dispute_won'

/** The movements of the period. House = markup - losses, so the losses of all types explain the house. */
const flowsOf = (line: BookLine): Book => {
  const { type, method, grossMinor = ZERO, feeMinor = ZERO, markupMinor = ZERO, houseMinor } = line
  return {
    fees: feeMinor,
    markup: markupMinor,
    [`loss.${type}`]: less(markupMinor, houseMinor),
    ...(type === 'payment' && method && { [`taken_in.${method}`]: grossMinor }),
    ...(TAKEN_BACK.has(type) && { taken_back: less(ZERO, grossMinor) }),
    ...(type === GIVEN_BACK && { given_back: grossMinor }),
  }
}

/** The balances that follow from them. */
const standOf = ({ netMinor = ZERO, providerMinor, bankMinor, suspenseMinor, houseMinor }: BookLine): Book => ({
  at_provider: providerMinor,
  at_bank: bankMinor,
  clients: netMinor,
  in_suspense: suspenseMinor,
  house: houseMinor,
})

/** The lines of a period and the balances at its end. Later lines and re-credits count nowhere. */
export const bookOfLines = (lines: readonly BookLine[], period: BookPeriod): Book =>
  addBooks(
    ...lines
      .filter(({ type, day }) => type !== RECREDIT && day <= period.to)
      .flatMap((line) => [standOf(line), ...(isIn(period, line.day) ? [flowsOf(line)] : [])]),
  )

/** A payout lowers our bank account and what a client is owed. `day`: on which the settlement was marked paid. */
export const bookOfPayout = ({ day, netMinor }: { day: string; netMinor: Minor }, period: BookPeriod): Book => {
  if (day > period.to) return {}
  const taken = less(ZERO, netMinor)
  return { at_bank: taken, clients: taken, ...(isIn(period, day) && { paid_out: netMinor }) }
}

/** One client's whole book, with what it is owed or owes. */
export const withOwed = (book: Book): Book => {
  const { clients = ZERO } = book
  return { ...book, ...(clients >= 0 ? { owed_to_clients: clients } : { owed_by_clients: less(ZERO, clients) }) }
}

/** The sum of a line's sides and the sum that it must have. Undefined when they are equal. */
export const unequalSides = (line: BookLine): { readonly expected: Minor; readonly found: Minor } | undefined => {
  const { grossMinor = ZERO, feeMinor = ZERO, markupMinor = ZERO, netMinor = ZERO } = line
  const expected = plus(line.providerMinor, line.bankMinor)
  const found = plus(plus(netMinor, line.suspenseMinor), line.houseMinor)
  if (expected !== found) return { expected, found }
  const net = less(less(grossMinor, feeMinor), markupMinor)
  return net === netMinor ? undefined : { expected: net, found: netMinor }
}
