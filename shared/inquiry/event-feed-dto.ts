import * as v from 'valibot'
import { feedCursorOf, parseFeedCursor } from '../event/event-cursor.ts'
import { limitParamOf } from '../page.ts'
import { AnyTimeSchema } from '../time.ts'
import type { EventFeed } from './read-event-feed.ts'

/** The query of GET /v1/events: the position to continue after, or a start time. */
export const EventFeedQuery = v.object({
  after: v.optional(
    v.pipe(
      v.string(),
      v.rawTransform(({ dataset, addIssue, NEVER }) => {
        const cursor = parseFeedCursor(dataset.value)
        if (cursor !== undefined) return cursor
        addIssue({ message: 'after must be the `next` of an earlier answer' })
        return NEVER
      }),
    ),
  ),
  since: v.optional(AnyTimeSchema),
  limit: limitParamOf(25, 100),
})

/** The feed as JSON text. Each envelope has exactly the bytes of the webhook, including digits and key order. */
export const toEventFeedJson = ({ events, next, hasMore }: EventFeed): string => {
  const data = events.map(({ body }) => body).join(',')
  return `{"data":[${data}],"next":${JSON.stringify(feedCursorOf(next))},"has_more":${hasMore}}`
}
