import { drainSlot } from '../../shared/due-work/drain-slot.ts'
import { DUE_DELIVERIES } from '../../shared/due-work/due-deliveries.ts'
import { DueSlotSchema } from '../../shared/due-work/due-slot.ts'
import { queueHandler } from '../../shared/runtime/queue-handler.ts'

/** Sends a queue message again for each overdue delivery of one slot. Safe to repeat. */
export const handler = queueHandler(DueSlotSchema, async (share, deps) => {
  await drainSlot(deps, DUE_DELIVERIES, share)
})
