import type { Client } from '../../../shared/client/client.ts'
import { paymentIdOf, slotOf } from '../../../shared/ids.ts'
import { minor } from '../../../shared/money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import type { NewsSubject } from '../../../shared/payment/news/ask-for-news.ts'
import { cancelPayment } from '../../../shared/payment/news/cancel-payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { postPayments } from '../../../shared/posting/post-payments.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { reconcileTransaction } from '../../../shared/sync/reconcile-transaction.ts'
import { LEDGER_SHARDS } from '../../../shared/table/schema.ts'
import { DAY_MS, SECOND_MS } from '../../../shared/time.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { adjusted } from '../../support/money-rows.ts'
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

export async function syncRows(deps: TestDeps): Promise<void> {
  for (const row of deps.provider.transactions) {
    const paymentId = paymentIdOf(row.reference)
    const stored = paymentId && (await findStoredPayment(deps, paymentId))
    const known = stored?.status === 'creating' ? undefined : stored
    await reconcileTransaction(deps, { transaction: row, known }, ASK)
  }
}

/** The provider calls about everything it has. A call that fails is answered 500, and comes again later. */
export async function receiveCallbacks(deps: TestDeps, onFailure?: () => void): Promise<void> {
  const { payments, requests } = deps.provider
  const about = [
    ...[...payments.keys()].map((providerPaymentId) => ({ providerPaymentId })),
    ...[...requests.keys()].map((paymentRequestId) => ({ paymentRequestId })),
  ]
  for (const news of about) await applyProviderNews(deps, news, 'callback').catch(onFailure)
}

/** The provider calls again about everything it has, without a failure, and the sync reads every row. */
export async function receiveEverything(deps: TestDeps): Promise<void> {
  await receiveCallbacks(deps)
  await syncRows(deps)
}

/** A flow of money. Everything before the act that it answers is done; the transactions of the act are torn. */
export type Flow = (
  deps: MemoryDeps,
  client: Client,
) => Promise<(acting: MemoryDeps) => Promise<unknown>>

function called(prepared: (deps: MemoryDeps, client: Client) => Promise<NewsSubject>): Flow {
  return async (deps, client) => {
    const news = await prepared(deps, client)
    return (acting) => applyProviderNews(acting, news, 'callback')
  }
}

function closing(status: 'failed' | 'expired'): Flow {
  return called(async (deps, client) => {
    const { paymentRequestId } = await aPendingPayment(deps, client)
    deps.provider.close(paymentRequestId, status)
    return { paymentRequestId }
  })
}

function ownRow(deps: MemoryDeps, paid: PaidUpstream): ProviderTransaction {
  return rowNow(deps, paid, { transactionId: `txn_${paid.payment.paymentId}` })
}

function voidRow(deps: MemoryDeps, paid: PaidUpstream): ProviderTransaction {
  return { ...ownRow(deps, paid), status: 'reversed', reversalKind: 'voided' }
}

type Row = (deps: MemoryDeps, paid: PaidUpstream) => ProviderTransaction

/** A row that takes money back, unless the fields say otherwise. */
function backRow(transactionId: string, amount: number, fields: Partial<ProviderTransaction>): Row {
  return (deps, paid) => {
    const amounts = { amountMinor: minor(amount), providerMinor: minor(-amount) }
    return rowNow(deps, paid, {
      ...NOT_SETTLED,
      transactionId,
      type: 'return',
      ...amounts,
      ...fields,
    })
  }
}

function refundRow(amount: number) {
  return backRow(`txn-refund-${amount}`, amount, { reversalKind: 'refund' })
}

function disputeRow(transactionId: string) {
  return backRow(transactionId, 45_000, {
    reversalKind: 'chargeback',
    disputedMinor: minor(40_000),
  })
}
const wonRow = backRow('txn-won', 40_000, {
  type: 'correction',
  isDisputeWon: true,
  providerMinor: minor(40_000),
})

type Paid = (deps: MemoryDeps, client: Client) => Promise<PaidUpstream>

/** A payment, a minute after the sync has read these rows of it. */
function afterRows(payment: Paid, ...rows: readonly Row[]): Paid {
  return async (deps, client) => {
    const paid = await payment(deps, client)
    deps.provider.transactions.push(...rows.map((row) => row(deps, paid)))
    await syncRows(deps)
    deps.clock.advance(60)
    return paid
  }
}

