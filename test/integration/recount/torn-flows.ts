import type { Client } from '../../../shared/client/client.ts'
import { paymentIdOf } from '../../../shared/ids.ts'
import { shardOf } from '../../../shared/ledger/shard-store.ts'
import { minor } from '../../../shared/money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import type { NewsSubject } from '../../../shared/payment/news/ask-for-news.ts'
import { cancelPayment } from '../../../shared/payment/news/cancel-payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { postPayments } from '../../../shared/posting/post-payments.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { reconcileTransaction } from '../../../shared/sync/reconcile-transaction.ts'
import { DAY_MS } from '../../../shared/time.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import { postAssumed, settledRowFor } from '../../support/paid-builders.ts'
import {
  aPendingPayment,
  aRequest,
  create,
  loseAnswer,
  payFirst,
} from '../../support/payment-builders.ts'
import { aDayLater, sweptNow } from '../../support/settlement-builders.ts'
import {
  creditedPayment,
  type PaidUpstream,
  paidUpstream,
  paymentOf,
  rowNow,
} from '../../support/synced-payment.ts'
import type { MemoryDeps, TestDeps } from '../../support/test-deps.ts'

const ASK = { isAllowed: async () => true, noteUnanswered: async () => {} }

export async function syncRows(deps: TestDeps) {
  for (const row of deps.provider.transactions) {
    const paymentId = paymentIdOf(row.reference)
    const stored = paymentId && (await findStoredPayment(deps, paymentId))
    const payment = stored?.status === 'creating' ? undefined : stored
    await reconcileTransaction(deps, { transaction: row, payment }, ASK)
  }
}

/** After a failure, which the gateway answers 500, the provider repeats the callback later. */
export async function receiveCallbacks(deps: TestDeps, onFailure?: () => void) {
  const { payments, requests } = deps.provider
  const subjects = [
    ...[...payments.keys()].map((providerPaymentId) => ({ providerPaymentId })),
    ...[...requests.keys()].map((paymentRequestId) => ({ paymentRequestId })),
  ]
  for (const news of subjects) await applyProviderNews(deps, news, 'callback').catch(onFailure)
}

export async function receiveEverything(deps: TestDeps) {
  await receiveCallbacks(deps)
  await syncRows(deps)
}

/**
 * A flow of money. It prepares everything, then answers its last act. The transactions of that act
 * are torn.
 */
export type Flow = (
  deps: MemoryDeps,
  client: Client,
) => Promise<(acting: MemoryDeps) => Promise<unknown>>

function closingFlow(status: 'failed' | 'expired') {
  return callbackFlow(async (deps, client) => {
    const { paymentRequestId } = await aPendingPayment(deps, client)
    deps.provider.close(paymentRequestId, status)
    return { paymentRequestId }
  })
}

function callbackFlow(prepare: (deps: MemoryDeps, client: Client) => Promise<NewsSubject>): Flow {
  return async (deps, client) => {
    const news = await prepare(deps, client)
    return (acting) => applyProviderNews(acting, news, 'callback')
  }
}

function voidRow(deps: TestDeps, paid: PaidUpstream): ProviderTransaction {
  return { ...ownRow(deps, paid), status: 'reversed', reversalKind: 'voided' }
}

function ownRow(deps: TestDeps, paid: PaidUpstream) {
  return rowNow(deps, paid, { transactionId: `txn_${paid.payment.paymentId}` })
}

export function refundRow(amount: number) {
  return backRow(`txn-refund-${amount}`, amount, { reversalKind: 'refund' })
}

type Row = (deps: TestDeps, paid: PaidUpstream) => ProviderTransaction

function backRow(transactionId: string, amount: number, fields: Partial<ProviderTransaction>): Row {
  const row = { ...NOT_SETTLED, transactionId, type: 'return', amountMinor: minor(amount) } as const
  return (deps, paid) => rowNow(deps, paid, { ...row, ...fields })
}

function disputeRow(transactionId: string) {
  return backRow(transactionId, 45_000, {
    reversalKind: 'chargeback',
    disputedMinor: minor(40_000),
  })
}
const wonRow = backRow('txn-won', 40_000, { type: 'correction', isDisputeWon: true })

type Paid = (deps: MemoryDeps, client: Client) => Promise<PaidUpstream>

function withSyncedRows(payment: Paid, ...rows: readonly Row[]): Paid {
  return async (deps, client) => {
    const paid = await payment(deps, client)
    deps.provider.transactions.push(...rows.map((row) => row(deps, paid)))
    await syncRows(deps)
    deps.clock.advance(60)
    return paid
  }
}

async function assumedPayment(deps: MemoryDeps, client: Client) {
  const paid = await daysLater(creditedPayment, 7)(deps, client)
  await postAssumed(deps, await paymentOf(deps, paid))
  return paid
}

