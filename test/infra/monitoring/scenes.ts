import { handler as auditClient } from '../../../functions/queue/audit-client.ts'
import { handler as deliverWebhook } from '../../../functions/queue/deliver-webhook.ts'
import { handler as settleClient } from '../../../functions/queue/settle-client.ts'
import { handler as syncSlices } from '../../../functions/queue/sync-slices.ts'
import { handler as sweepSettlements } from '../../../functions/schedule/sweep-settlements.ts'
import { handler as syncProviderTransactions } from '../../../functions/schedule/sync-provider-transactions.ts'
import { referenceOf } from '../../../shared/ids.ts'
import { moveOpenCredit } from '../../../shared/ledger/shard-store.ts'
import { minor } from '../../../shared/money.ts'
import type { Payment } from '../../../shared/payment/payment.ts'

import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { API, anApiClient, aPaymentBody, call, sendCapture } from '../../support/api-event.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { withoutFloor } from '../../support/settlement-builders.ts'
import { notifyOf } from '../../support/synced-payment.ts'
import { type MemoryDeps, withoutTopic } from '../../support/test-deps.ts'
import {
  drainQueue,
  FAILED,
  messageFor,
  storedDelivery,
  storedEndpoint,
} from '../../support/webhook-builders.ts'
import { answerLate, DUE_WORKERS, handOver, run, runDueWork, type Scene } from './watched-world.ts'

/** The life of a virtual account, and a little more. */
const A_DAY_S = 25 * 60 * 60

export async function refuseCreate(deps: MemoryDeps) {
  deps.provider.answer('createRequest', { kind: 'refused', code: 'INVALID_VALUE_ERROR' })
  // Less than the channel takes: this explains the refusal.
  await createByApi(deps, { amount: 9_999 })
}

async function createByApi(deps: MemoryDeps, fields: Parameters<typeof aPaymentBody>[0] = {}) {
  const body = aPaymentBody(fields)
  return call(deps, API.createPayment, { caller: await anApiClient(deps), body })
}

async function createNotActivated(deps: MemoryDeps) {
  deps.provider.answer('createRequest', {
    kind: 'refused',
    code: 'CHANNEL_NOT_ACTIVATED',
    isNotActivated: true,
  })
  await createByApi(deps)
}

async function refuseCreates(deps: MemoryDeps) {
  await createByApi(deps)
  deps.provider.answer('createRequest', {
    kind: 'refused',
    code: 'INVALID_API_KEY',
    isAccountWide: true,
  })
  await createByApi(deps)
  await refuseCreate(deps)
}

async function createAndPay(deps: MemoryDeps) {
  const payment = await aPending(deps)
  await callBack(deps, payment, deps.provider.pay(payment.paymentRequestId))
}

async function aPending(deps: MemoryDeps) {
  return aPendingPayment(deps, await aStoredClient(deps))
}

async function callBack(deps: MemoryDeps, payment: Payment, providerPaymentId: string) {
  return sendCapture(deps, {
    payment_id: providerPaymentId,
    payment_request_id: payment.paymentRequestId,
    reference_id: referenceOf(payment.paymentId, 1),
    status: 'SUCCEEDED',
  })
}

async function announceLate(deps: MemoryDeps) {
  const endpoint = await storedEndpoint(deps)
  const paidAt = addMs(deps.now(), -3 * MINUTE_MS)
  await deliver(deps, await storedDelivery(deps, endpoint, { firedAt: paidAt, createdAt: paidAt }))
}

async function passMinutes(deps: MemoryDeps, count: number) {
  for (let minute = 0; minute < count; minute++) {
    deps.clock.advance(60)
    await runDueWork(deps)
  }
}

async function deliver(deps: MemoryDeps, delivery: Parameters<typeof messageFor>[0]) {
  const {
    deliveryId: delivery_id,
    attempt,
    clientId: client_id,
    endpointId: endpoint_id,
  } = messageFor(delivery)
  const message = { delivery_id, attempt, client_id, endpoint_id }
  await handOver(deliverWebhook, deps, [message], 'deliver-webhook')
}

async function abandonDelivery(deps: MemoryDeps) {
  deps.answerWebhooks(async () => FAILED)
  await deliver(deps, await storedDelivery(deps, await storedEndpoint(deps)))
  await drainQueue(deps)
}

const UNREACHABLE = { kind: 'unanswered', reason: 'unreachable' } as const
const UNREADABLE = ['not a message of ours']

