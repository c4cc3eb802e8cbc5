import type { Client } from '../../shared/client/client.ts'
import type { Deps } from '../../shared/deps.ts'
import { minor } from '../../shared/money.ts'
import { approve } from '../../shared/operator/approve.ts'
import type { Payment } from '../../shared/payment/payment.ts'
import { findStoredPayment } from '../../shared/payment/payment-store.ts'
import { markSettlementPaid } from '../../shared/payout/mark-settlement-paid.ts'
import { payoutFile } from '../../shared/payout/payout-file.ts'
import type { Adjustment } from '../../shared/posting/adjustment-store.ts'
import type { ProviderTransaction } from '../../shared/provider/provider.ts'
import { settleClient } from '../../shared/settlement/settle-client.ts'
import type { Settlement } from '../../shared/settlement/settlement.ts'
import type { HistorySteps } from '../../shared/stage-settings.ts'
import { reconcileTransaction } from '../../shared/sync/reconcile-transaction.ts'
import { addMs, DAY_MS, HOUR_MS, type Timestamp } from '../../shared/time.ts'
import { settledRow } from '../support/fake-provider.ts'
import { adjustBalance } from '../support/money-rows.ts'
import {
  aDigestOfShard,
  anOpenPayment,
  aSucceededPayment,
  postAssumed,
} from '../support/paid-builders.ts'
import {
  auditedNow,
  BANK,
  BY_OPERATOR,
  fail,
  sweptADayLater,
  withoutFloor,
} from '../support/settlement-builders.ts'
import { ASK } from '../support/synced-payment.ts'
import { memoryDeps } from '../support/test-deps.ts'
import { APPROVER, withApproval } from '../support/with-approval.ts'
import { baseOf } from './partial-table.ts'
import { type Act, chance } from './scheduler.ts'

const DISPUTED = 40_000

export async function busyClient() {
  const deps = memoryDeps(chance('world'))
  const client = await withoutFloor(deps, { bank: BANK })
  // Two shards have all payments: the shard of adjustments, and one more shard.
  const disputed = await aSucceededPayment(deps, client, {
    keyDigest: aDigestOfShard(client, 5, 1),
  })
  const failed = await fail(deps, await sweptADayLater(deps, client))
  const paid = await aSucceededPayment(deps, client, { keyDigest: aDigestOfShard(client, 5, 2) })
  const recorded = await sweptADayLater(deps, client)
  await auditedNow(deps, recorded)
  const chargeback = rowOf(disputed, deps.now(), {
    type: 'return',
    reversalKind: 'chargeback',
    transactionId: `dispute_${disputed.paymentId}`,
    // The chargeback includes the fee for the dispute.
    amountMinor: minor(DISPUTED + 5_000),
    disputedMinor: minor(DISPUTED),
  })
  await reconcile(chargeback, disputed)(deps)
  await adjust(client, 'written_off', 20_000, 'given up')(deps)
  for (let at = 0; at < 3; at++) {
    await aSucceededPayment(deps, client, {
      keyDigest: aDigestOfShard(client, at % 2 === 0 ? 5 : 0, 10 + at),
      notionalMinor: 50_000,
    })
    deps.clock.pass(10)
  }
  const assumed = await postAssumed(
    deps,
    await anOpenPayment(deps, client, { keyDigest: aDigestOfShard(client, 5, 3) }),
  )
  const anOpen = (shard: number, number: number) =>
    anOpenPayment(deps, client, {
      keyDigest: aDigestOfShard(client, shard, number),
      notionalMinor: 100_000 + number,
    })
  const open = [await anOpen(5, 4), await anOpen(5, 5), await anOpen(0, 6)] as const
  deps.clock.pass(DAY_MS + HOUR_MS)
  await approveActions(deps, client, [failed, recorded])
  const now = async (payment: Payment) => {
    const stored = await findStoredPayment(deps, payment.paymentId)
    return stored?.status === 'succeeded' ? stored : payment
  }
  return {
    base: baseOf(deps.stored.items()),
    now: deps.now(),
    client,
    /** A payment in a settlement that is recorded and audited. */
    paid: await now(paid),
    /** A payment in the failed settlement; a chargeback took a part of it back. */
    disputed: await now(disputed),
    /** Open payments with settled rows at the provider; the first two are of one shard. */
    open,
    /** A payment that was posted without its settled row. */
    assumed,
    recorded,
    failed,
  }
}