function daysLater(payment: Paid, days: number): Paid {
  return async (deps, client) => {
    const paid = await payment(deps, client)
    deps.clock.pass(days * DAY_MS)
    return paid
  }
}

function rowFlow(payment: Paid, row: Row): Flow {
  return async (deps, client) => {
    const paid = await payment(deps, client)
    deps.clock.advance(60)
    deps.provider.transactions.push(row(deps, paid))
    // `syncRows` reads the provider of the world in which the act runs.
    return syncRows
  }
}

async function twoPaymentsOfOneShard(deps: MemoryDeps, client: Client) {
  const paid = new Map<string, PaidUpstream>()
  for (;;) {
    const nextPayment = await creditedPayment(deps, client)
    const { sk: shard } = shardOf(nextPayment.payment)
    const first = paid.get(shard)
    if (first) return [first, nextPayment]
    paid.set(shard, nextPayment)
  }
}

const postedPayment = withSyncedRows(creditedPayment, ownRow)

async function prepareSettlement(
  deps: MemoryDeps,
  client: Client,
): Promise<(acting: MemoryDeps) => Promise<unknown>> {
  await postedPayment(deps, client)
  aDayLater(deps)
  return (acting) => sweptNow(acting, client)
}

/**
 * Two endpoints receive each event. Adjustments, re-credits, house entries and the audit records of
 * settlements are missing, because a recount refuses their differences by name.
 */
export const FLOWS = {
  'commits a create': async (_, client) => (acting) => create(acting, client),
  succeeds: callbackFlow(paidUpstream),
  'succeeds on another attempt': callbackFlow(async (deps, client) => {
    await loseAnswer(deps, client)
    const { payment } = await create(deps, client, aRequest(), 'key-1')
    const paid = { payment, ...payFirst(deps) }
    deps.provider.transactions.push(rowNow(deps, paid, NOT_SETTLED))
    return paid
  }),
  'succeeds while it is created': callbackFlow(async (deps, client) => {
    await loseAnswer(deps, client)
    const paid = payFirst(deps)
    deps.provider.transactions.push(settledRow(paid, deps.now(), NOT_SETTLED))
    return paid
  }),
  fails: closingFlow('failed'),
  expires: closingFlow('expired'),
  'fails by a wrong amount': callbackFlow(async (deps, client) => {
    return {
      providerPaymentId: deps.provider.pay(
        (await aPendingPayment(deps, client)).paymentRequestId,
        90_000,
      ),
    }
  }),
  'is cancelled': async (deps, client) => {
    const { paymentId } = await aPendingPayment(deps, client)
    return (acting) => cancelPayment(acting, { clientId: client.clientId, id: paymentId })
  },
  'is posted': rowFlow(creditedPayment, ownRow),
  'is posted long after it was paid': rowFlow(daysLater(creditedPayment, 2), ownRow),
  'is posted with another payment of its shard': async (deps, client) => {
    const paid = await twoPaymentsOfOneShard(deps, client)
    deps.clock.advance(60)
    for (const upstream of paid) deps.provider.transactions.push(ownRow(deps, upstream))
    const payments = await Promise.all(paid.map((upstream) => paymentOf(deps, upstream)))
    const postings = payments.map((payment) => ({
      payment,
      by: { row: settledRowFor(payment, { feeMinor: 4_440 }) },
    }))
    return (acting) => postPayments(acting, postings)
  },
  'is posted with an assumed fee': async (deps, client) => {
    const payment = await paymentOf(deps, await daysLater(creditedPayment, 7)(deps, client))
    return (acting) => postAssumed(acting, payment)
  },
  'is posted after a partial refund': rowFlow(
    withSyncedRows(creditedPayment, refundRow(30_000)),
    ownRow,
  ),
  'shows its row late': rowFlow(assumedPayment, ownRow),
  'is refunded while it is open': rowFlow(creditedPayment, refundRow(30_000)),
  'is voided while it is open': rowFlow(creditedPayment, voidRow),
  'is refunded after it was posted': rowFlow(postedPayment, refundRow(30_000)),
  'is refunded a second time': rowFlow(
    withSyncedRows(postedPayment, refundRow(30_000)),
    refundRow(20_000),
  ),
  'is voided after it was posted': rowFlow(postedPayment, voidRow),
  'is won back after a write-off': rowFlow(async (deps, client) => {
    const paid = await withSyncedRows(
      postedPayment,
      disputeRow('txn-dispute'),
      disputeRow('txn-other'),
    )(deps, client)
    await adjustBalance(deps, client, 'correction', -100_000)
    await adjustBalance(deps, client, 'written_off', 10_000)
    return paid
  }, wonRow),
  'is settled': prepareSettlement,
  'is settled again': async (deps, client) => {
    const settle = await prepareSettlement(deps, client)
    await settle(deps)
    return prepareSettlement(deps, client)
  },
} satisfies Readonly<Record<string, Flow>>
