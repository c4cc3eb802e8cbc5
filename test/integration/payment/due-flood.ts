import { expect } from 'vitest'
import { handler as dueAlerts } from '../../../functions/queue/check-due-alerts.ts'
import { handler as dueDeliveries } from '../../../functions/queue/check-due-deliveries.ts'
import { handler as duePayments } from '../../../functions/queue/check-due-payments.ts'
import type { Client } from '../../../shared/client/client.ts'
import { minor } from '../../../shared/money.ts'
import type { Payment, PaymentRequest } from '../../../shared/payment/payment.ts'
import type { QueueName } from '../../../shared/queues.ts'
import { heldMoney } from '../../../shared/suspense/record-suspense.ts'
import { putSuspense } from '../../../shared/suspense/suspense-store.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { type MemoryDeps, memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'

export const LIFE_S = 600
export const NOTHING = { alert: 0, delivery: 0, payment: 0, audit: 0 }

/** Unpaid payments, all in one slot, so that one worker has them all. By default only a cancel ends them. */
export const unpaid = async (
  deps: TestDeps,
  client: Client,
  count: number,
  request: Partial<PaymentRequest> = { method: 'qris', channelCode: undefined, expiresInSeconds: LIFE_S },
) => {
  const payments: Payment[] = []
  for (let made = 0; made < count; made++) payments.push(await aPendingPayment(deps, client, request))
  for (const { paymentId } of payments) await deps.table.write(update(paymentKey(paymentId), { set: { slot: 3 } }))
  return payments
}

/** `count` pending payments of one client, due now. `expired`: how many of them have ended. */
export const aFlood = async (count: number, providerCallsPerMinute = 600) => {
  const deps = memoryDeps({ stage: { providerCallsPerMinute } })
  const payments = await unpaid(deps, await aStoredClient(deps), count)
  deps.clock.advance(LIFE_S)
  return { deps, payments, expired: () => expiredIn(deps, payments), worker: (as: TestDeps = deps) => workerOf(as) }
}

/** A worker of their slot. */
export const workerOf = (deps: TestDeps) => workOn(deps, 'due-payments', { slot: 3, part: 0, parts: 1 })

const WORKERS = { 'due-payments': duePayments, 'due-deliveries': dueDeliveries, 'due-alerts': dueAlerts } as const
type DueQueue = keyof typeof WORKERS

/** Hands everything that was sent to a queue to its function, a message each and all at once. */
export const work = async (deps: TestDeps, ...queues: readonly DueQueue[]) => {
  const runs = queues.flatMap((queue) => messagesTo(deps, queue).map((message) => workOn(deps, queue, message.body)))
  expect(await Promise.all(runs)).toStrictEqual(runs.map(() => ({ batchItemFailures: [] })))
}

const workOn = (deps: TestDeps, queue: DueQueue, body: object) =>
  WORKERS[queue].withDeps(deps)({ Records: [{ messageId: 'm', body: JSON.stringify(body) }] } as never, {} as never)

export const messagesTo = (deps: TestDeps, name: QueueName) =>
  deps.sent.flatMap(({ queue, message }) => (queue === name ? [message] : []))

export const expiredIn = (deps: MemoryDeps, payments: readonly Payment[]): number =>
  payments.filter(({ paymentId }) => deps.stored.item(paymentKey(paymentId))?.['status'] === 'expired').length

export const idsCancelled = ({ provider }: TestDeps) =>
  provider.calls.flatMap(({ operation, id }) => (operation === 'cancelRequest' ? [id] : []))

/** A payment, a delivery whose message was lost, and money without its alert: all due. */
export const oneOfEachKind = async () => {
  const { deps } = await aFlood(1)
  await storedDelivery(deps, await storedEndpoint(deps))
  const capture = { providerPaymentId: 'py-held', capturedMinor: minor(1_000) }
  await putSuspense(deps, heldMoney({ capture, cause: 'unknown_reference', payment: undefined, now: deps.now() }))
  deps.clock.advance(300)
  return deps
}
