import { execFileSync } from 'node:child_process'
import { Webhook } from 'standardwebhooks'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { DeliveryIdSchema, EventIdSchema } from '../../../shared/ids.ts'
import { webhookHeaders } from '../../../shared/webhook/send/webhook-headers.ts'

/** Code that shares nothing with ours. */
const opensslSignature = (secret: string, input: Buffer) => {
  const hexkey = `hexkey:${Buffer.from(secret, 'utf8').toString('hex')}`
  const answer = execFileSync('openssl', ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', hexkey], { input })
  return answer.toString().trim().split(' ').at(-1)
}

/** Each of the characters in which base64 and base64url differ is in it. */
const KEY = Buffer.from('fbfffeefbeff'.repeat(5) + 'fbff', 'hex')
const SECRET = `whsec_${KEY.toString('base64')}`
const BODY = Buffer.from('{"event":"payment.succeeded","data":{"description":"kopi — ☕","metadata":{"n":1.0}}}')

const sent = (signingSecret: string, sentAtMs = Date.now()) =>
  webhookHeaders(
    {
      eventName: 'payment.succeeded',
      eventId: v.parse(EventIdSchema, '7b0e8a39-0f5d-4c6b-9a55-2a4f43c0d1aa'),
      deliveryId: v.parse(DeliveryIdSchema, '2f1d3c1c-5b7e-4f6f-8f37-1f0a6f8b9c2d'),
    },
    { body: BODY, signingSecret, sentAtMs },
  )

// What is refused of changed bytes and headers: `receive-webhooks.test.ts`.
describe('the headers of a webhook (spec 6.2, 6.3), and those of Standard Webhooks by the published library', () => {
  it.each([
    ['a secret as it is given out', SECRET, new Webhook(SECRET)],
    ['the bytes that the secret encodes', SECRET, new Webhook(KEY, { format: 'raw' })],
  ])('verify with %s', (_case, secret, library) => {
    expect(library.verify(BODY, sent(secret))).toStrictEqual(JSON.parse(BODY.toString()))
  })

  it('stand beside those of the specification, whose key is the whole text of the secret', () => {
    expect(sent(SECRET, 1_700_000_000_999)).toStrictEqual({
      'Content-Type': 'application/json',
      'X-Gateway-Event': 'payment.succeeded',
      'X-Gateway-Signature': opensslSignature(SECRET, BODY),
      'X-Gateway-Delivery-Id': '2f1d3c1c-5b7e-4f6f-8f37-1f0a6f8b9c2d',
      'webhook-id': '7b0e8a39-0f5d-4c6b-9a55-2a4f43c0d1aa',
      'webhook-timestamp': '1700000000',
      'webhook-signature': sent(SECRET, 1_700_000_000_000)['webhook-signature'],
    })
  })
})
