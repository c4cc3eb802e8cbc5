import { createHmac } from 'node:crypto'

/**
 * Spec 6.3: 64 lower-case hex characters, HMAC-SHA256 over the raw body bytes. The key is the secret's text as the
 * merchant was given it, prefix included, as UTF-8.
 */
export const signatureOf = (signingSecret: string, body: Buffer): string =>
  createHmac('sha256', Buffer.from(signingSecret, 'utf8')).update(body).digest('hex')
