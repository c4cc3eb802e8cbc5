import { drainSlot } from '../../shared/due-work/drain-slot.ts'
import { DUE_ALERTS } from '../../shared/due-work/due-kinds.ts'
import { DueSlotSchema } from '../../shared/due-work/due-slot.ts'
import { queueHandler } from '../../shared/runtime/worker-handlers.ts'

/** Publishes the alerts that have not reached the operators. Safe to repeat. */
export const handler = queueHandler(DueSlotSchema, (deps, slot) =>
  drainSlot(deps, DUE_ALERTS, slot),
)