function later(payment: Paid, days: number): Paid {
  return async (deps, client) => {
    const paid = await payment(deps, client)
    deps.clock.advance((days * DAY_MS) / SECOND_MS)
    return paid
  }
}

async function assumed(deps: MemoryDeps, client: Client): Promise<PaidUpstream> {
  const paid = await later(creditedPayment, 7)(deps, client)
  await postAssumed(deps, await paymentOf(deps, paid))
  return paid
}

/** The provider makes a row of a payment, and the sync reads it. */
function rowed(payment: Paid, row: Row): Flow {
  return async (deps, client) => {
    const paid = await payment(deps, client)
    deps.clock.advance(60)
    deps.provider.transactions.push(row(deps, paid))
    // What is recorded has the provider of the world it acts in.
    return syncRows
  }
}

async function twoOfOneShard(deps: MemoryDeps, client: Client): Promise<readonly PaidUpstream[]> {
  const paid = new Map<number, PaidUpstream>()
  for (;;) {
    const next = await creditedPayment(deps, client)
    const shard = slotOf(next.payment.paymentId, LEDGER_SHARDS)
    const first = paid.get(shard)
    if (first) return [first, next]
    paid.set(shard, next)
  }
}

const posted = afterRows(creditedPayment, ownRow)

async function settled(
  deps: MemoryDeps,
  client: Client,
): Promise<(acting: MemoryDeps) => Promise<unknown>> {
  await posted(deps, client)
  aDayLater(deps)
  return (acting) => sweptNow(acting, client)
}

/**
 * Each flow by what it does. Two endpoints receive each event that they ask for. Not here, because a recount refuses their
 * differences by name: adjustments, re-credits, entries of the house, and the audit records of settlements.
 */
export const FLOWS = {
  'commits a create': async (_, client) => (acting) => create(acting, client),
  succeeds: called(paidUpstream),
  'succeeds on another attempt': called(async (deps, client) => {
    await loseAnswer(deps, client)
    const { payment } = await create(deps, client, aRequest(), 'key-1')
    const paid = { payment, ...payFirst(deps) }
    deps.provider.transactions.push(rowNow(deps, paid, NOT_SETTLED))
    return paid
  }),
  'succeeds while it is created': called(async (deps, client) => {
    await loseAnswer(deps, client)
    const paid = payFirst(deps)
    deps.provider.transactions.push(settledRow(paid, deps.now(), NOT_SETTLED))
    return paid
  }),
  fails: closing('failed'),
  expires: closing('expired'),
  'fails by a wrong amount': called(async (deps, client) => {
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
  'is posted': rowed(creditedPayment, ownRow),
  'is posted long after it was paid': rowed(later(creditedPayment, 2), ownRow),
  'are posted, two of one shard': async (deps, client) => {
    const paid = await twoOfOneShard(deps, client)
    deps.clock.advance(60)
    for (const one of paid) deps.provider.transactions.push(ownRow(deps, one))
    const payments = await Promise.all(paid.map((one) => paymentOf(deps, one)))
    const postings = payments.map((payment) => ({
      payment,
      by: { row: settledRowFor(payment, { feeMinor: 4_440 }) },
    }))
    return (acting) => postPayments(acting, postings)
  },
  'is posted with an assumed fee': async (deps, client) => {
    const payment = await paymentOf(deps, await later(creditedPayment, 7)(deps, client))
    return (acting) => postAssumed(acting, payment)
  },
  'is posted with what went back before': rowed(
    afterRows(creditedPayment, refundRow(30_000)),
    ownRow,
  ),
  'shows its row late': rowed(assumed, ownRow),
  'is refunded while it is open': rowed(creditedPayment, refundRow(30_000)),
  'is voided while it is open': rowed(creditedPayment, voidRow),
  'is refunded after it was posted': rowed(posted, refundRow(30_000)),
  'is refunded a second time': rowed(afterRows(posted, refundRow(30_000)), refundRow(20_000)),
  'is voided after it was posted': rowed(posted, voidRow),
  'gets back what was written off': rowed(async (deps, client) => {
    const paid = await afterRows(
      posted,
      disputeRow('txn-dispute'),
      disputeRow('txn-other'),
    )(deps, client)
    await adjusted(deps, client, 'written_off', 10_000)
    return paid
  }, wonRow),
  'is settled': settled,
  'is settled again': async (deps, client) => {
    const settle = await settled(deps, client)
    await settle(deps)
    return settled(deps, client)
  },
} satisfies Readonly<Record<string, Flow>>
