import type { Client } from '../../shared/client/client.ts'
import { minor } from '../../shared/money.ts'
import type { Payment } from '../../shared/payment/payment.ts'
import type { MoneyBack } from '../../shared/reversal/plan-reversal.ts'
import { reversePayment } from '../../shared/reversal/reverse-payment.ts'
import { undoReversal } from '../../shared/reversal/undo-reversal.ts'
import type { Settlement } from '../../shared/settlement/settlement.ts'
import { settlementStatement } from '../../shared/settlement/statement/settlement-statement.ts'
import { readWindow } from '../../shared/settlement/window-store.ts'
import { toSuspenseDto } from '../../shared/suspense/suspense-dto.ts'
import { findSuspense } from '../../shared/suspense/suspense-store.ts'
import { addMs, MINUTE_MS } from '../../shared/time.ts'
import { ledgerView } from './ledger-view.ts'
import { aDayLater, aSucceededPayment, sweptNow, withFloor } from './settlement-builders.ts'
import type { TestDeps } from './test-deps.ts'

export const disputed = ({ paymentId, notionalMinor }: Payment, time = 1): MoneyBack => ({
  transactionId: `cb${time}_${paymentId}`,
  kind: 'chargeback',
  // The provider's fee for a dispute is in the row, and kept.
  amountMinor: minor(notionalMinor + 25_000),
})

export const won = (deps: TestDeps, payment: Payment, time = 1, amountMinor = payment.notionalMinor) =>
  undoReversal(deps, payment, { transactionId: `won${time}_${payment.paymentId}`, amountMinor })

/** Two payments, 95,900 and 45,950 net, a minute apart. */
export const paidTwo = async (deps: TestDeps, fields: Parameters<typeof aSucceededPayment>[2] = {}) => {
  const client = await withFloor(deps)
  const first = await aSucceededPayment(deps, client, fields)
  deps.clock.set(addMs(deps.now(), MINUTE_MS))
  return { client, first, second: await aSucceededPayment(deps, client, { notionalMinor: 50_000 }) }
}

export const settledTwo = async (deps: TestDeps) => {
  const paid = await paidTwo(deps)
  aDayLater(deps)
  return { ...paid, settlement: await sweptNow(deps, paid.client) }
}

export const dispute = (deps: TestDeps, payment: Payment, time = 1) =>
  reversePayment(deps, payment, disputed(payment, time))

export const owed = async (deps: TestDeps, id: string) => {
  const item = await findSuspense(deps, id)
  return item && toSuspenseDto(item)
}

export const owedFor = (deps: TestDeps, { paymentId }: Payment, time = 1) =>
  owed(deps, `cb${time}_${paymentId}#reversed_after_settlement`)

export const figures = async (deps: TestDeps, { clientId }: Pick<Client, 'clientId'>) => {
  const { availableMinor, inSettlementMinor, paidOutMinor, reversedSweptMinor } = await readWindow(deps, clientId)
  const { pendingMinor } = await ledgerView(deps, clientId)
  return [pendingMinor, availableMinor, inSettlementMinor, paidOutMinor, reversedSweptMinor ?? 0]
}

export const statement = (deps: TestDeps, { settlementId }: Settlement) =>
  settlementStatement(deps, { settlementId, cursor: undefined, format: 'json' })
