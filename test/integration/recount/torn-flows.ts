import type { Client } from '../../../shared/client/client.ts'
import { type PaymentId, paymentIdOf, slotOf } from '../../../shared/ids.ts'
import { minor } from '../../../shared/money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { cancelPayment } from '../../../shared/payment/news/cancel-payment.ts'
import type { PaymentStatus } from '../../../shared/payment-status.ts'
import { adjustLedger } from '../../../shared/posting/adjust-ledger.ts'
import { postPayments } from '../../../shared/posting/post-payments.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { LEDGER_SHARDS } from '../../../shared/table/schema.ts'
import { DAY_MS, SECOND_MS } from '../../../shared/time.ts'
import { settledRow } from '../../support/fake-provider.ts'
import type { MemoryDeps } from '../../support/memory-deps.ts'
import { postAssumed, settledRowFor } from '../../support/paid-builders.ts'
import { aPendingPayment, create, paidUnheard } from '../../support/payment-builders.ts'
import { aDayLater, sweptNow } from '../../support/settlement-builders.ts'
import { creditedPayment, type PaidUpstream, paidUpstream, paymentOf, rowNow } from '../../support/synced-payment.ts'
import { syncRows } from './after-recount.ts'
import { chargebackRow, NOT_KEPT, ownRow, refundRow, voidRow, wonRow } from './torn-rows.ts'

/** What a flow leaves to look at when all is repaired. */
export type Expected = { readonly paymentId: PaymentId; readonly status: PaymentStatus }

/** A flow of money. Everything before `act` is done; the transactions of `act` are torn. */
export type Flow = (
  deps: MemoryDeps,
  client: Client,
) => Promise<{ readonly act: (deps: MemoryDeps) => Promise<unknown>; readonly expected: readonly Expected[] }>

const succeeded = ({ payment: { paymentId } }: Pick<PaidUpstream, 'payment'>): Expected => ({
  paymentId,
  status: 'succeeded',
})

const closing =
  (status: 'failed' | 'expired'): Flow =>
  async (deps, client) => {
    const { paymentId, paymentRequestId } = await aPendingPayment(deps, client)
    deps.provider.close(paymentRequestId, status)
    return {
      act: (acting) => applyProviderNews(acting, { paymentRequestId }, 'callback'),
      expected: [{ paymentId, status }],
    }
  }

/** The provider makes a row, and the sync reads it. */
const rowed = (deps: MemoryDeps, row: ProviderTransaction) => (acting: MemoryDeps) => {
  deps.provider.transactions.push(row)
  // What is recorded has the provider of the world it acts in.
  return syncRows(acting)
}

const posted = async (deps: MemoryDeps, client: Client): Promise<PaidUpstream> => {
  const paid = await creditedPayment(deps, client)
  deps.provider.transactions.push(ownRow(deps, paid))
  await syncRows(deps)
  deps.clock.advance(60)
  return paid
}

const shardNumber = ({ payment }: PaidUpstream) => slotOf(payment.paymentId, LEDGER_SHARDS)

const twoOfOneShard = async (deps: MemoryDeps, client: Client): Promise<readonly PaidUpstream[]> => {
  const paid: PaidUpstream[] = []
  for (;;) {
    const next = await creditedPayment(deps, client)
    const first = paid.find((one) => shardNumber(one) === shardNumber(next))
    if (first) return [first, next]
    paid.push(next)
  }
}

