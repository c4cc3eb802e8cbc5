import { expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { newHouseEntry, putHouseEntry } from '../../../shared/journal/house-store.ts'
import type { MoneyRow } from '../../../shared/journal/payment-money.ts'
import { payOutOfWindow } from '../../../shared/ledger/window-store.ts'
import { minor } from '../../../shared/money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import type { Payment, PaymentRequest } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { adjustLedger } from '../../../shared/posting/adjust-ledger.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { bookLateRow, postPayments } from '../../../shared/posting/post-payments.ts'
import { settleClient } from '../../../shared/settlement/settle-client.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { closeStep } from '../../../shared/settlement/settlement-store.ts'
import { finding } from '../../../shared/suspense/record-suspense.ts'
import { DAY_MS } from '../../../shared/time.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'

const DAY_SECONDS = DAY_MS / 1_000

export const aBookClient = (deps: TestDeps): Promise<Client> => aStoredClient(deps, { settlementFloorMinor: minor(0) })

const stored = async (deps: TestDeps, { paymentId }: Pick<Payment, 'paymentId'>): Promise<Payment> => {
  const payment = await findStoredPayment(deps, paymentId)
  if (payment?.status !== 'succeeded') throw new Error('the payment is not paid')
  return payment
}

/** A payment that the customer has paid; it is open. */
const aPaid = async (deps: TestDeps, client: Client, fields: Partial<PaymentRequest>): Promise<Payment> => {
  const payment = await aPendingPayment(deps, client, fields)
  const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
  await applyProviderNews(deps, { providerPaymentId, paymentRequestId: payment.paymentRequestId }, 'sync')
  return stored(deps, payment)
}

const rowOf = (deps: TestDeps, { paymentId, notionalMinor }: Payment, feeMinor: number) => ({
  feeMinor: minor(feeMinor),
  transactionId: `txn-${paymentId}`,
  providerMinor: minor(notionalMinor - feeMinor),
  settledAt: deps.now(),
})

/** A paid payment that its settled row has posted. */
export const aPosted = async (
  deps: TestDeps,
  client: Client,
  { feeMinor, ...fields }: Partial<PaymentRequest> & { readonly feeMinor: number },
): Promise<Payment> => {
  const payment = await aPaid(deps, client, fields)
  await postPayments(deps, [{ payment, by: { row: rowOf(deps, payment, feeMinor) } }])
  return stored(deps, payment)
}

/** A paid payment that was posted without its row. */
const anAssumed = async (deps: TestDeps, client: Client, fields: Partial<PaymentRequest>): Promise<Payment> => {
  const payment = await aPaid(deps, client, fields)
  const subject = payment.paymentId
  const assumed = finding({ subject, cause: 'fee_assumed', payment, now: deps.now() })
  await postPayments(deps, [{ payment, by: { assumed } }])
  return stored(deps, payment)
}

export const settled = async (deps: TestDeps, { clientId }: Client): Promise<Settlement> => {
  const { settlement } = await settleClient(deps, clientId, { by: 'auto' })
  if (settlement === undefined) throw new Error('nothing was settled')
  return settlement
}

/** The bank transfer was made, as the table has it. */
const paidOut = async (deps: TestDeps, settlement: Settlement): Promise<void> => {
  const paid: Settlement = { ...settlement, status: 'manual_paid', settledAt: deps.now() }
  const window = payOutOfWindow(settlement.clientId, settlement.netMinor)
  expect(await deps.table.transact({ settlement: closeStep(paid), window })).toStrictEqual({ applied: true })
}

type Moved = { readonly amount: number; readonly provider: number }

const moved = async (deps: TestDeps, payment: Payment, type: MoneyRow['type'], { amount, provider }: Moved) =>
  movePayment(deps, await stored(deps, payment), {
    type,
    transactionId: `txn-${type}-${payment.paymentId}`,
    amountMinor: minor(amount),
    providerMinor: minor(provider),
    at: deps.now(),
  })

const houseRow = (deps: TestDeps, entry: Omit<Parameters<typeof newHouseEntry>[0], 'rowAt' | 'postedAt'>) =>
  deps.table.transact(putHouseEntry(newHouseEntry({ ...entry, rowAt: deps.now(), postedAt: deps.now() })))

/**
 * Three days of two merchants, 20 to 22 November in Jakarta. Every figure is worked out beside it.
 */
export const threeDays = async (deps: TestDeps) => {
  const a = await aBookClient(deps)
  deps.clock.advance(1)
  const b = await aBookClient(deps)
  // A: 95,900 net, 96,000 at the provider. And 49,600 net, 49,650 at the provider.
  const va = await aPosted(deps, a, { feeMinor: 4_000 })
  await aPosted(deps, a, { method: 'qris', channelCode: undefined, notionalMinor: minor(50_000), feeMinor: 350 })
  // B: 195,800 net by the estimate of 4,000, and nothing at the provider yet.
  const assumed = await anAssumed(deps, b, { notionalMinor: minor(200_000) })
  // 30,000 of no payment; the provider kept 300.
  await houseRow(deps, {
    type: 'suspense',
    transactionId: 'txn-held',
    providerMinor: minor(29_700),
    suspenseMinor: minor(30_000),
  })

  deps.clock.advance(DAY_SECONDS + 7_200)
  const settlementOfA = await settled(deps, a)
  const settlementOfB = await settled(deps, b)
  await paidOut(deps, settlementOfA)
  // The provider kept 5,000 of it: 1,000 more than was assumed.
  expect(await bookLateRow(deps, await stored(deps, assumed), rowOf(deps, assumed, 5_000))).toBe(true)

  deps.clock.advance(DAY_SECONDS)
  await moved(deps, va, 'refund', { amount: 100_000, provider: -100_000 })
  // The provider takes 5,000 for the dispute.
  await moved(deps, assumed, 'chargeback', { amount: 50_000, provider: -55_000 })
  await moved(deps, assumed, 'dispute_won', { amount: 20_000, provider: 20_000 })
  const adjustment = { clientId: a.clientId, providerTransactionId: undefined, notes: undefined, operator: 'sari' }
  await adjustLedger(deps, { ...adjustment, kind: 'recovered', amountMinor: minor(10_000), reference: 'R-1' })
  await adjustLedger(deps, { ...adjustment, kind: 'written_off', amountMinor: minor(5_000), reference: 'W-1' })
  // The provider takes 2,500 for the transfer to our bank.
  await houseRow(deps, {
    type: 'withdrawal',
    transactionId: 'txn-out',
    providerMinor: minor(-42_500),
    bankMinor: minor(40_000),
  })
  return { a, b, settlementOfA, settlementOfB }
}
