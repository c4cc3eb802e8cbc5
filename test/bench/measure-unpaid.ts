import { drive } from '../simulation/world/drive.ts'
import { sqsEvent } from '../simulation/world/sim-queue.ts'
import { addTenant } from '../simulation/world/tenants.ts'
import { storedBytes } from './meter-table.ts'
import { type Flow, type MeteredWorld, startMeteredWorld } from './metered-world.ts'
import { createPayment, deliverNext } from './walk-payment.ts'

export type UnpaidPayments = {
  readonly created: Flow
  /** All of them, expired by due work, with the invocations that this took. */
  readonly expired: Flow
  readonly delivered: Flow
  readonly storedBytes: number
}

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** A payment that is pending after so many rounds has no end. */
const MOST_ROUNDS = 60

/** Walks many unpaid payments to their end, on the real handlers, and counts what every step uses. */
export const measureUnpaid = async (payments: number): Promise<UnpaidPayments> => {
  const metered = await startMeteredWorld()
  const { world, measure, pass } = metered
  const merchant = await drive(world, addTenant(world, 0, 1))
  const before = storedBytes(world.table)
  const { flow: created } = await createPayment(metered, merchant, 'payment-1')
  for (let number = 2; number <= payments; number++) await createPayment(metered, merchant, `payment-${number}`)
  await pass(DAY_MS)
  let invocations = 0
  const expired = await measure('check-due-payments', 'expired, announced', async () => {
    for (let rounds = 0; pendingIn(metered) > 0; rounds++) {
      if (rounds > MOST_ROUNDS) throw new Error('unpaid payments never end')
      await pass(MINUTE_MS)
      invocations += await lookAtDue(metered)
    }
  })
  const delivered = await measure('deliver-webhook', 'delivered', () => deliverNext(metered))
  while (await deliverNext(metered));
  return { created, expired: { ...expired, invocations }, delivered, storedBytes: storedBytes(world.table) - before }
}

const pendingIn = ({ world }: MeteredWorld): number =>
  world.table.items().filter(({ sk, status }) => sk === 'PAYMENT' && status === 'pending').length

/** One round of due work. Answers how often the worker of due payments ran. */
const lookAtDue = async ({ world, run }: MeteredWorld): Promise<number> => {
  await run('check-due-work', {})
  const queue = world.queues['due-payments']
  const receive = () => queue.receive({ max: 1, nowMs: world.scheduler.nowMs() })
  let runs = 0
  for (let messages = receive(); messages.length > 0; messages = receive()) {
    await run('check-due-payments', sqsEvent(messages))
    for (const { receipt } of messages) queue.remove(receipt)
    runs++
  }
  return runs
}
