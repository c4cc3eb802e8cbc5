import * as v from 'valibot'
import type { Deps, TableDeps } from '../deps.ts'
import { type ClientId, type PaymentId, PaymentIdSchema } from '../ids.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { PROVIDER_READ_TIMEOUT_MS, type ProviderTransaction, type Unanswered } from '../provider/provider.ts'
import { finding, reportSuspense } from '../suspense/record-suspense.ts'
import { ownersOf } from '../table/keys.ts'
import { addMs, DAY_MS, MINUTE_MS, type Timestamp } from '../time.ts'
import { isForAmount, postPayments, settledRowOf } from './post-payments.ts'

export type AssumeDeps = Pick<Deps, 'stage' | 'table' | 'provider' | 'now' | 'monotonicMs' | 'log' | 'alerts'>

/** How long a payment waits for its settled row before its fee is assumed. */
export const FEE_WAIT_MS = 7 * DAY_MS

/** The most payments of one part that one run asks about, and its time for them; the queue has the rest. */
const MAX_AT_ONCE = 50
const RUN_MS = MINUTE_MS
/** After so many calls without an answer the other payments wait for the next day. */
const MAX_UNANSWERED = 5

/** Posts some of a client's payments that have waited long enough. True: more may be left that can be posted now. */
export const postOverdue = async (
  deps: AssumeDeps,
  client: { readonly clientId: ClientId; readonly parts: number },
): Promise<boolean> => {
  const endsAtMs = deps.monotonicMs() + RUN_MS
  const paidBy = addMs(deps.now(), -FEE_WAIT_MS)
  const ids = await openPaymentsPaidBy(deps, client, paidBy)
  let posted = 0
  let unanswered = 0
  for (const id of ids) {
    if (deps.monotonicMs() >= endsAtMs) return posted > 0
    const outcome = await postAfterWait(deps, id).catch((cause: unknown) => {
      deps.log.error('payment.check_failed', { work: 'posting', id }, cause)
      return 'failed'
    })
    if (outcome === 'posted') posted++
    // The provider does not answer now: they stay open, and the settlement continues without them.
    if (outcome === 'unanswered' && ++unanswered === MAX_UNANSWERED) return false
  }
  return posted > 0 && ids.length >= MAX_AT_ONCE
}

/** After a lost race one more read finds the payment posted. */
const MAX_TRIES = 3

/**
 * Posts a payment that has waited long enough. The provider is asked once more; without a settled row the estimate
 * becomes the fee, with a finding. Otherwise the payment stays open. `failed` says nothing about other payments.
 */
const postAfterWait = async (deps: AssumeDeps, paymentId: PaymentId): Promise<'posted' | 'unanswered' | 'failed'> => {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const payment = await findStoredPayment(deps, paymentId)
    if (payment?.status !== 'succeeded' || payment.openAt === undefined) return 'posted'
    const own = await askForOwnRow(deps, payment)
    if (own.kind === 'unanswered') return own.reason === 'refused' ? 'failed' : 'unanswered'
    const row = own.kind === 'settled' ? settledRowOf(deps, payment, own.transaction) : undefined
    // Without any row the payment may have no money either.
    const cause = own.kind === 'settled' || own.hasTransaction ? 'fee_assumed' : 'transaction_missing'
    const assumed = finding({ subject: payment.paymentId, cause, payment, now: deps.now() })
    const [posted] = await postPayments(deps, [{ payment, by: row ? { row } : { assumed } }])
    if (posted === undefined) continue
    if (row === undefined) await reportSuspense(deps, assumed)
    return 'posted'
  }
  return 'failed'
}

/** A payment has one row. A few more are read, so that other rows cannot hide it. */
const TRANSACTIONS_READ = 10

/** Asks the provider for the payment's own row: settled with its final fee, or not yet. */
export const askForOwnRow = async (
  deps: Pick<Deps, 'provider'>,
  payment: Pick<Payment, 'creditedProviderPaymentId' | 'notionalMinor' | 'currency'>,
): Promise<
  | { readonly kind: 'settled'; readonly transaction: ProviderTransaction }
  | { readonly kind: 'not_settled'; readonly hasTransaction: boolean }
  | Unanswered
> => {
  const providerPaymentId = payment.creditedProviderPaymentId ?? ''
  const filter = { providerPaymentId, limit: TRANSACTIONS_READ }
  const answer = await deps.provider.listTransactions(filter, PROVIDER_READ_TIMEOUT_MS)
  if (answer.kind === 'unanswered') return answer
  const rows = answer.kind === 'found' ? answer.value.transactions : []
  const own = rows.filter((row) => row.type === 'payment' && row.providerPaymentId === providerPaymentId)
  const transaction = own.find(
    (row) => row.status === 'success' && row.keptMinor !== undefined && isForAmount(row, payment),
  )
  return transaction ? { kind: 'settled', transaction } : { kind: 'not_settled', hasTransaction: own.length > 0 }
}

const OpenRow = v.object({ id: PaymentIdSchema })

/** A client's open payments that were paid before a time, oldest first, some of each part. The index suggests. */
const openPaymentsPaidBy = async (
  deps: TableDeps,
  { clientId, parts }: { readonly clientId: ClientId; readonly parts: number },
  paidBy: Timestamp,
): Promise<readonly PaymentId[]> => {
  const pages = await Promise.all(
    ownersOf(clientId, parts).map((owner) =>
      deps.table.query({ index: 'by-open', partition: [owner], range: { atMost: paidBy }, limit: MAX_AT_ONCE }),
    ),
  )
  return pages.flatMap(({ items }) => items.map((item) => v.parse(OpenRow, item).id))
}
