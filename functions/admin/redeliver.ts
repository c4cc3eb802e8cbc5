import * as v from 'valibot'
import { unreadableDto } from '../../shared/page.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { redeliver, redeliverToEndpoint } from '../../shared/webhook/delivery/redeliver.ts'
import {
  RedeliverFields,
  redeliverTarget,
  toRedeliveredDto,
} from '../../shared/webhook/delivery/redeliver-dto.ts'

const input = v.strictObject({
  operator: OPERATOR,
  client_id: v.string(),
  ...RedeliverFields.entries,
})

export const handler = adminHandler(
  {
    summary:
      'Sends webhooks again: one delivery, or all that an endpoint missed since a time, a ' +
      'limited number per call. `next` is the cursor of the next call; --all makes all calls. ' +
      'Safe to repeat: it skips deliveries in progress.',
    input,
  },
  async (deps, { operator, clientId, ...fields }) => {
    const target = redeliverTarget(fields)
    if (target.deliveryId !== undefined) {
      await redeliver(deps, { ...target, clientId, operator })
      return { count: 1 }
    }
    const done = await redeliverToEndpoint(deps, { ...target, clientId, operator })
    return { ...toRedeliveredDto(done), ...unreadableDto(done.unreadableIds), next: done.next }
  },
)
