import { typeOfEvent } from '../../event/event.ts'
import { paymentOfSubject, settlementOfSubject } from '../../ids.ts'
import type { ShownDelivery } from './list-deliveries.ts'
import type { OwnDeliveryDto } from './own-delivery-dto-schema.ts'

/** A delivery as operators see it (design section 7). Absent values are null. */
export function toDeliveryDto(shownDelivery: ShownDelivery) {
  const {
    id: delivery_id,
    payment_id: _,
    settlement_id: __,
    ...dto
  } = toOwnDeliveryDto(shownDelivery)
  return { delivery_id, client_id: shownDelivery.delivery.clientId, ...dto }
}

/** A delivery as its merchant sees it (design section 8). A test event names neither. */
export function toOwnDeliveryDto({ delivery, attempts }: ShownDelivery): OwnDeliveryDto {
  return {
    id: delivery.deliveryId,
    payment_id: paymentOfSubject(delivery.subject),
    settlement_id: settlementOfSubject(delivery.subject),
    event_id: delivery.eventId,
    event: typeOfEvent(delivery.eventName),
    endpoint_id: delivery.endpointId,
    url: delivery.url,
    status: delivery.status,
    next_attempt_at: delivery.nextAttemptAt ?? null,
    created_at: delivery.createdAt,
    attempts: attempts.map(({ number, at, durationMs, httpStatus, error, responseBody }) => ({
      number,
      at,
      duration_ms: durationMs,
      http_status: httpStatus ?? null,
      error: error ?? null,
      response_body: responseBody ?? null,
    })),
  }
}
