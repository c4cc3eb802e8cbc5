import type { TableDeps } from '../../deps.ts'
import { deliveryKey } from '../../table/keys.ts'
import { all, DUE_WORK_FIELDS, equals, type Step, update } from '../../table/step.ts'
import type { Timestamp } from '../../time.ts'
import type { Delivery } from './delivery.ts'
import { isStatus, UNLISTED_FIELD } from './delivery-store.ts'

/** Claims due work by moving its due time forward. False when another worker has claimed it, or it is done. */
export const postponeDelivery = async (
  deps: TableDeps,
  delivery: Delivery,
  dueAt: Timestamp,
  resends: number | undefined,
): Promise<boolean> => {
  const { applied } = await deps.table.write(
    update(
      deliveryKey(delivery.deliveryId),
      // Overdue deliveries are listed, because operators look for them.
      { set: { dueAt, resends, status: delivery.status }, remove: [UNLISTED_FIELD] },
      all(isStatus(delivery.status), equals('dueAt', delivery.dueAt)),
    ),
  )
  return applied
}

/** Marks that operators know of it. A new round's due work stays. */
export const endAlert = ({ deliveryId, attempts }: Delivery): Step =>
  update(
    deliveryKey(deliveryId),
    { remove: DUE_WORK_FIELDS },
    all(equals('status', 'abandoned'), equals('attempts', attempts)),
  )
