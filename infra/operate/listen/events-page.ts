import * as v from 'valibot'
import { EventIdSchema } from '../../../shared/ids.ts'
import { memberText, partTexts } from '../../../shared/json.ts'
import { GatewayRefusal } from '../../local/commands/call-gateway.ts'
import { parsedJson } from '../../local/process/local-http-server.ts'
import { connectionError } from '../check/finding.ts'

/** The gateway answers within 30 seconds. */
const TIMEOUT_MS = 35_000
const PER_PAGE = '100'

/** The same call may be retried. */
export class UnreachableError extends GatewayRefusal {}

const Page = v.object({ data: v.array(v.unknown()), next: v.string(), has_more: v.boolean() })
const Event = v.object({
  event: v.string(),
  event_id: EventIdSchema,
  timestamp: v.string(),
  data: v.object({ id: v.optional(v.string(), '') }),
})
const Refusal = v.object({ message: v.string() })

export type FeedEvent = v.InferOutput<typeof Event> & { readonly body: Buffer }

export type Feed = { readonly stage: string; readonly url: string; readonly apiKey: string }

/**
 * The next page of the feed, each event with its webhook's bytes. Throws `UnreachableError` or
 * `GatewayRefusal`.
 */
export async function eventsPage(
  feed: Feed,
  position: { readonly after: string } | { readonly since: string },
  signal: AbortSignal,
) {
  const { status, text, aheadMs } = await requestPage(
    feed,
    new URLSearchParams({ ...position, limit: PER_PAGE }),
    signal,
  )
  if (status !== 200) throw refusalOf(feed, status, text)
  const page = v.safeParse(Page, parsedJson(text))
  if (!page.success)
    throw new GatewayRefusal(`${feed.url} is no gateway: it answered something else than events`)
  const { data, next, has_more: hasMore } = page.output
  const bodies = partTexts(memberText(text, 'data') ?? '')
  return {
    events: data.map((event, at) => ({
      ...v.parse(Event, event),
      body: Buffer.from(bodies[at] ?? ''),
    })),
    next,
    hasMore,
    aheadMs,
  }
}

async function requestPage(
  { stage, url, apiKey }: Feed,
  query: URLSearchParams,
  signal: AbortSignal,
) {
  try {
    const answer = await fetch(`${url}/v1/events?${query.toString()}`, {
      headers: { authorization: `Bearer ${apiKey}` },
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    // The local gateway's clock jumps.
    const aheadMs = Date.parse(answer.headers.get('date') ?? '') - Date.now() || 0
    return { status: answer.status, text: await answer.text(), aheadMs }
  } catch (error) {
    const todo =
      stage === 'local'
        ? 'npm start starts it, and PORT says where it is'
        : 'check the network and the stage'
    throw new UnreachableError(`${url} cannot be reached (${connectionError(error)}): ${todo}`)
  }
}

function refusalOf({ stage, url }: Feed, status: number, text: string) {
  if (status === 401) {
    const todo = `npm run admin -- issue-api-key CLIENT_ID --stage ${stage} issues another`
    return new GatewayRefusal(
      `${url} refuses the key (401): it is of another stage, revoked or expired, or its client is disabled; ${todo}`,
    )
  }
  const refusal = v.safeParse(Refusal, parsedJson(text))
  const message = `${url} answered ${status}${refusal.success ? `: ${refusal.output.message}` : ''}`
  return status === 429 || status >= 500
    ? new UnreachableError(message)
    : new GatewayRefusal(message)
}
