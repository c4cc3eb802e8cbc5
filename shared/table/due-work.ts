import { slotOf } from '../ids.ts'
import type { Timestamp } from '../time.ts'
import { WORK_SLOTS, type Work } from './schema.ts'

/** The attributes that put an item into the by-due index. The item's `id` attribute must be set too. */
export const dueWork = (work: Work, id: string, dueAt: Timestamp) => ({
  work,
  slot: slotOf(id, WORK_SLOTS[work]),
  dueAt,
})

/** Removing these takes the item out of the by-due index. */
export const DUE_WORK_FIELDS = ['work', 'slot', 'dueAt'] as const
