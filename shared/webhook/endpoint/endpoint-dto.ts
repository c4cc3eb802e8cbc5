import * as v from 'valibot'
import { isOptIn, OPT_IN_EVENT_TYPES } from '../../event/event.ts'
import { ifValid } from '../../if-valid.ts'
import { URL_LENGTH } from '../../text-field.ts'
import { ALL_EVENTS, type Endpoint, EndpointEventTypeSchema } from './endpoint.ts'
import type { OwnEndpointDto } from './own-endpoint-dto-schema.ts'

/** The fields that an operator may set, with the names of design section 7. */
export const ENDPOINT_FIELDS = {
  url: v.pipe(v.string(), URL_LENGTH),
  event_types: v.pipe(
    v.array(EndpointEventTypeSchema),
    v.minLength(1, 'must name at least one event type'),
    v.check((types) => new Set(types).size === types.length, 'must not name an event type twice'),
    v.check(
      (types) =>
        !types.includes(ALL_EVENTS) || types.every((type) => type === ALL_EVENTS || isOptIn(type)),
      `must be ["*"] alone or with ${OPT_IN_EVENT_TYPES.join(', ')}, or a list of names`,
    ),
  ),
  enabled: v.boolean(),
}

export function toEndpointDto(endpoint: Endpoint) {
  const { id: endpoint_id, ...shown } = toOwnEndpointDto(endpoint)
  const { clientId: client_id, eventTypes: event_types } = endpoint
  return { endpoint_id, client_id, ...shown, event_types }
}

/**
 * Leaves out the health, which the lists of deliveries show, and event types that the API of this
 * release does not name.
 */
export function toOwnEndpointDto(
  endpoint: Endpoint,
): Omit<OwnEndpointDto, 'last_answered_at' | 'waiting'> {
  return {
    id: endpoint.endpointId,
    url: endpoint.url,
    event_types: endpoint.eventTypes.flatMap(
      (type) => ifValid(EndpointEventTypeSchema, type) ?? [],
    ),
    enabled: endpoint.enabled,
    created_at: endpoint.createdAt,
  }
}
