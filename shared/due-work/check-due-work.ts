import type { Deps } from '../deps.ts'
import { callsPerMinute } from '../provider/quota-store.ts'
import type { QueueMessage } from '../queues.ts'
import { WORK_SLOTS } from '../table/schema.ts'
import { msBetween } from '../time.ts'
import { type CheckedWork, type DueSlot, findDuePage, maxParts } from './due-slot.ts'

type FindDeps = Pick<Deps, 'table' | 'queues' | 'now' | 'log' | 'stage'>

const ITEMS_PER_PART = 100

type Send = (messages: readonly QueueMessage[]) => Promise<void>

/** Answers how many items are due. A failing kind or slot stops no other kind or slot. */
export async function checkDueWork(deps: FindDeps): Promise<Record<CheckedWork, number>> {
  // Each kind has its own queue and workers, so no kind delays another.
  const kinds = [
    sendDueSlots(deps, 'alert', (messages) => deps.queues.send('due-alerts', ...messages)),
    sendDueSlots(deps, 'delivery', (messages) => deps.queues.send('due-deliveries', ...messages)),
    sendDueSlots(deps, 'payment', (messages) => deps.queues.send('due-payments', ...messages)),
  ] as const
  await Promise.allSettled(kinds)
  const [alert, delivery, payment] = await Promise.all(kinds)
  const summary = { alert: alert.due, delivery: delivery.due, payment: payment.due }
  deps.log.info('due_work.completed', {
    ...summary,
    alert_late_ms: alert.lateMs,
    delivery_late_ms: delivery.lateMs,
    payment_late_ms: payment.lateMs,
  })
  return summary
}

async function sendDueSlots(deps: FindDeps, work: CheckedWork, send: Send) {
  const limit = maxParts(work, callsPerMinute(deps.stage, deps.now())) * ITEMS_PER_PART
  const sending = Array.from({ length: WORK_SLOTS[work] }, async (_, slot) => {
    const { items } = await findDuePage(deps, { work, slot, limit })
    const [oldest] = items
    if (oldest === undefined) return { due: 0, lateMs: 0 }
    const parts = Math.ceil(items.length / ITEMS_PER_PART)
    const shares = Array.from({ length: parts }, (_share, part): DueSlot => ({ slot, part, parts }))
    await send(shares.map((body) => ({ body, delaySeconds: 0, group: `${slot}/${body.part}` })))
    return { due: items.length, lateMs: msBetween(oldest.dueAt, deps.now()) }
  })
  // A run that ends early freezes the sends of the other slots.
  await Promise.allSettled(sending)
  const slots = await Promise.all(sending)
  return {
    due: slots.reduce((sum, { due }) => sum + due, 0),
    lateMs: Math.max(...slots.map(({ lateMs }) => lateMs)),
  }
}
