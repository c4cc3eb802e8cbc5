import { drainSlot } from '../../shared/due-work/drain-slot.ts'
import { DUE_DELIVERIES } from '../../shared/due-work/due-kinds.ts'
import { DueSlotSchema } from '../../shared/due-work/due-slot.ts'
import { queueHandler } from '../../shared/runtime/worker-handlers.ts'

/** Sends a queue message again for each overdue delivery of one slot. Safe to repeat. */
export const handler = queueHandler(DueSlotSchema, (deps, slot) =>
  drainSlot(deps, DUE_DELIVERIES, slot),
)
