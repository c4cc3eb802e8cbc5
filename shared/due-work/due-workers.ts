import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { DeliveryIdSchema } from '../ids.ts'
import { checkDuePayment } from '../payment/news/check-due-payment.ts'
import { checkSuspenseAlert } from '../suspense/record-suspense.ts'
import { isSuspenseKey } from '../table/keys.ts'
import { checkOverdueDelivery } from '../webhook/delivery/check-overdue-delivery.ts'
import { checkOverdueEvent } from '../webhook/delivery/check-overdue-event.ts'
import { checkDeliveryAlert } from '../webhook/delivery/delivery-alert.ts'
import type { DueItem } from './find-due-page.ts'

/** `stop`: no more of this kind in this run. */
export type WorkDone = 'done' | 'nothing' | 'stop'

const doneIf = (done: boolean): WorkDone => (done ? 'done' : 'nothing')

export const checkEvent = async (deps: Deps, item: DueItem): Promise<WorkDone> =>
  doneIf(await checkOverdueEvent(deps, item))

export const checkDelivery = async (deps: Deps, { id }: DueItem): Promise<WorkDone> =>
  doneIf(await checkOverdueDelivery(deps, v.parse(DeliveryIdSchema, id)))

export const checkPayment = async (deps: Deps, due: DueItem): Promise<WorkDone> => {
  const result = await checkDuePayment(deps, await deps.table.get({ pk: due.pk, sk: due.sk }))
  return result === 'rate_limited' ? 'stop' : doneIf(result === 'checked')
}

export const checkAlert = async (deps: Deps, item: DueItem): Promise<WorkDone> => {
  if (!isSuspenseKey(item)) return doneIf(await checkDeliveryAlert(deps, v.parse(DeliveryIdSchema, item.id)))
  return doneIf(await checkSuspenseAlert(deps, { suspenseId: item.id, dueAt: item.dueAt }))
}
