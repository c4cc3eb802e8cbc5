import * as v from 'valibot'
import { type Minor, MinorSchema, plus, ZERO } from '../money.ts'

/**
 * What the books consist of, in the order in which they are read: received - provider_fees - markup -
 * reversed_before_sweep + reinstated + in_motion = credited; credited = the five behind it; received - provider_fees =
 * provider_settled + provider_not_due + reversed_unsettled + provider_overdue (or accepted); what is in suspense; and what must be nothing.
 */
export const FIGURE_NAMES = [
  'received',
  'provider_fees',
  'markup',
  'reversed_before_sweep',
  'reinstated',
  'in_motion',
  'credited',
  'pending',
  'available',
  'in_settlement',
  'paid_out',
  'reversed_swept',
  'provider_settled',
  'provider_not_due',
  'reversed_unsettled',
  'accepted',
  'in_suspense',
  'owed_by_clients',
  'credited_difference',
  'settled_difference',
  'provider_overdue',
  'provider_differs',
] as const
export type FigureName = (typeof FIGURE_NAMES)[number]

/** What must be nothing, or the books do not balance. */
const DIFFERENCES = [
  'credited_difference',
  'settled_difference',
  'provider_overdue',
  'provider_differs',
] as const satisfies readonly FigureName[]

const PAYMENTS = 'payments: the index of what was paid'
const WINDOW = "ledger: the client's window"
const SUSPENSE = 'suspense: open items'

export const SOURCES: Readonly<Record<FigureName, string>> = {
  received: PAYMENTS,
  provider_fees: PAYMENTS,
  markup: PAYMENTS,
  reversed_before_sweep: 'ledger: what went back before a settlement swept it',
  reinstated: 'ledger: what came again behind the sweep that had left it out',
  in_motion: 'ledger: what was credited while the payments were read',
  credited: 'ledger: the shards',
  pending: 'ledger: the shards, less what was swept',
  available: WINDOW,
  in_settlement: WINDOW,
  paid_out: WINDOW,
  reversed_swept: WINDOW,
  provider_settled: 'provider: its transactions, as the sync read them',
  provider_not_due: 'payments that the provider has not settled, and has time to',
  reversed_unsettled: 'payments that went back before the provider had settled them',
  accepted: 'suspense: differences that an operator has resolved as they are',
  in_suspense: `${SUSPENSE} of kind money`,
  owed_by_clients: `${SUSPENSE} of kind receivable`,
  credited_difference: 'credited, less what the payments say',
  settled_difference: 'the window, settlements, seals and reversals against each other',
  provider_overdue: 'payments that the provider has not settled an hour past its day',
  provider_differs: `${SUSPENSE} about figures of the provider that are not ours`,
}

export const FiguresSchema = v.record(v.picklist(FIGURE_NAMES), MinorSchema)
/** What is not named is nothing. */
export type Figures = { readonly [Name in FigureName]?: Minor }

export const figure = (figures: Figures, name: FigureName): Minor => figures[name] ?? ZERO

/** Name by name. */
export const addFigures = (a: Figures, b: Figures): Figures =>
  Object.fromEntries(FIGURE_NAMES.map((name) => [name, plus(figure(a, name), figure(b, name))]))

export const isBalanced = (figures: Figures): boolean => DIFFERENCES.every((name) => figure(figures, name) === 0)

/** How much of the money is explained: `unexplained` counts as money even where nothing was received. */
export const explained = (figures: Figures, unexplainedMinor: Minor) => {
  const received = plus(figure(figures, 'received'), figure(figures, 'in_suspense'))
  const totalMinor = Math.max(received, unexplainedMinor)
  return { totalMinor, explainedMinor: totalMinor - unexplainedMinor }
}

/** 100 only if it is all; rounded down, to four places. */
export const percentOf = ({ totalMinor, explainedMinor }: ReturnType<typeof explained>): number =>
  totalMinor === 0 ? 100 : Number((BigInt(explainedMinor) * 1_000_000n) / BigInt(totalMinor)) / 10_000
