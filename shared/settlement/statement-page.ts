import type { Deps } from '../deps.ts'
import { readParts } from '../ledger/ledger-store.ts'
import { reversedAmong } from '../ledger/reversal-store.ts'
import { type PaidPage, type PaidPayment, type PaidPosition, paidPages } from './paid-payments.ts'
import type { Settlement } from './settlement.ts'
import { reversedBefore } from './settlement-store.ts'

export type StatementPage = {
  readonly payments: readonly PaidPayment[]
  /** Where the page ended; undefined of the last one. */
  readonly next: PaidPosition | undefined
}

/**
 * The payments behind a settlement, by when they were paid, without those that went back before it: a page of any
 * settlement costs its own payments and no others. A page may have fewer than its limit, and is the last one only if it
 * says so.
 */
export const statementPage = async (
  deps: Pick<Deps, 'stage' | 'table'>,
  settlement: Settlement,
  { limit, after }: { readonly limit: number; readonly after: PaidPosition | undefined },
): Promise<StatementPage> => {
  const { clientId, periodStart: start, periodEnd: end } = settlement
  const parts = await readParts(deps, clientId)
  const { value } = await paidPages(deps, { clientId, parts, period: { start, end }, limit, after }).next()
  const { payments, more }: PaidPage = value ?? { payments: [], more: false }
  const last = payments.at(-1)
  const reversed = await reversedAmong(deps, clientId, payments)
  const before = await reversedBefore(deps, settlement)
  return {
    payments: payments.filter(({ id }) => !reversed.has(id) && !before.has(id)),
    next: more && last ? { paidAt: last.paidAt, id: last.id } : undefined,
  }
}
