import * as v from 'valibot'
import type { Deps } from '../../deps.ts'
import { readParts } from '../../ledger/ledger-store.ts'
import { deductedIn, isReinstated, type LedgerReversal, reversalsBetween } from '../../ledger/reversal-store.ts'
import { paymentKey } from '../../table/keys.ts'
import { addMs, type Timestamp } from '../../time.ts'
import { type PaidPage, type PaidPayment, PaidPaymentSchema, type PaidPosition, paidPages } from '../paid-payments.ts'
import type { Settlement } from '../settlement.ts'
import { reversedBefore } from '../settlement-store.ts'

/** `reinstatedAt`: where it stands, when an earlier window was settled without it and its money came again. */
export type StatedPayment = PaidPayment & { readonly reinstatedAt?: Timestamp }

export type StatementPage = {
  readonly payments: readonly StatedPayment[]
  /** Where the page ended; undefined of the last one. */
  readonly next: PaidPosition | undefined
}

const placeOf = ({ id, paidAt, reinstatedAt }: StatedPayment): PaidPosition => ({ id, paidAt: reinstatedAt ?? paidAt })

const isBefore = (a: PaidPosition, b: PaidPosition): boolean =>
  a.paidAt === b.paidAt ? a.id < b.id : a.paidAt < b.paidAt

/** The payments that these add to the window. They are few, and read as they are now. */
const reinstatedBy = async (
  deps: Pick<Deps, 'table'>,
  reversals: readonly LedgerReversal[],
): Promise<readonly StatedPayment[]> => {
  const items = await deps.table.getMany(reversals.map(({ paymentId }) => paymentKey(paymentId)))
  return reversals.flatMap(({ paidAt }, at) => {
    const item = items[at]
    return item ? [{ ...v.parse(PaidPaymentSchema, item), reinstatedAt: paidAt }] : []
  })
}

/**
 * The payments behind a settlement, by when they were paid, without those that went back before it and with those that
 * came again: a page of any settlement costs its own payments and no others. A page may have fewer than its limit, and is
 * the last one only if it says so.
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
  const last = more ? payments.at(-1) : undefined
  const span = { start: after?.paidAt ?? start, end: last ? addMs(last.paidAt, 1) : end }
  const reversals = await reversalsBetween(deps, clientId, span)
  const added = (await reinstatedBy(deps, reversals.filter(isReinstated)))
    .filter((payment) => after === undefined || isBefore(after, placeOf(payment)))
    .filter((payment) => last === undefined || isBefore(placeOf(payment), last))
  const inOrder = [...payments, ...added].toSorted((a, b) => (isBefore(placeOf(a), placeOf(b)) ? -1 : 1))
  const page = inOrder.slice(0, limit)
  const ended = page.at(-1)
  const gone = deductedIn(reversals)
  const before = await reversedBefore(deps, settlement)
  return {
    payments: page.filter(({ id }) => !gone.has(id) && !before.has(id)),
    next: ended && (more || page.length < inOrder.length) ? placeOf(ended) : undefined,
  }
}
