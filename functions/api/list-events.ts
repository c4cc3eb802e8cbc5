import { EventFeedQuery, readEventFeed, toEventFeedJson } from '../../shared/inquiry/read-event-feed.ts'
import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'

/** GET /v1/events (design section 8): a merchant reads here the events whose webhooks it missed. */
export const handler = apiHandler({ query: EventFeedQuery }, async ({ clientId, query }, deps) => {
  const { after, since: firedAt, limit } = query
  const from = after ?? (firedAt && { settled: { firedAt }, young: { firedAt } })
  return ok(toEventFeedJson(await readEventFeed(deps, { clientId, from, limit })))
})
