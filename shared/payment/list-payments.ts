import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { type ClientId, paymentIdForKey } from '../ids.ts'
import { countOf, countOfAll, readLedger } from '../ledger/ledger-store.ts'
import { firstOfPage, type Page } from '../page.ts'
import type { PaymentStatus } from '../payment-status.ts'
import { ownersOf } from '../table/keys.ts'
import { listMergedItems } from '../table/list-items.ts'
import type { Payment } from './payment.ts'
import { findStoredPayment, PaymentSchema } from './payment-store.ts'

export type PaymentList = { readonly payments: readonly Payment[]; readonly total: number }

/**
 * One page of a client's payments, newest first, with the exact total (spec 4.2). The total costs one consistent query
 * of the ledger's counts; a page past the end costs nothing more. The index and the payments are eventually consistent,
 * so a new payment or status may appear a moment later. A payment whose status no longer matches the filter is left
 * out.
 */
export const listPayments = async (
  deps: TableDeps,
  input: { readonly clientId: ClientId; readonly status: PaymentStatus | undefined; readonly page: Page },
): Promise<PaymentList> => {
  const { clientId, status, page } = input
  const ledger = await readLedger(deps, clientId)
  const total = status === undefined ? countOfAll(ledger) : countOf(ledger, status)
  if (firstOfPage(page) >= total) return { payments: [], total }
  const owners = ownersOf(clientId, ledger.window.parts)
  const items = await listMergedItems(deps, {
    kind: 'PAYMENT',
    ...(status === undefined
      ? { index: 'by-owner', partitions: owners.map((owner) => [owner, 'payment']) }
      : { index: 'by-status', partitions: owners.map((owner) => [owner, 'payment', status]) }),
    page,
    reads: 'eventual',
  })
  const payments = items.map((item) => v.parse(PaymentSchema, item))
  return { payments: payments.filter((payment) => status === undefined || payment.status === status), total }
}

/**
 * The payment of an idempotency key, or none: "did my 500 create it?" in one consistent read. A payment that is still
 * being created counts as none; a retry with the same key may complete it.
 */
export const paymentsOfKey = async (
  deps: TableDeps,
  { clientId, key, page }: { readonly clientId: ClientId; readonly key: string; readonly page: Page },
): Promise<PaymentList> => {
  const stored = await findStoredPayment(deps, paymentIdForKey(clientId, key))
  if (stored === undefined || stored.status === 'creating' || stored.clientId !== clientId)
    return { payments: [], total: 0 }
  return { payments: firstOfPage(page) === 0 ? [stored] : [], total: 1 }
}
