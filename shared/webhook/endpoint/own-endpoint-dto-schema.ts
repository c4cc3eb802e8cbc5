import * as v from 'valibot'
import { OPT_IN_EVENT_TYPES } from '../../event/event.ts'
import { EndpointEventTypeSchema } from './endpoint.ts'

export const OwnEndpointDtoSchema = v.object({
  id: v.pipe(v.string(), v.uuid()),
  url: v.string(),
  event_types: v.pipe(
    v.array(EndpointEventTypeSchema),
    v.description(
      `\`*\` means all types except \`${OPT_IN_EVENT_TYPES.join('`, `')}\`, which must be in the ` +
        'list itself.',
    ),
  ),
  enabled: v.pipe(
    v.boolean(),
    v.description('A disabled endpoint gets no events. The operator can enable it.'),
  ),
  created_at: v.pipe(v.string(), v.isoTimestamp()),
  last_answered_at: v.pipe(
    v.nullable(v.pipe(v.string(), v.isoTimestamp())),
    v.description(
      'When the endpoint last answered with a 2xx status, in UTC. Null if it answered none ' +
        'of its newest ten deliveries.',
    ),
  ),
  waiting: v.pipe(
    v.number(),
    v.integer(),
    v.description(
      'Deliveries that wait for their next attempt after a failure or a delay. 100 means 100 or ' +
        'more. A delivery in its first minute is not counted.',
    ),
  ),
})

export type OwnEndpointDto = v.InferOutput<typeof OwnEndpointDtoSchema>
