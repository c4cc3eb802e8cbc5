import { handler as dueAlerts } from '../../../functions/queue/check-due-alerts.ts'
import { handler as dueDeliveries } from '../../../functions/queue/check-due-deliveries.ts'
import { handler as duePayments } from '../../../functions/queue/check-due-payments.ts'
import type { Client } from '../../../shared/client/client.ts'
import type { PaymentRequest } from '../../../shared/payment/payment.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { createPrng } from '../../simulation/world/prng.ts'
import { handOver } from '../../support/operator-actions.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { memoryDeps, type TestDeps } from '../../support/test-deps.ts'

export const LIFE_S = 600

/** Only a cancel ends an unpaid QRIS payment. */
const QRIS: Partial<PaymentRequest> = {
  method: 'qris',
  channelCode: undefined,
  expiresInSeconds: LIFE_S,
}
export const DANA: Partial<PaymentRequest> = { method: 'ewallet', channelCode: 'DANA' }

/** All payments are in one slot, so that one worker has them all. */
export async function unpaidPayments(
  deps: TestDeps,
  client: Client,
  count: number,
  request = QRIS,
) {
  const payments = await Array.fromAsync({ length: count }, () =>
    aPendingPayment(deps, client, request),
  )
  for (const { paymentId } of payments)
    await deps.table.write(update(paymentKey(paymentId), { set: { slot: 3 } }))
  return payments
}

/**
 * `count` pending payments of one client; QRIS payments are due now. `runWorker`: runs one worker
 * of their slot. Each flood draws the same ids.
 */
export async function aFlood(count: number, providerCallsPerMinute = 600, request = QRIS) {
  const { uuid: newId, int } = createPrng(20_261_125)
  const deps = memoryDeps({
    stage: { providerCallsPerMinute },
    newId,
    random: () => int(0, 99) / 100,
  })
  const payments = await unpaidPayments(deps, await aStoredClient(deps), count, request)
  deps.clock.advance(LIFE_S)
  return {
    deps,
    payments,
    countExpired: () =>
      deps.stored.items('PAYMENT#').filter(({ status }) => status === 'expired').length,
    dueTimes: () =>
      payments.map(({ paymentId }) => deps.stored.item(paymentKey(paymentId))?.['due_at']),
    runWorker: (workerDeps: TestDeps = deps, share: object = { slot: 3, part: 0, parts: 1 }) =>
      workOn(workerDeps, 'due-payments', share),
  }
}

export const WORKERS = {
  'due-payments': duePayments,
  'due-deliveries': dueDeliveries,
  'due-alerts': dueAlerts,
} as const
export function workOn(deps: TestDeps, queue: keyof typeof WORKERS, body: object) {
  return handOver(WORKERS[queue], deps, [body])
}

export function cancelledIds({ provider }: TestDeps) {
  return provider.calls.flatMap(({ operation, id }) => (operation === 'cancelRequest' ? [id] : []))
}
