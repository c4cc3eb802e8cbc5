import * as v from 'valibot'
import { described, ID, TIME, WHOLE } from '../../dto-field.ts'
import { OPT_IN_EVENT_TYPES } from '../../event/event.ts'
import { EndpointEventTypeSchema } from './endpoint.ts'

export const OwnEndpointDtoSchema = v.object({
  id: ID,
  url: v.string(),
  event_types: described(
    v.array(EndpointEventTypeSchema),
    `\`*\` means all types except \`${OPT_IN_EVENT_TYPES.join('`, `')}\`, which must be in the ` +
      'list itself.',
  ),
  enabled: described(
    v.boolean(),
    'A disabled endpoint gets no events. The operator can enable it.',
  ),
  created_at: TIME,
  last_answered_at: described(
    v.nullable(TIME),
    'When the endpoint last answered with a 2xx status, in UTC. Null if it answered none ' +
      'of its newest ten deliveries.',
  ),
  waiting: described(
    WHOLE,
    'Deliveries that wait for their next attempt after a failure or a delay. 100 means 100 or ' +
      'more. One in its first attempt is not counted.',
  ),
})

export type OwnEndpointDto = v.InferOutput<typeof OwnEndpointDtoSchema>