function rowOf(payment: Payment, at: Timestamp, fields: Partial<ProviderTransaction>) {
  return settledRow(
    {
      providerPaymentId: payment.capture?.providerPaymentId ?? '',
      reference: `${payment.paymentId}-1`,
    },
    at,
    { amountMinor: payment.notionalMinor, keptMinor: undefined, ...fields },
  )
}

export type BusyClient = Awaited<ReturnType<typeof busyClient>>

/** A row that cannot be decided yet is read again. */
export function reconcile(row: ProviderTransaction, payment: Payment): Act {
  return async (deps) => {
    for (let looks = 0; looks < 3; looks++) {
      const stored = await findStoredPayment(deps, payment.paymentId)
      const known = stored?.status === 'creating' ? undefined : stored
      if ((await reconcileTransaction(deps, { transaction: row, payment: known }, ASK)) !== 'open')
        return
      await deps.sleep(1_000)
    }
  }
}

/** So the searched schedules begin with the actions, and not with their approvals. */
async function approveActions(
  deps: Deps,
  { clientId }: Client,
  settlements: readonly Pick<Settlement, 'settlementId'>[],
) {
  for (const { settlementId } of settlements)
    await approve(deps, {
      action: 'recredit-settlement',
      payload: { settlement_id: settlementId },
      operator: APPROVER,
    })
  for (const [kind, amount, reference] of APPROVED_ADJUSTMENTS)
    await approve(deps, {
      action: 'adjust-ledger',
      payload: { client_id: clientId, kind, amount_minor: amount, reference },
      operator: APPROVER,
    })
}

const APPROVED_ADJUSTMENTS = [
  ['correction', 7_000, 'a fee'],
  ['correction', 9_000, 'another fee'],
] as const

export function adjust(
  client: Client,
  kind: Adjustment['kind'],
  amountMinor: number,
  reference: string,
): Act {
  return (deps) => adjustBalance(deps, client, kind, amountMinor, reference)
}

const FROZEN_MS = 2_000

/** The process has read the payment and the time long ago: it only writes. */
export function reconcileFrozen(row: ProviderTransaction, payment: Payment): Act {
  return async (deps) => {
    const now = addMs(deps.now(), -FROZEN_MS)
    await reconcileTransaction({ ...deps, now: () => now }, { transaction: row, payment }, ASK)
  }
}

/** More than any window of these scenarios takes. */
const MAX_RUNS = 9

/**
 * One client's part of the sweep, by a process whose clock may be ahead. Runs follow one another
 * until the whole window is summed.
 */
export function settle(
  { clientId }: Client,
  { aheadMs = 0, steps }: { readonly aheadMs?: number; readonly steps?: HistorySteps } = {},
): Act {
  return async (deps) => {
    const own = {
      ...deps,
      now: () => addMs(deps.now(), aheadMs),
      ...(steps && { stage: { ...deps.stage, historySteps: steps } }),
    }
    for (let runs = 0; runs < MAX_RUNS; runs++) {
      if (!(await settleClient(own, clientId, {})).isContinuing) return
    }
    throw new Error('a window is never summed')
  }
}

export function pay({ settlementId }: Settlement): Act {
  return async (deps) => {
    const bankReference = `BCA ${settlementId}`
    await withApproval(deps, () =>
      markSettlementPaid(deps, { settlementId, ...BY_OPERATOR, bankReference }),
    )
  }
}

export async function makeBatch(deps: Deps) {
  await payoutFile(deps, { ...BY_OPERATOR, format: 'csv' })
}

/** Its fee differs from the tariff's 4,000. */
export function ownRow(payment: Payment, at: Timestamp) {
  return rowOf(payment, at, { transactionId: `txn_${payment.paymentId}`, keptMinor: minor(4_440) })
}

export function voidRow(payment: Payment, at: Timestamp) {
  return rowOf(payment, at, {
    transactionId: `txn_${payment.paymentId}`,
    status: 'reversed',
    reversalKind: 'voided',
    providerMinor: minor(0),
  })
}

export function refundRow(payment: Payment, at: Timestamp, amount: number) {
  return rowOf(payment, at, {
    type: 'return',
    reversalKind: 'refund',
    transactionId: `refund_${payment.paymentId}_${amount}`,
    amountMinor: minor(amount),
  })
}

export function wonRow(payment: Payment, at: Timestamp, amount = DISPUTED) {
  return rowOf(payment, at, {
    type: 'correction',
    isDisputeWon: true,
    transactionId: `won_${payment.paymentId}_${amount}`,
    amountMinor: minor(amount),
  })
}