/** No client may be credited with this payment. */
async function payWrongAmount(deps: MemoryDeps) {
  const { paymentRequestId } = await aPending(deps)
  const providerPaymentId = deps.provider.pay(paymentRequestId, 99_999)
  await notifyOf(deps, providerPaymentId)
}

async function sweepTwice(deps: MemoryDeps) {
  await run(sweepSettlements, deps)
  await aStoredClient(deps)
  await run(sweepSettlements, deps)
}

export const SCENES: Readonly<Record<string, Scene>> = {
  'creates-answered': refuseCreates,

  'creates-refused': refuseCreates,
  'api-errors': createNotActivated,

  'canary-server-errors': createNotActivated,
  'money-not-moving': createAndPay,
  'callbacks-missing': async (deps) => {
    await createAndPay(deps)
    const { paymentRequestId } = await aPending(deps)
    deps.provider.pay(paymentRequestId)
    deps.clock.advance(A_DAY_S)
    await runDueWork(deps)
  },
  'provider-failing': async (deps) => {
    const { paymentRequestId } = await aPending(deps)
    deps.provider.close(paymentRequestId, 'expired')
    deps.clock.advance(A_DAY_S)
    answerLate(deps, 'getRequest', UNREACHABLE)
    await runDueWork(deps)
    answerLate(deps, 'cancelRequest', UNREACHABLE)
    deps.clock.advance(A_DAY_S)
    await runDueWork(deps)
    const payment = await aPending(deps)
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
    answerLate(deps, 'getPayment', { kind: 'unanswered', reason: 'server_error' })
    await callBack(deps, payment, providerPaymentId)
  },
  'webhooks-in-time': announceLate,

  'deliveries-failing': async (deps) => {
    await deliver(deps, await storedDelivery(deps, await storedEndpoint(deps)))
    await abandonDelivery(deps)
  },
  'deliveries-late': async (deps) => {
    await storedDelivery(deps, await storedEndpoint(deps))
    // No worker takes the messages.
    await passMinutes(deps, 15)
  },
  'settled-in-time': async (deps) => {
    await sweepTwice(deps)
    await handOver(settleClient, deps, UNREADABLE, 'settle-client')
  },

  'alerts-late': async (deps) => {
    await payWrongAmount(withoutTopic(deps))
    await passMinutes(withoutTopic(deps), 30)
  },
  'payment-checks-late': async (deps) => {
    await aPending(deps)
    deps.clock.advance(A_DAY_S)
    await runDueWork(deps)
  },
  'due-work-not-running': runDueWork,
  'work-failing': async (deps) => {
    await aPending(deps)
    deps.clock.advance(A_DAY_S)
    deps.provider.script('cancelRequest', () => Promise.reject(new Error('something unforeseen')))
    await runDueWork(deps)
    await handOver(deliverWebhook, deps, UNREADABLE, 'deliver-webhook')
    await handOver(settleClient, deps, UNREADABLE, 'settle-client')
    await handOver(syncSlices, deps, UNREADABLE, 'sync-slices')
    await handOver(auditClient, deps, UNREADABLE, 'audit-client')
    for (const [worker, handler] of DUE_WORKERS) await handOver(handler, deps, UNREADABLE, worker)
  },
  'sweep-not-run': sweepTwice,
  // A failed read is repeated half an hour later.
  'sync-late': async (deps) => {
    answerLate(deps, 'listTransactions', UNREACHABLE)
    await run(syncProviderTransactions, deps)
    deps.provider.heal('listTransactions')
    deps.clock.advance(30 * 60)
    await run(syncProviderTransactions, deps)
  },
  'provider-refuses-calls': async (deps) => {
    const refusal = { kind: 'unanswered', reason: 'refused', code: 'API_VALIDATION_ERROR' } as const
    deps.provider.answer('listTransactions', refusal)
    await run(syncProviderTransactions, deps)
  },
  'suspense-flood': payWrongAmount,
  'audit-not-run': async (deps) => {
    const { clientId } = await withoutFloor(deps)
    const messages = [{ client_id: clientId }, { gateway: true }]
    await handOver(auditClient, deps, messages, 'audit-client')
  },
  'audit-imbalance': async (deps) => {
    const client = await withoutFloor(deps)
    const payment = await aSucceededPayment(deps, client)
    await deps.table.write(moveOpenCredit(payment, minor(1), deps.now()))
    await handOver(auditClient, deps, [{ client_id: client.clientId, again: true }], 'audit-client')
  },
}
