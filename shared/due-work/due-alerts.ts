import * as v from 'valibot'
import { DeliveryIdSchema } from '../ids.ts'
import { checkSuspenseAlert } from '../suspense/record-suspense.ts'
import { foundKey, isSuspenseKey } from '../table/keys.ts'
import { checkAbandoned } from '../webhook/delivery/tell-abandoned.ts'
import type { DueKind } from './drain-slot.ts'

/** Alerts that have not reached the operators. */
export const DUE_ALERTS: DueKind = {
  work: 'alert',
  atATime: () => 4,
  read: (deps, rows) =>
    deps.table.getMany(rows.map((row) => (isSuspenseKey(row) ? foundKey('SUSPENSE', row) : foundKey('DELIVERY', row)))),
  check: (deps, due) =>
    isSuspenseKey(due)
      ? checkSuspenseAlert(deps, { suspenseId: due.id, dueAt: due.dueAt })
      : checkAbandoned(deps, v.parse(DeliveryIdSchema, due.id)),
}
