import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type ClientId, PaymentIdSchema } from '../ids.ts'
import { minor, ZERO } from '../money.ts'
import type { Payment } from '../payment/payment.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import type { Suspense } from '../suspense/suspense.ts'
import { openSuspensePages } from '../suspense/suspense-store.ts'
import type { Figures } from './figures.ts'

/** Operators keep the list short; beyond so many nobody needs a sum to know that something is wrong. */
const MOST_PAGES = 100

/** A figure of the provider's is not ours by so much. Undefined: the finding is about none. */
const differsBy = (item: Suspense, payment: Payment | undefined): number | undefined => {
  const { cause, amountMinor = ZERO } = item
  switch (cause) {
    case 'transaction_unexplained':
    case 'reversed_upstream':
    case 'undone_unclear':
      return Math.abs(amountMinor)
    case 'amount_differs':
      return Math.abs(amountMinor - (payment?.notionalMinor ?? 0))
    case 'fee_changed':
      return Math.abs(amountMinor - (payment?.providerFeeMinor ?? 0))
    default:
      return undefined
  }
}

const paymentsOf = async (deps: Pick<Deps, 'table'>, items: readonly Suspense[]) => {
  const ids = items.flatMap(({ cause, paymentId }) => {
    const parsed = v.safeParse(PaymentIdSchema, paymentId)
    return parsed.success && (cause === 'amount_differs' || cause === 'fee_changed') ? [parsed.output] : []
  })
  const payments = ids.length === 0 ? [] : await findPaymentsByKey(deps, [...new Set(ids)])
  return new Map<string | undefined, Payment>(payments.map((payment) => [payment.paymentId, payment]))
}

export type OpenSuspense = {
  readonly figures: Figures
  /** Open findings about figures of the provider's: one may not even say by how much. */
  readonly findings: number
  /** False when there are more items than are looked at. */
  readonly isWhole: boolean
}

/** What is open in suspense, of one client or of all. */
export const openSuspense = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId | undefined,
): Promise<OpenSuspense> => {
  let [money, owed, differs, findings, pages] = [0, 0, 0, 0, 0]
  let isWhole = true
  for await (const page of openSuspensePages(deps)) {
    const items = page.filter((item) => clientId === undefined || item.clientId === clientId)
    const payments = await paymentsOf(deps, items)
    for (const item of items) {
      const by = differsBy(item, payments.get(item.paymentId))
      if (item.kind === 'money') money += item.amountMinor ?? 0
      if (item.kind === 'receivable') owed += item.amountMinor ?? 0
      differs += by ?? 0
      findings += by === undefined ? 0 : 1
    }
    isWhole = ++pages < MOST_PAGES
    if (!isWhole) break
  }
  return {
    figures: { in_suspense: minor(money), owed_by_clients: minor(owed), provider_differs: minor(differs) },
    findings,
    isWhole,
  }
}
