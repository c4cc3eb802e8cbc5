import { expect } from 'vitest'
import type { Client } from '../../shared/client/client.ts'
import { applyProviderNews } from '../../shared/payment/news/apply-news.ts'
import { closePayment } from '../../shared/payment/news/close-payment.ts'
import type { Payment, PaymentRequest } from '../../shared/payment/payment.ts'
import { findStoredPayment } from '../../shared/payment/payment-store.ts'
import type { ProviderTransaction } from '../../shared/provider/provider.ts'
import { findSuspense } from '../../shared/suspense/suspense-store.ts'
import { settledRow } from './fake-provider.ts'
import { aPendingPayment, aStoredClient, ledgerView } from './payment-builders.ts'
import { BANK } from './settlement-builders.ts'
import { memoryDeps, type TestDeps } from './test-deps.ts'

/** The provider is not asked. */
export const ASK = { isAllowed: async () => false, noteUnanswered: async () => undefined }

export const PENDING = { fee: { status: 'PENDING', xendit_fee: 0, value_added_tax: 0 } }

export async function aSyncWorld(own?: TestDeps) {
  const deps = own ?? memoryDeps()
  const client = await aStoredClient(deps, { bank: BANK })
  return { deps, client, rows: deps.provider.transactions }
}

export type SyncWorld = Awaited<ReturnType<typeof aSyncWorld>>

/** The payment's callback never came. */
export async function paidUpstream(
  deps: TestDeps,
  client: Client,
  fields: Partial<PaymentRequest> = {},
) {
  const payment = await aPendingPayment(deps, client, fields)
  const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
  return {
    payment,
    providerPaymentId,
    reference: deps.provider.requestOf(payment.paymentRequestId).reference,
  }
}

export async function creditedPayment(
  deps: TestDeps,
  client: Client,
  fields: Partial<PaymentRequest> = {},
) {
  const paid = await paidUpstream(deps, client, fields)
  await notifyOf(deps, paid.providerPaymentId)
  return { ...paid, payment: await paymentOf(deps, paid) }
}

/** The provider's callback about a payment of a customer. */
export function notifyOf(deps: TestDeps, providerPaymentId: string) {
  return applyProviderNews(deps, { providerPaymentId }, 'callback')
}

export function expire(deps: TestDeps, payment: Payment) {
  return closePayment(deps, payment, { status: 'expired', source: 'due_work' })
}

export type PaidUpstream = Awaited<ReturnType<typeof paidUpstream>>

export async function paymentOf(deps: TestDeps, { payment }: Pick<PaidUpstream, 'payment'>) {
  const stored = await findStoredPayment(deps, payment.paymentId)
  if (stored === undefined || stored.status === 'creating')
    throw new Error('the payment is not visible')
  return stored
}

export async function expectPayment(
  deps: TestDeps,
  paid: Pick<PaidUpstream, 'payment'>,
  fields: object,
) {
  expect(await paymentOf(deps, paid)).toMatchObject(fields)
}

export async function pendingOf(deps: TestDeps, client: Pick<Client, 'clientId'>) {
  return (await ledgerView(deps, client)).pendingMinor
}

export function rowNow(
  deps: TestDeps,
  paid: PaidUpstream,
  fields: Partial<ProviderTransaction> = {},
) {
  return settledRow(paid, deps.now(), fields)
}

/** A row of another attempt proves nothing, so the sync asks the provider. */
export function rowOfOtherAttempt(deps: TestDeps, paid: PaidUpstream) {
  return rowNow(deps, paid, { reference: `${paid.payment.paymentId}-9` })
}

export function findingAbout(deps: TestDeps, subject: string, cause: string) {
  return findSuspense(deps, `${subject}#${cause}`)
}

export async function expectSuspense(deps: TestDeps, id: string, fields: object) {
  expect(await findSuspense(deps, id)).toMatchObject(fields)
}

export function expectFinding(deps: TestDeps, subject: string, cause: string, fields: object) {
  return expectSuspense(deps, `${subject}#${cause}`, fields)
}

/** An open finding by default. */
export function expectUnexplained(
  deps: TestDeps,
  subject: string,
  fields: object = { status: 'open' },
) {
  return expectFinding(deps, subject, 'transaction_unexplained', fields)
}
