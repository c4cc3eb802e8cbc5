import { issueApiKey, revokeApiKey } from '../../../shared/client/api-key-store.ts'
import { changeClient } from '../../../shared/client/client-store.ts'
import { type ClientId } from '../../../shared/ids.ts'
import { shardOf as shardKeyOf } from '../../../shared/ledger/shard-store.ts'
import { minor } from '../../../shared/money.ts'
import { cancelPayment, expirePayment } from '../../../shared/payment/news/cancel-payment.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { payoutFile } from '../../../shared/payout/payout-file.ts'
import { bookSuspense } from '../../../shared/posting/house-journal.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { resolveSuspense } from '../../../shared/posting/resolve-suspense.ts'
import { writeSuspense } from '../../../shared/suspense/suspense-store.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { update } from '../../../shared/table/step.ts'
import { addMs, DAY_MS, MINUTE_MS, type Timestamp } from '../../../shared/time.ts'
import {
  deleteEndpoint,
  registerEndpoint,
} from '../../../shared/webhook/endpoint/change-endpoint.ts'
import { NOT_SETTLED } from '../../support/fake-provider.ts'
import {
  aChargeback,
  adjustBalance,
  aHouseRow,
  bookRefund,
  someHeldMoney,
} from '../../support/money-rows.ts'
import { aPendingPayment } from '../../support/payment-builders.ts'
import {
  auditedNow,
  BANK,
  BY_OPERATOR,
  fail,
  payOut,
  recredit,
  sweptNow,
  trigger,
} from '../../support/settlement-builders.ts'
import {
  aSyncWorld,
  creditedPayment,
  notifyOf,
  type PaidUpstream,
  paidUpstream,
  paymentOf,
  rowNow,
} from '../../support/synced-payment.ts'
import { type TestDeps } from '../../support/test-deps.ts'
import { withApproval } from '../../support/with-approval.ts'

const HOUR = 3_600
const DAY = 24 * HOUR

/**
 * The books of a client that has been through everything: every status, an actual, an estimated and
 * an assumed fee, settlements that were paid, failed and re-credited (the next settlement carries
 * the first re-credit, the second re-credit waits), money that went back before and after its
 * settlement, money in suspense, and an open tail. Answers its payments and settlements by name.
 */
