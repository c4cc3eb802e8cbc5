import { createHash, createHmac } from 'node:crypto'
import * as v from 'valibot'
import { deliveryIdFor, derivedUuid, EndpointIdSchema } from '../../../shared/ids.ts'
import { webhookHeaders } from '../../../shared/webhook/send/webhook-headers.ts'
import { connectionError } from '../check/finding.ts'
import { type FeedEvent, UnreachableError } from './events-page.ts'

const TIMEOUT_MS = 10_000

type Target = { readonly url: string; readonly signingSecret: string }

/**
 * Posts the event once, signed as a webhook. Answers the result for a person. Throws
 * `UnreachableError` if no server listens. The end of the command does not abort the post, because
 * the next run would post the event again.
 */
export async function postEvent({ url, signingSecret }: Target, event: FeedEvent): Promise<string> {
  const { event: eventName, event_id: eventId, body } = event
  const deliveryId = deliveryIdFor(eventId, v.parse(EndpointIdSchema, derivedUuid('listen', url)))
  const sentAtMs = Date.now()
  const elapsed = () => `in ${Date.now() - sentAtMs} ms`
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
    return `${answer.status} ${elapsed()}`
  } catch (error) {
    const reason = connectionError(error)
    if (reason === 'ECONNREFUSED')
      throw new UnreachableError(`nothing listens at ${url}: start your server`)
    return `${reason} ${elapsed()}`
  }
}

/**
 * The signing secret of one API key: the same in every run, and it does not reveal the key. Only
 * the delivery worker can read the endpoint's own secret.
 */
export function listeningSecret(apiKey: string): string {
  return `whsec_${createHmac('sha256', apiKey).update('signing secret of npm run listen').digest('base64')}`
}

/** The name of a stored position is a hash, so that it does not reveal the key. */
export function progressName(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 32)
}
