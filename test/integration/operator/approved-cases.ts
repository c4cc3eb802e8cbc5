import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { shardKey } from '../../../shared/table/keys.ts'
import { aWithdrawal } from '../../support/money-rows.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { fail, payOut, settledAmount, withoutFloor } from '../../support/settlement-builders.ts'
import { alter } from '../../support/tampering.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { bookedItem } from '../payment/suspense-test.ts'
import { approve } from './approved-for.ts'

type Case = readonly [
  name: string,
  prepare: (deps: TestDeps) => Promise<{ action: string; input: object }>,
]

/** A repeat answers what is booked. */
export const REPEATABLE: readonly Case[] = [
  [
    'a correction upwards',
    async (deps) => {
      const { clientId: client_id } = await withoutFloor(deps)
      const figures = { kind: 'correction', amount_minor: 1, reference: "it's" }
      return { action: 'adjust-ledger', input: { client_id, ...figures } }
    },
  ],
  [
    'an invoice of the house',
    async () => {
      const legs = { bank_minor: -4_500, cost_minor: -4_500 }
      return { action: 'adjust-house', input: { ...legs, reference: 'INV-1' } }
    },
  ],
  [
    'a refund by our bank',
    async (deps) => {
      const payment = await aSucceededPayment(deps, await withoutFloor(deps))
      const input = { payment_id: payment.paymentId, amount_minor: 1, bank_reference: 'R1' }
      return { action: 'refund-payment', input }
    },
  ],
  // Our bank loses both.
  [
    'a refund by the row of a withdrawal',
    async (deps) => {
      const payment = await aSucceededPayment(deps, await withoutFloor(deps))
      const { transactionId: provider_transaction_id } = await aWithdrawal(deps)
      const input = { payment_id: payment.paymentId, amount_minor: 9, provider_transaction_id }
      return { action: 'refund-payment', input }
    },
  ],
  [
    'a correction downwards by the row of a withdrawal',
    async (deps) => {
      const { clientId: client_id } = await withoutFloor(deps)
      const { transactionId: provider_transaction_id } = await aWithdrawal(deps)
      const figures = { kind: 'correction', amount_minor: -1, reference: 'W' }
      return { action: 'adjust-ledger', input: { client_id, ...figures, provider_transaction_id } }
    },
  ],
]

/** Each action that needs an approval, ready for it. */
export const CASES: readonly Case[] = [
  ...REPEATABLE,
  [
    'a re-credit, though the payout of its settlement is approved',
    async (deps) => {
      const client = await withoutFloor(deps)
      const { settlementId } = await fail(deps, await settledAmount(deps, client))
      const payload = { settlement_id: settlementId }
      await approve(deps, { action: 'mark-settlement-paid', payload })
      return { action: 'recredit-settlement', input: { ...payload, notes: 'refused' } }
    },
  ],
  [
    'a refund of held money by our bank',
    async (deps) => {
      const { suspenseId: suspense_id } = await bookedItem(deps)
      return { action: 'resolve-suspense', input: { suspense_id, resolution: 'refunded_by_bank' } }
    },
  ],
  [
    'a payout that came back',
    async (deps) => {
      const { settlementId } = await payOut(
        deps,
        await settledAmount(deps, await withoutFloor(deps)),
      )
      const input = { settlement_id: settlementId, bank_reference: 'R1', value_date: '2026-11-23' }
      return { action: 'return-payout', input }
    },
  ],
  [
    'an accepted difference',
    async (deps) => {
      const { clientId } = await withoutFloor(deps)
      const shard = shardKey(clientId, 3)
      await alter(deps, shard, { credited_minor: 1 })
      const { differences } = await auditLedger(deps, clientId)
      return {
        action: 'accept-difference',
        input: { client_id: clientId, ...differences[0], notes: 'x' },
      }
    },
  ],
]
