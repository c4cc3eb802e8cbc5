import type { Client } from '../../shared/client/client.ts'
import type { Deps } from '../../shared/deps.ts'
import type { MoneyRow } from '../../shared/journal/payment-money.ts'
import { less, minor, ZERO } from '../../shared/money.ts'
import type { Payment } from '../../shared/payment/payment.ts'
import { type AdjustmentInput, adjustLedger } from '../../shared/posting/adjust-ledger.ts'
import { bookTransfer } from '../../shared/posting/house-journal.ts'
import { movePayment } from '../../shared/posting/move-payment.ts'
import { entriesOf } from '../../shared/posting/payment-entries.ts'
import { finding, heldMoney } from '../../shared/suspense/record-suspense.ts'
import { writeSuspense } from '../../shared/suspense/suspense-store.ts'
import { entryKey, suspenseKey } from '../../shared/table/keys.ts'
import { alter } from './tampering.ts'
import type { TestDeps } from './test-deps.ts'
import { withApproval } from './with-approval.ts'

/** The provider's fee for a dispute, in addition to the disputed amount. */
export const DISPUTE_FEE = 25_000

/** The row takes the same amount from our account. */
export function aRefund(
  deps: TestDeps,
  amountMinor: number,
  transactionId = `refund_${crypto.randomUUID()}`,
): MoneyRow {
  return {
    type: 'refund',
    kind: 'refund',
    transactionId,
    amountMinor: minor(amountMinor),
    providerMinor: less(ZERO, minor(amountMinor)),
    at: deps.now(),
  }
}

export function bookRefund(
  deps: TestDeps,
  payment: Payment,
  amount: number,
  transactionId?: string,
) {
  return movePayment(deps, payment, aRefund(deps, amount, transactionId))
}

/** A row that the house books. */
export function aHouseRow(deps: TestDeps, transactionId: string, amount: number) {
  const amountMinor = minor(Math.abs(amount))
  return { transactionId, rowAt: deps.now(), amountMinor, providerMinor: minor(amount) }
}

export async function aWithdrawal(deps: TestDeps) {
  const row = aHouseRow(deps, 'txn-bank', -9)
  await bookTransfer(deps, row, 'withdrawal', { contradiction: undefined })
  return row
}

/** The row also takes the provider's dispute fee. */
export function aChargeback(deps: TestDeps, amountMinor: number, feeMinor = DISPUTE_FEE): MoneyRow {
  return {
    ...aRefund(deps, amountMinor, `dispute_${crypto.randomUUID()}`),
    type: 'chargeback',
    kind: 'chargeback',
    feeMinor: minor(feeMinor),
    providerMinor: minor(-amountMinor - feeMinor),
  }
}

export function aWin(deps: TestDeps, amountMinor: number): MoneyRow {
  return {
    type: 'dispute_won',
    transactionId: `won_${crypto.randomUUID()}`,
    amountMinor: minor(amountMinor),
    feeMinor: minor(500),
    providerMinor: minor(amountMinor - 500),
    at: deps.now(),
  }
}

/** A voided row: the payment's own row, or an earlier one that moved its money. */
export function aVoid(
  deps: TestDeps,
  transactionId: string,
  amountMinor: number,
  isOwnRow = false,
): MoneyRow {
  return {
    type: 'reversal',
    ...(isOwnRow && { isOwnRow: true, kind: 'voided' as const }),
    transactionId,
    amountMinor: minor(amountMinor),
    providerMinor: ZERO,
    at: deps.now(),
  }
}

/** `recovered`: the client paid back. `written_off`: the house bears it. */
export function adjustBalance(
  deps: Deps,
  { clientId }: Pick<Client, 'clientId'>,
  kind: AdjustmentInput['kind'],
  amountMinor: number,
  reference: string = deps.newId(),
  providerTransactionId?: string,
) {
  return withApproval(deps, () =>
    adjustLedger(deps, {
      clientId,
      kind,
      amountMinor: minor(amountMinor),
      reference,
      providerTransactionId,
      notes: undefined,
      operator: 'ana',
    }),
  )
}

/** A stored finding; of no payment, unless one is given. */
export async function aFinding(deps: TestDeps, about: Partial<Parameters<typeof finding>[0]> = {}) {
  const fields = { subject: 'txn-1', cause: 'fee_changed', payment: undefined } as const
  const item = finding({ ...fields, now: deps.now(), ...about })
  await writeSuspense(deps, item)
  return item
}

/** Money in suspense that is not stored yet; of no payment, unless one is given. */
export function someHeldMoney(
  deps: TestDeps,
  providerPaymentId: string,
  amount: number,
  about: Partial<Omit<Parameters<typeof heldMoney>[0], 'capture'>> = {},
) {
  const capture = { providerPaymentId, capturedMinor: minor(amount) }
  const fields = { cause: 'unknown_reference', payment: undefined } as const
  return heldMoney({ capture, ...fields, now: deps.now(), ...about })
}

export function entryOf(payment: Payment, type = 'payment') {
  const entry = entriesOf(payment).find((one) => one.type === type)
  if (entry === undefined) throw new Error(`the payment has no ${type}`)
  return entry
}

export function entryKeyOf(payment: Payment, type = 'payment') {
  return entryKey(payment.clientId, entryOf(payment, type))
}

/** Money that suspense holds for a client; its amount is no more what the register says. */
export async function halvedSuspense(deps: TestDeps, { clientId }: Pick<Client, 'clientId'>) {
  const about = { cause: 'second_capture', payment: { paymentId: undefined, clientId } } as const
  const item = someHeldMoney(deps, `py-${clientId}`, 8_000, about)
  await writeSuspense(deps, item)
  await alter(deps, suspenseKey(item.suspenseId), { amount_minor: 4_000 })
  return item
}
