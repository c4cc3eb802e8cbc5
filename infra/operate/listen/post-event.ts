import { createHash, createHmac } from 'node:crypto'
import * as v from 'valibot'
import { deliveryIdFor, derivedUuid, EndpointIdSchema } from '../../../shared/ids.ts'
import { webhookHeaders } from '../../../shared/webhook/send/webhook-headers.ts'
import { lostBy } from '../check/finding.ts'
import { type FeedEvent, Unreached } from './events-page.ts'

/** The same time as for a webhook. */
const TIMEOUT_MS = 10_000

type Target = { readonly url: string; readonly signingSecret: string }

/**
 * Posts the event once, signed as a webhook. Answers the result for a person. Throws `Unreached` if no server listens.
 * The end of the command does not abort it, because the server would get the event again.
 */
export async function postEvent({ url, signingSecret }: Target, event: FeedEvent): Promise<string> {
  const { event: eventName, event_id: eventId, body } = event
  const deliveryId = deliveryIdFor(eventId, v.parse(EndpointIdSchema, derivedUuid('listen', url)))
  const sentAtMs = Date.now()
  const took = () => `in ${Date.now() - sentAtMs} ms`
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: webhookHeaders(
        { eventName, eventId, deliveryId },
        { body, signingSecret, sentAtMs },
      ),
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await answer.body?.cancel()
    return `${answer.status} ${took()}`
  } catch (error) {
    const why = lostBy(error)
    if (why === 'ECONNREFUSED') throw new Unreached(`nothing listens at ${url}: start your server`)
    return `${why} ${took()}`
  }
}

/**
 * The signing secret of the copies for one API key. It is the same in every run, and does not reveal the key. It is not
 * the endpoint's secret, which only the delivery worker can read.
 */
export function listeningSecret(apiKey: string): string {
  return `whsec_${createHmac('sha256', apiKey).update('signing secret of npm run listen').digest('base64')}`
}

/** A stored position has this name. It is a hash, so that it reveals nothing of the key. */
export function followedName(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 32)
}
