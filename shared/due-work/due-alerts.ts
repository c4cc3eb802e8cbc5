import * as v from 'valibot'
import { DeliveryIdSchema } from '../ids.ts'
import { checkSuspenseAlert } from '../suspense/record-suspense.ts'
import { foundKey, isAbandonmentKey, isSuspenseKey } from '../table/keys.ts'
import { checkAbandonedDelivery, checkAbandonment } from '../webhook/delivery/tell-abandonments.ts'
import type { DueKind } from './drain-slot.ts'

/** Alerts that have not reached the operators. */
export const DUE_ALERTS: DueKind = {
  work: 'alert',
  atATime: () => 4,
  read: (deps, rows) =>
    deps.table.getMany(
      rows.map((row) => {
        if (isSuspenseKey(row)) return foundKey('SUSPENSE', row)
        return isAbandonmentKey(row) ? foundKey('ALERT', row) : foundKey('DELIVERY', row)
      }),
    ),
  check: (deps, due) => {
    if (isSuspenseKey(due)) return checkSuspenseAlert(deps, { suspenseId: due.id, dueAt: due.dueAt })
    return isAbandonmentKey(due)
      ? checkAbandonment(deps, due.item)
      : checkAbandonedDelivery(deps, v.parse(DeliveryIdSchema, due.id))
  },
}
