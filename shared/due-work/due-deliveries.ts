import * as v from 'valibot'
import { DeliveryIdSchema } from '../ids.ts'
import { foundKey } from '../table/keys.ts'
import { checkOverdueDelivery } from '../webhook/delivery/check-overdue-delivery.ts'
import type { DueKind } from './drain-slot.ts'

/** Deliveries whose message was lost. */
export const DUE_DELIVERIES: DueKind = {
  work: 'delivery',
  atATime: () => 8,
  read: (deps, rows) => deps.table.getMany(rows.map((row) => foundKey('DELIVERY', row))),
  check: (deps, { id }) => checkOverdueDelivery(deps, v.parse(DeliveryIdSchema, id)),
}
