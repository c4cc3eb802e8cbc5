import { createHmac } from 'node:crypto'
import { typeOfEvent } from '../../event/event.ts'
import { SECOND_MS } from '../../time.ts'
import type { Delivery } from '../delivery/delivery.ts'

type SigningInput = {
  readonly body: Buffer
  readonly signingSecret: string
  readonly sentAtMs: number
}

/** The headers of every webhook: those of spec 6.2, and those of Standard Webhooks. */
export function webhookHeaders(
  { eventName, eventId, deliveryId }: Pick<Delivery, 'eventName' | 'eventId' | 'deliveryId'>,
  { body, signingSecret, sentAtMs }: SigningInput,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(sentAtMs / SECOND_MS))
  // Standard Webhooks takes the bytes that the secret stands for as the key.
  const hmac = createHmac('sha256', Buffer.from(signingSecret.slice('whsec_'.length), 'base64'))
  return {
    'Content-Type': 'application/json',
    'X-Gateway-Event': typeOfEvent(eventName),
    'X-Gateway-Signature': signatureOf(signingSecret, body),
    'X-Gateway-Delivery-Id': deliveryId,
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${hmac.update(`${eventId}.${timestamp}.`).update(body).digest('base64')}`,
  }
}

/**
 * Spec 6.3: hex HMAC-SHA256 over the raw body. The key is the secret's text, with its prefix, as
 * UTF-8.
 */
export function signatureOf(signingSecret: string, body: Buffer): string {
  return createHmac('sha256', Buffer.from(signingSecret, 'utf8')).update(body).digest('hex')
}
