import { drainSlot } from '../../shared/due-work/drain-slot.ts'
import { DUE_PAYMENTS } from '../../shared/due-work/due-kinds.ts'
import { DueSlotSchema } from '../../shared/due-work/due-slot.ts'
import { queueHandler } from '../../shared/runtime/worker-handlers.ts'

/** Finds lost callbacks and expiries in one slot (design section 4). Safe to repeat. */
export const handler = queueHandler(DueSlotSchema, (deps, slot) =>
  drainSlot(deps, DUE_PAYMENTS, slot),
)