/** Each flow by what it does. Two endpoints hear of each event that they ask for. */
export const FLOWS: Readonly<Record<string, Flow>> = {
  'commits a create': async (_, client) => ({
    act: (acting) => create(acting, client),
    expected: [],
  }),
  succeeds: async (deps, client) => {
    const paid = await paidUpstream(deps, client)
    const { providerPaymentId } = paid
    return {
      act: (acting) => applyProviderNews(acting, { providerPaymentId }, 'callback'),
      expected: [succeeded(paid)],
    }
  },
  'succeeds on another attempt': async (deps, client) => {
    const { payment, providerPaymentId, reference } = await paidUnheard(deps, client)
    deps.provider.transactions.push(rowNow(deps, { payment, providerPaymentId, reference }, NOT_KEPT))
    return {
      act: (acting) => applyProviderNews(acting, { providerPaymentId }, 'callback'),
      expected: [succeeded({ payment })],
    }
  },
  'succeeds while it is created': async (deps, client) => {
    deps.provider.script('createRequest', async (input, timeoutMs) => {
      await deps.provider.healthy.createRequest(input, timeoutMs)
      return { kind: 'unknown', reason: 'timeout' }
    })
    await create(deps, client).catch(() => undefined)
    deps.provider.heal('createRequest')
    const [{ paymentRequestId, reference } = deps.provider.requestOf('the first')] = deps.provider.requests.values()
    const providerPaymentId = deps.provider.pay(paymentRequestId)
    deps.provider.transactions.push(settledRow({ providerPaymentId, reference }, deps.now(), NOT_KEPT))
    const paymentId = paymentIdOf(reference)
    if (paymentId === undefined) throw new Error('the reference names no payment')
    return {
      act: (acting) => applyProviderNews(acting, { providerPaymentId }, 'callback'),
      expected: [{ paymentId, status: 'succeeded' }],
    }
  },
  fails: closing('failed'),
  expires: closing('expired'),
  'fails by a wrong amount': async (deps, client) => {
    const { paymentId, paymentRequestId } = await aPendingPayment(deps, client)
    const providerPaymentId = deps.provider.pay(paymentRequestId, 90_000)
    return {
      act: (acting) => applyProviderNews(acting, { providerPaymentId }, 'callback'),
      expected: [{ paymentId, status: 'failed' }],
    }
  },
  'is cancelled': async (deps, client) => {
    const { paymentId } = await aPendingPayment(deps, client)
    return {
      act: (acting) => cancelPayment(acting, { clientId: client.clientId, id: paymentId }),
      expected: [{ paymentId, status: 'cancelled' }],
    }
  },
  'is posted': async (deps, client) => {
    const paid = await creditedPayment(deps, client)
    deps.clock.advance(60)
    return { act: rowed(deps, ownRow(deps, paid)), expected: [succeeded(paid)] }
  },
  'is posted long after it was paid': async (deps, client) => {
    const paid = await creditedPayment(deps, client)
    deps.clock.advance((2 * DAY_MS) / SECOND_MS)
    return { act: rowed(deps, ownRow(deps, paid)), expected: [succeeded(paid)] }
  },
  'are posted, two of one shard': async (deps, client) => {
    const paid = await twoOfOneShard(deps, client)
    deps.clock.advance(60)
    for (const one of paid) deps.provider.transactions.push(ownRow(deps, one))
    const payments = await Promise.all(paid.map((one) => paymentOf(deps, one)))
    return {
      act: (acting) =>
        postPayments(
          acting,
          payments.map((payment) => ({ payment, by: { row: settledRowFor(payment, { feeMinor: 4_440 }) } })),
        ),
      expected: paid.map(succeeded),
    }
  },
  'is posted with an assumed fee': async (deps, client) => {
    const paid = await creditedPayment(deps, client)
    deps.clock.advance((7 * DAY_MS) / SECOND_MS)
    const payment = await paymentOf(deps, paid)
    return { act: (acting) => postAssumed(acting, payment), expected: [succeeded(paid)] }
  },
  'is posted with what went back before': async (deps, client) => {
    const paid = await creditedPayment(deps, client)
    deps.provider.transactions.push(refundRow(deps, paid, 30_000))
    await syncRows(deps)
    deps.clock.advance(60)
    return { act: rowed(deps, ownRow(deps, paid)), expected: [succeeded(paid)] }
  },
  'shows its row late': async (deps, client) => {
    const paid = await creditedPayment(deps, client)
    deps.clock.advance((7 * DAY_MS) / SECOND_MS)
    await postAssumed(deps, await paymentOf(deps, paid))
    deps.clock.advance(60)
    return { act: rowed(deps, ownRow(deps, paid)), expected: [succeeded(paid)] }
  },
  'is refunded while it is open': async (deps, client) => {
    const paid = await creditedPayment(deps, client)
    deps.clock.advance(60)
    return { act: rowed(deps, refundRow(deps, paid, 30_000)), expected: [succeeded(paid)] }
  },
  'is voided while it is open': async (deps, client) => {
    const paid = await creditedPayment(deps, client)
    deps.clock.advance(60)
    return { act: rowed(deps, voidRow(deps, paid)), expected: [succeeded(paid)] }
  },
  'is refunded after it was posted': async (deps, client) => {
    const paid = await posted(deps, client)
    return { act: rowed(deps, refundRow(deps, paid, 30_000)), expected: [succeeded(paid)] }
  },
  'is refunded a second time': async (deps, client) => {
    const paid = await posted(deps, client)
    deps.provider.transactions.push(refundRow(deps, paid, 30_000))
    await syncRows(deps)
    deps.clock.advance(60)
    return { act: rowed(deps, refundRow(deps, paid, 20_000)), expected: [succeeded(paid)] }
  },
  'is voided after it was posted': async (deps, client) => {
    const paid = await posted(deps, client)
    return { act: rowed(deps, voidRow(deps, paid)), expected: [succeeded(paid)] }
  },
  'gets back what was written off': async (deps, client) => {
    const paid = await posted(deps, client)
    for (const row of [chargebackRow(deps, paid), { ...chargebackRow(deps, paid), transactionId: 'txn-other' }]) {
      deps.provider.transactions.push(row)
    }
    await syncRows(deps)
    await adjustLedger(deps, {
      clientId: client.clientId,
      kind: 'written_off',
      amountMinor: minor(10_000),
      reference: 'given up',
      providerTransactionId: undefined,
      notes: undefined,
      operator: 'ana',
    })
    deps.clock.advance(60)
    return { act: rowed(deps, wonRow(deps, paid)), expected: [succeeded(paid)] }
  },
  'is settled': async (deps, client) => {
    const paid = await posted(deps, client)
    aDayLater(deps)
    return { act: (acting) => sweptNow(acting, client), expected: [succeeded(paid)] }
  },
  'is settled again': async (deps, client) => {
    const first = await posted(deps, client)
    aDayLater(deps)
    await sweptNow(deps, client)
    const paid = await posted(deps, client)
    aDayLater(deps)
    return { act: (acting) => sweptNow(acting, client), expected: [succeeded(first), succeeded(paid)] }
  },
}

/** Transactions that a recount does not repair: their differences are refused by name. */
export const NOT_COVERED: readonly string[] = [
  'adjust a ledger: adjustment, entry, shard, window, house entry, audit record and its head',
  'mark a settlement paid or failed: the audit record and its head',
  're-credit a settlement: settlement, window, entry, audit record and its head',
  'settle by hand: the audit record and its head',
  'book for the house: house entry, day total, suspense item',
  'record an attempt, begin a round: no money',
  'a fence that is raised: no transaction',
]
