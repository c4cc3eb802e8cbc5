import { foundKey } from '../table/keys.ts'
import { checkOverdueEvent } from '../webhook/delivery/check-overdue-event.ts'
import type { DueKind } from './drain-slot.ts'

/** Events that the stream has lost. */
export const DUE_EVENTS: DueKind = {
  work: 'event',
  atATime: () => 8,
  // Beside their payments.
  read: (deps, rows) => deps.table.getMany(rows.map((row) => foundKey('PAYMENT', row))),
  check: checkOverdueEvent,
}
