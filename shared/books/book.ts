import { ENTRY_SIDES, type EntryType, excessOf, type Figures, type Legs } from '../journal/entry.ts'
import type { HouseEntryType } from '../journal/house-store.ts'
import { PAYMENT_METHODS, type PaymentMethod } from '../payment-status.ts'
import { compare } from '../verdict/difference.ts'
import { type BookPeriod, isInPeriod } from './book-period.ts'

/** A re-credit moves money between settlements, so it is in no figure of the books. */
const RECREDIT: EntryType = 'recredit'

/** Payouts are settlements and no entries. */
const PAYOUT = 'payout'

type FlowType = EntryType | HouseEntryType | typeof PAYOUT

const OF_PAYMENT = [
  'payment',
  'late_row',
  'refund',
  'chargeback',
  'dispute_won',
  'reversal',
] as const satisfies readonly EntryType[]

/** The types of entries that the table of design section 12 gives a leg of each account. */
const FLOWS = {
  at_provider: [
    ...OF_PAYMENT,
    'correction',
    'suspense',
    'suspense_refunded',
    'unmatched',
    'topup',
    'withdrawal',
  ],
  at_bank: [
    'refund',
    'recovered',
    'returned',
    'suspense_resolved',
    'topup',
    'withdrawal',
    'correction',
    'reversal',
    'adjustment',
    PAYOUT,
  ],
  transit: ['payment', 'late_row', 'reversal', 'adjustment'],
  in_suspense: ['suspense', 'suspense_refunded', 'suspense_resolved', 'reversal'],
  cost: [
    ...OF_PAYMENT,
    'written_off',
    'suspense',
    'suspense_refunded',
    'topup',
    'withdrawal',
    'correction',
    'adjustment',
  ],
  other: [
    ...OF_PAYMENT,
    'correction',
    'suspense_refunded',
    'suspense_resolved',
    'unmatched',
    'topup',
    'withdrawal',
    'adjustment',
  ],
} as const satisfies Partial<Record<Account, readonly FlowType[]>>

type Account = (typeof ACCOUNTS)[number][0]

/** Each account with the side of a line that moves it, in the order in which they are shown. */
const ACCOUNTS = [
  ['clients', 'netMinor'],
  ['markup', 'markupMinor'],
  ['at_provider', 'providerMinor'],
  ['at_bank', 'bankMinor'],
  ['transit', 'transitMinor'],
  ['in_suspense', 'suspenseMinor'],
  ['cost', 'costMinor'],
  ['other', 'otherMinor'],
] as const satisfies readonly (readonly [string, keyof BookLine])[]

/** What changes what is owed to clients, with its sign; the name is that of the flow. */
const CLIENT_FLOWS = {
  ...Object.fromEntries(PAYMENT_METHODS.map((method) => [`taken_in.${method}`, 1] as const)),
  fees: -1,
  markup: -1,
  taken_back: -1,
  given_back: 1,
  recovered: 1,
  returned: 1,
  written_off: 1,
  correction: 1,
  paid_out: -1,
} as const satisfies Record<string, 1 | -1>

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
  recovered: 'what clients paid back to our bank',
  returned: 'payouts that came back',
  written_off: 'debts of clients that were given up, less what came back of them',
  correction: 'corrections by operators',
  paid_out: 'net of the paid settlements, by settled_at',
  ...Object.fromEntries(
    Object.entries(FLOWS).flatMap(([account, types]) =>
      types.map((type) => [
        `${account}.${type}`,
        type === PAYOUT ? 'the paid settlements' : `the ${account} side of the ${type} entries`,
      ]),
    ),
  ),
  ...Object.fromEntries(
    ACCOUNTS.flatMap(([account]) => [
      [`opening.${account}`, `${account} before the first day`],
      [closingName(account), `${account} at the end of the last day`],
    ]),
  ),
  owed_to_clients: 'nets less payouts of the clients above zero, at the end of the period',
  owed_by_clients: 'nets less payouts of the clients below zero, at the end of the period',
  open: 'nets of the payments that are credited and not posted yet, now',
}

/**
 * Figures by their names (design section 12); a figure of zero may be absent. Plain numbers: the
 * sums of a tampered row can exceed the range of money, and stop no other client's book.
 */
export type Book = Readonly<Record<string, number>>

export function figureOf(book: Book, name: string) {
  return book[name] ?? 0
}

/** `markup` alone is what the period brought. */
function closingName(account: Account) {
  return account === 'markup' ? 'closing.markup' : account
}

/** Debts stay apart: one client's debt pays no other client. */
export function addBooks(...books: readonly Book[]): Book {
  const sums: Record<string, number> = {}
  for (const [name, amount] of books.flatMap((book) => Object.entries(book)))
    sums[name] = figureOf(sums, name) + amount
  return sums
}

