import { queueHandler } from '../../shared/runtime/worker-handlers.ts'
import { DeliveryMessageSchema } from '../../shared/webhook/delivery/delivery.ts'
import { deliverWebhook } from '../../shared/webhook/send/deliver-webhook.ts'

/** Makes the next attempt of a delivery if it is due (spec 6.4). */
export const handler = queueHandler(DeliveryMessageSchema, deliverWebhook)
