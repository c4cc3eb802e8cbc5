import { drainSlot } from '../../shared/due-work/drain-slot.ts'
import { DUE_EVENTS } from '../../shared/due-work/due-events.ts'
import { DueSlotSchema } from '../../shared/due-work/due-slot.ts'
import { queueHandler } from '../../shared/runtime/queue-handler.ts'

/** Fans out the events that are due in one slot: the stream has lost them. Safe to repeat. */
export const handler = queueHandler(DueSlotSchema, async (share, deps) => {
  await drainSlot(deps, DUE_EVENTS, share)
})