export type BookLine = Readonly<Partial<Figures> & Legs> & {
  readonly type: EntryType | HouseEntryType
  readonly method?: PaymentMethod | undefined
  readonly day: string
  readonly lastDay?: string | undefined
}

/**
 * Balances at the beginning and end of a period, and what changed them. Later lines and re-credits
 * count nowhere.
 */
export function bookOfLines(lines: readonly BookLine[], period: BookPeriod): Book {
  return addBooks(
    ...lines
      .filter(({ type, day }) => type !== RECREDIT && day <= period.to)
      .map((line) => bookOfLine(line, period)),
  )
}

const TAKEN_BACK: ReadonlySet<string> = new Set<EntryType>(['refund', 'chargeback', 'reversal'])
const ADJUSTED: ReadonlySet<string> = new Set<EntryType>([
  'recovered',
  'returned',
  'written_off',
  'correction',
])

function bookOfLine(line: BookLine, period: BookPeriod) {
  const { type, method, day } = line
  const { grossMinor = 0, feeMinor = 0, markupMinor = 0 } = line
  const balances = ACCOUNTS.map(([account, side]) => [account, line[side] ?? 0] as const)
  if (!isInPeriod(period, day)) return balancesOf(balances, day < period.from)
  const flows = balances.flatMap(([account, amount]) =>
    account in FLOWS && amount !== 0 ? [[`${account}.${type}`, amount] as const] : [],
  )
  return {
    ...balancesOf(balances, false),
    ...Object.fromEntries(flows),
    fees: feeMinor,
    markup: markupMinor,
    ...(type === 'payment' && method && { [`taken_in.${method}`]: grossMinor }),
    ...(TAKEN_BACK.has(type) && { taken_back: 0 - grossMinor }),
    ...(type === 'dispute_won' && { given_back: grossMinor }),
    ...(ADJUSTED.has(type) && { [type]: grossMinor }),
  }
}

function balancesOf(
  balances: readonly (readonly [account: Account, amount: number])[],
  isBefore: boolean,
) {
  return Object.fromEntries(
    balances.flatMap(([account, amount]) => [
      [closingName(account), amount],
      ...(isBefore ? ([[`opening.${account}`, amount]] as const) : []),
    ]),
  )
}

/** Lowers our bank account and our debt to a client. `day`: when it was marked paid. */
export function bookOfPayout(
  { day, netMinor }: { readonly day: string; readonly netMinor: number },
  period: BookPeriod,
) {
  if (day > period.to) return {}
  const change = 0 - netMinor
  const balances = [
    ['at_bank', change],
    ['clients', change],
  ] as const
  if (!isInPeriod(period, day)) return balancesOf(balances, true)
  return { ...balancesOf(balances, false), paid_out: netMinor, [`at_bank.${PAYOUT}`]: change }
}

export function withDebts(book: Book): Book {
  const { clients = 0 } = book
  return { ...book, [clients >= 0 ? 'owed_to_clients' : 'owed_by_clients']: Math.abs(clients) }
}

/** The trial balance, and each account's opening, flows and closing. */
export function problemsIn(book: Book) {
  const sumOf = (...names: readonly string[]) =>
    names.reduce((sum, name) => sum + figureOf(book, name), 0)
  const claims = sumOf('clients', 'in_suspense', 'closing.markup', 'cost', 'other')
  const flowsOf = (account: Account) => {
    if (account === 'markup') return figureOf(book, 'markup')
    if (account === 'clients')
      return Object.entries(CLIENT_FLOWS).reduce(
        (sum, [name, sign]) => sum + sign * figureOf(book, name),
        0,
      )
    return sumOf(...FLOWS[account].map((type) => `${account}.${type}`))
  }
  return [
    ...compare(
      'trial balance',
      'provider + bank + transit',
      claims,
      sumOf('at_provider', 'at_bank', 'transit'),
    ),
    ...ACCOUNTS.flatMap(([account]) =>
      compare(
        'flows',
        account,
        figureOf(book, `opening.${account}`) + flowsOf(account),
        figureOf(book, closingName(account)),
      ),
    ),
  ]
}

/** Sums of such amounts are exact. Only an altered row has a greater one. */
const MAX_AMOUNT = 2 ** 50

/**
 * Provider + bank + transit = net + suspense + markup + cost + other, and net = gross - fee -
 * markup; one difference at most. What a re-credit carries has no other side.
 */
export function unequalSides(line: BookLine, what: string, id: string) {
  const { grossMinor = 0, feeMinor = 0, markupMinor = 0, netMinor = 0 } = line
  const beyond = ENTRY_SIDES.find((side) => Math.abs(line[side] ?? 0) > MAX_AMOUNT)
  if (beyond) return compare(what, id, 'an amount of money', line[beyond])
  const unequal = line.type === RECREDIT ? [] : compare(what, id, 0, excessOf(line))
  return unequal.length > 0
    ? unequal
    : compare(what, id, grossMinor - feeMinor - markupMinor, netMinor)
}
