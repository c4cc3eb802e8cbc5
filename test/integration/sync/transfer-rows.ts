import * as v from 'valibot'
import { TransactionPageSchema } from '../../../shared/provider/xendit/transaction-schema.ts'
import { invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import type { TestDeps } from '../../support/test-deps.ts'

/** A row for money out as the adapter reads it. */
export function rowOut(deps: TestDeps, shown: object) {
  const id = `txn_${crypto.randomUUID()}`
  const row = {
    id,
    type: 'DISBURSEMENT',
    status: 'SUCCESS',
    currency: 'IDR',
    amount: 60_000,
    net_amount: 60_000,
    cashflow: 'MONEY_OUT',
    created: deps.now(),
    updated: deps.now(),
    fee: { status: 'COMPLETED', xendit_fee: 0, value_added_tax: 0 },
    ...shown,
  }
  const [transaction] = v.parse(TransactionPageSchema, { data: [row] }).transactions
  if (transaction === undefined) throw new Error('the adapter cannot read the row')
  return transaction
}

/** What a row for money out shows when its fee is final. */
export const FINAL = {
  net_amount: 62_500,
  fee: { status: 'COMPLETED', xendit_fee: 2_500, value_added_tax: 0 },
}

/** An operator books the row as a refund of the payment. */
export function refund(deps: TestDeps, paymentId: string, transactionId: string, amount = 60_000) {
  return invokeAdmin('refund-payment', deps, {
    operator: OPERATOR,
    payment_id: paymentId,
    amount_minor: amount,
    provider_transaction_id: transactionId,
  })
}
