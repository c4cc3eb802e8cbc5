import * as v from 'valibot'
import { handler as getBooks } from '../../../functions/admin/get-books.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import type { TestDeps } from '../../support/test-deps.ts'

export const Body = v.object({
  from: v.string(),
  to: v.string(),
  figures: v.array(v.object({ name: v.string(), amount_minor: v.number(), source: v.string() })),
  balanced: v.boolean(),
})

/** The figures that are not zero, by their names. */
export const booksOf = async (deps: TestDeps, input: Readonly<Record<string, unknown>> = {}) => {
  const { figures, ...body } = v.parse(Body, (await invokeAdmin(getBooks, deps, input)).body)
  const shown = figures.filter(({ amount_minor }) => amount_minor !== 0)
  return { ...body, figures: Object.fromEntries(shown.map(({ name, amount_minor }) => [name, amount_minor])) }
}

/** What stands at the end of the three days. */
const STANDING = {
  owed_to_clients: 165_800,
  owed_by_clients: 80_900,
  in_suspense: 30_000,
  at_provider: 192_850,
  at_bank: -95_500,
  clients: 84_900,
  house: -17_550,
}

/** The month of the three days, worked by hand. */
export const WHOLE = {
  'taken_in.virtual_account': 300_000,
  'taken_in.qris': 50_000,
  fees: 4_350,
  markup: 250,
  taken_back: 150_000,
  given_back: 20_000,
  paid_out: 145_500,
  'loss.payment': 196_000,
  'loss.refund': 4_000,
  'loss.chargeback': 5_000,
  'loss.late_row': -195_000,
  'loss.written_off': 5_000,
  'loss.suspense': 300,
  'loss.withdrawal': 2_500,
  ...STANDING,
}
