import * as v from 'valibot'
import { readFeedCursor } from '../../shared/event/event-cursor.ts'
import { readEventFeed, toEventFeedJson } from '../../shared/inquiry/read-event-feed.ts'
import { limitParamOf } from '../../shared/page.ts'
import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'
import { AnyTimeSchema } from '../../shared/time.ts'

const query = v.strictObject({
  after: v.optional(v.string()),
  since: v.optional(AnyTimeSchema),
  limit: limitParamOf(25, 100),
})

/** GET /v1/events (design section 8): a merchant reads here the events whose webhooks it missed. */
export const handler = apiHandler(
  { query, mostUnits: 600 },
  async ({ clientId, query: { after, since: firedAt, limit } }, deps) => {
    const from = readFeedCursor(after) ?? (firedAt && { settled: { firedAt }, young: { firedAt } })
    return ok(toEventFeedJson(await readEventFeed(deps, { clientId, from, limit })))
  },
)
