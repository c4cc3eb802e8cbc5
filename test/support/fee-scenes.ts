import type { Client } from '../../shared/client/client.ts'
import { minor } from '../../shared/money.ts'
import type { Payment } from '../../shared/payment/payment.ts'
import { findStoredPayment } from '../../shared/payment/payment-store.ts'
import type { ProviderTransaction, Unanswered } from '../../shared/provider/provider.ts'
import { settleClient } from '../../shared/settlement/settle-client.ts'
import { addMs, DAY_MS } from '../../shared/time.ts'
import { aStoredClient } from './payment-builders.ts'
import { aSucceededPayment } from './settlement-builders.ts'
import { type TestDeps, testDeps } from './test-deps.ts'

export const settle = (deps: TestDeps, client: Client) => settleClient(deps, client.clientId, { by: 'auto' })

export const withFloorZero = (deps: TestDeps) => aStoredClient(deps, { settlementFloorMinor: minor(0) })

/** The provider's transactions, from now on. */
export const providerKnows = (deps: TestDeps, ...transactions: readonly ProviderTransaction[]): void =>
  deps.provider.script('listTransactions', async ({ providerPaymentId }) => ({
    kind: 'found',
    value: {
      transactions: transactions.filter((transaction) => transaction.providerPaymentId === providerPaymentId),
      hasMore: false,
    },
  }))

/** The provider answers no question about transactions, from now on. */
export const providerIsSilent = (deps: TestDeps, reason: Unanswered['reason']): void =>
  deps.provider.script('listTransactions', async () => ({ kind: 'unanswered', reason }))

/** A client with one payment whose fee has been estimated for so long that it is asked for now. */
export const anOverdueFee = async () => {
  const deps = testDeps()
  const client = await withFloorZero(deps)
  const payment = await aSucceededPayment(deps, client, { feeStatus: 'estimated' })
  deps.clock.set(addMs(deps.now(), 7 * DAY_MS))
  return { deps, client, payment }
}

/** Fee, net and fee status as stored. */
export const feeOf = async (deps: TestDeps, { paymentId }: Payment) => {
  const stored = await findStoredPayment(deps, paymentId)
  return stored?.status === 'succeeded' ? [stored.providerFeeMinor, stored.netMinor, stored.feeStatus] : []
}
