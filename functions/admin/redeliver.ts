import * as v from 'valibot'
import { parseClientId } from '../../shared/client/client-dto.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { parseDeliveryId } from '../../shared/webhook/delivery/delivery-dto.ts'
import { redeliver } from '../../shared/webhook/delivery/redeliver.ts'
import { REDELIVER_FIELDS, redeliverTarget, toRedeliveredDto } from '../../shared/webhook/delivery/redeliver-dto.ts'
import { redeliverToEndpoint } from '../../shared/webhook/delivery/redeliver-to-endpoint.ts'
import { parseEndpointId } from '../../shared/webhook/endpoint/endpoint-dto.ts'

const summary =
  'Sends again: one delivery, or what an endpoint did not get since a time, a bounded number per call; `next` is ' +
  'the cursor of the next call, and --all makes those calls. Safe to repeat: what is in progress is left alone.'
const input = v.strictObject({ operator: OPERATOR, client_id: v.string(), ...REDELIVER_FIELDS })

export const handler = adminHandler({ summary, input }, async ({ operator, client_id, ...fields }, deps) => {
  const target = redeliverTarget(fields)
  const clientId = parseClientId(client_id)
  if (target.form === 'delivery') {
    await redeliver(deps, { clientId, operator, deliveryId: parseDeliveryId(target.deliveryId) })
    return { count: 1 }
  }
  const { since, status, cursor } = target
  const endpointId = parseEndpointId(target.endpointId)
  const redelivered = await redeliverToEndpoint(deps, { clientId, operator, endpointId, since, status, cursor })
  return { ...toRedeliveredDto(redelivered), next: redelivered.next }
})