export async function auditedHistory(givenDeps?: TestDeps) {
  const world = await aSyncWorld(givenDeps)
  const { deps, client, rows } = world
  const { clientId } = client
  deps.clock.advance(1)
  await registerAndDelete(deps, clientId)
  await changeClient(deps, { clientId, operator: BY_OPERATOR.operator, changes: { bank: BANK } })
  const suspendMoney = async (providerPaymentId: string, rowAt: Timestamp) => {
    const about = { cause: 'second_capture', payment: settledActual.payment } as const
    const item = someHeldMoney(deps, providerPaymentId, 30_000, about)
    await writeSuspense(deps, item)
    const row = aHouseRow(deps, `txn-${providerPaymentId}`, 29_000)
    await bookSuspense(deps, item, { ...row, rowAt })
    return item.suspenseId
  }
  const syncFees = async (...payments: readonly PaidUpstream[]) => {
    deps.clock.advance(60)
    for (const payment of payments) rows.push(rowNow(deps, payment))
    await syncProviderTransactions(deps)
  }

  // A payment with an actual fee, in a settlement that failed; an operator starts the settlement
  // that carries its sums.
  const settledActual = await creditedPayment(deps, client, {
    customer: { name: 'Siti' },
    description: 'kopi',
  })
  await syncFees(settledActual)
  deps.clock.advance(DAY)
  const failedSettlement = await sweptNow(deps, client)
  deps.clock.advance(60)
  await fail(deps, failedSettlement)
  deps.clock.advance(60)
  await recredit(deps, failedSettlement)
  deps.clock.advance(60)
  const carryingSettlement = await trigger(deps, client)
  deps.clock.advance(60)
  const toPay = carryingSettlement ?? failedSettlement
  await auditedNow(deps, toPay)
  await payoutFile(deps, { ...BY_OPERATOR, format: 'csv' })
  const paidSettlement = await payOut(deps, toPay)

  // A payment whose fee was never known, settled on the estimate after seven days; not paid out
  // yet.
  deps.clock.advance(HOUR)
  const settledAssumed = await creditedPayment(deps, client, {
    method: 'qris',
    channelCode: undefined,
  })
  deps.clock.advance(8 * DAY)
  const recordedSettlement = await sweptNow(deps, client)

  // A failed settlement whose funds wait in the available balance.
  await syncFees(await creditedPayment(deps, client))
  deps.clock.advance(DAY)
  const waitingSettlement = await sweptNow(deps, client)
  await fail(deps, waitingSettlement)
  deps.clock.advance(60)
  await recredit(deps, waitingSettlement)

  // Reversals: a part of an open payment, and a whole payment after its settlement.
  const refunded = await creditedPayment(deps, client)
  await bookRefund(deps, await paymentOf(deps, refunded), 10_000)
  await syncFees(refunded)
  await movePayment(deps, await paymentOf(deps, settledActual), aChargeback(deps, 100_000))
  await adjustBalance(deps, client, 'correction', 5_000)

  // Money in suspense. The amount that is still held has the oldest row that the sync reads. The
  // amount that was refunded by bank has a row of tomorrow.
  const rowAt = addMs(deps.now(), -180 * DAY_MS)
  const heldId = await suspendMoney('py-held', rowAt)
  const refundedByBank = await suspendMoney('py-refunded', addMs(deps.now(), DAY_MS))
  await withApproval(deps, () =>
    resolveSuspense(deps, {
      suspenseId: refundedByBank,
      ...BY_OPERATOR,
      resolution: 'refunded_by_bank',
    }),
  )

  // Payments that no settlement has taken yet.
  deps.clock.advance(HOUR)
  const estimated = await creditedPayment(deps, client, {
    metadata: '{"table":12345678901234567890}',
  })
  const corrected = await creditedPayment(deps, client)
  rows.push(rowNow(deps, estimated, NOT_SETTLED))
  await syncFees(corrected)
  const knownAtOnce = await paidUpstream(deps, client)
  rows.push(rowNow(deps, knownAtOnce))
  await notifyOf(deps, knownAtOnce.providerPaymentId)
  const pending = { payment: await aPendingPayment(deps, client) }
  const failedPayment = {
    payment: await aPendingPayment(deps, client, { notionalMinor: minor(70_000) }),
  }
  const expired = { payment: await aPendingPayment(deps, client, { expiresInSeconds: 60 }) }
  const cancelled = { payment: await aPendingPayment(deps, client) }
  deps.clock.advance(60)
  await closePayment(deps, failedPayment.payment, { status: 'failed', source: 'callback' })
  await expirePayment(deps, expired.payment, 'due_work')
  await cancelPayment(deps, { clientId, id: cancelled.payment.paymentId })
  deps.clock.advance(60)

  // The machine that credited this payment has a clock that is five minutes ahead.
  await deps.table.write(
    update(shardKeyOf(corrected.payment), {
      set: { creditedAt: addMs(deps.now(), 5 * MINUTE_MS) },
    }),
  )

  const credited = { settledActual, settledAssumed, refunded, estimated, corrected, knownAtOnce }
  const created = { ...credited, pending, failedPayment, expired, cancelled }
  const payments = Object.fromEntries(
    await Promise.all(
      Object.entries(created).map(
        async ([name, payment]) => [name, await paymentOf(deps, payment)] as const,
      ),
    ),
  )
  const settlements = {
    failed: failedSettlement,
    paid: paidSettlement,
    recorded: recordedSettlement,
    waiting: waitingSettlement,
  }
  return {
    deps,
    client,
    payments,
    settlements,
    suspense: { held: heldId, refundedByBank },
    houseRowAt: rowAt,
  }
}

/** A key and an endpoint in use, and others that are not any more. */
async function registerAndDelete(deps: TestDeps, clientId: ClientId) {
  const [url, eventTypes] = ['https://merchant.example/hooks', ['*', 'payment.reversed']]
  const { operator } = BY_OPERATOR
  const register = () =>
    registerEndpoint(deps, { clientId, operator, url, eventTypes: [...eventTypes] })
  await register()
  const { endpoint: former } = await register()
  await deleteEndpoint(deps, { clientId, endpointId: former.endpointId, operator })
  await issueApiKey(deps, { clientId, operator })
  const { key } = await issueApiKey(deps, { clientId, operator, expiresInSeconds: DAY })
  await revokeApiKey(deps, { clientId, keyId: key.keyId, operator })
}
