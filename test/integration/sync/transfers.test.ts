/**
 * Goal: a refund that an operator made by transfer is never the house's loss in silence (design
 * sections 10 and 14): a row out that names a payment is a case, and `refund-payment` books it.
 * Method: the provider's rows as its adapter reads them, and the audits after each.
 */
import * as v from 'valibot'
import { describe, expect } from 'vitest'
import { handler as refundPayment } from '../../../functions/admin/refund-payment.ts'
import { auditGateway } from '../../../shared/audit/audit-gateway.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { TransactionPageSchema } from '../../../shared/provider/xendit/transaction-schema.ts'
import { closeSuspense, findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { invokeWhole, OPERATOR } from '../../support/operator-actions.ts'
import { beforeFirst, type TestDeps } from '../../support/test-deps.ts'
import { syncTest as it } from './sync-test.ts'

function rowOut(deps: TestDeps, shown: object) {
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

describe('a row out that names a payment', () => {
  it.for<[string, (id: string) => object]>([
    ['by its id', (id) => ({ reference_id: id })],
    ['by the reference of its attempt', (id) => ({ reference_id: `${id}-1` })],
    ['in its description', (id) => ({ reference_id: 'refund', description: `refund of ${id}` })],
    ['by a withdrawal', (id) => ({ type: 'WITHDRAWAL', reference_id: id })],
    ['by a row of an unknown type', (id) => ({ type: 'NEW_TYPE', reference_id: id })],
  ])(
    '%s is a case, and refund-payment books it',
    async ([, named], { deps, client, credited, sync }) => {
      const { paymentId } = credited.payment
      const row = rowOut(deps, named(paymentId))

      await sync(row)
      await sync()

      const caseId = `${row.transactionId}#transfer`
      expect(await findSuspense(deps, caseId)).toMatchObject({
        kind: 'case',
        cause: 'transfer',
        status: 'open',
        amountMinor: 60_000,
        paymentId,
        clientId: client.clientId,
      })
      expect(deps.published).toMatchObject([{ kind: 'suspense.case', subject: caseId }])
      expect(deps.published[0]?.message).toContain(
        `refund-payment --payment_id ${paymentId} --amount_minor 60000 --provider_transaction_id ${row.transactionId}`,
      )
      expect((await findStoredPayment(deps, paymentId))?.status === 'succeeded').toBe(true)

      const reply = await refund(deps, paymentId, row.transactionId)

      expect(reply).toMatchObject({ status: 200, body: { amount_minor: 60_000 } })
      expect(await findSuspense(deps, caseId)).toMatchObject({
        status: 'resolved',
        resolution: 'refunded',
      })
      expect(await findStoredPayment(deps, paymentId)).toMatchObject({
        takenBackMinor: 60_000,
        reversal: { kind: 'refund', amountMinor: 60_000 },
      })
      expect((await auditGateway(deps)).differences).toStrictEqual([])
    },
  )

  it('twice are two cases: the second refund takes what is left, not more', async ({
    deps,
    credited,
    sync,
  }) => {
    const { paymentId } = credited.payment
    const rows = [
      rowOut(deps, { reference_id: paymentId }),
      rowOut(deps, { reference_id: paymentId }),
    ]
    await sync(...rows)

    const replies = []
    for (const { transactionId } of rows) replies.push(await refund(deps, paymentId, transactionId))

    expect(replies).toMatchObject([{ status: 200 }, { status: 422 }])
    const states = await Promise.all(
      rows.map(({ transactionId }) => findSuspense(deps, `${transactionId}#transfer`)),
    )
    expect(states).toMatchObject([{ status: 'resolved' }, { status: 'open' }])
  })

  it('is closed once: an operator closes the case while the refund is written', async ({
    deps,
    credited,
    sync,
  }) => {
    const { paymentId } = credited.payment
    const row = rowOut(deps, { reference_id: paymentId })
    await sync(row)
    const item = await findSuspense(deps, `${row.transactionId}#transfer`)
    if (item === undefined) throw new Error('there is no case')
    const busy = beforeFirst(deps, 'transact', () =>
      deps.table.write(closeSuspense(item, { status: 'resolved', resolution: 'explained' })),
    )

    expect(await refund(busy, paymentId, row.transactionId)).toMatchObject({ status: 200 })

    expect(await findSuspense(deps, item.suspenseId)).toMatchObject({ resolution: 'explained' })
  })

  it('money in, or a row that failed, is no case', async ({ deps, credited, sync }) => {
    const { paymentId } = credited.payment
    await sync(
      rowOut(deps, {
        reference_id: `about ${paymentId}`,
        cashflow: 'MONEY_IN',
        type: 'TRANSFER_IN',
      }),
      rowOut(deps, { reference_id: paymentId, status: 'FAILED' }),
    )

    expect(deps.stored.items('SUSPENSE#').filter(({ kind }) => kind === 'case')).toStrictEqual([])
  })
})

function refund(deps: TestDeps, paymentId: string, transactionId: string) {
  return invokeWhole(refundPayment, deps, {
    operator: OPERATOR,
    payment_id: paymentId,
    amount_minor: 60_000,
    provider_transaction_id: transactionId,
  })
}
