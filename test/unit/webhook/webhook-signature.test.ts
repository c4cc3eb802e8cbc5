import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { signatureOf } from '../../../shared/webhook/send/deliver-webhook.ts'

/** Code that shares nothing with ours. */
const opensslSignature = (secret: string, body: Buffer) => {
  const key = Buffer.from(secret, 'utf8').toString('hex')
  const answer = execFileSync('openssl', ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`], {
    input: body,
  })
  return answer.toString().trim().split(' ').at(-1)
}

describe('signatureOf (spec 6.3)', () => {
  it.each([
    [
      'an ordinary body',
      'whsec_+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/s=',
      Buffer.from('{"event":"payment.succeeded"}'),
    ],
    ['a secret of an older release, in base64url', `whsec_${'-_v7'.repeat(10)}-_s`, Buffer.from('{}')],
    ['text beyond ASCII', 'whsec_x', Buffer.from('{"description":"kopi — ☕ \\u0000"}')],
    ['bytes that are no text', 'whsec_x', Buffer.from([0, 255, 254, 13, 10, 0])],
    ['a secret beyond ASCII', 'rahasia-é-☕', Buffer.from('{}')],
    ['a secret longer than a block', 's'.repeat(200), Buffer.from('{}')],
  ])('agrees with openssl for %s', (_case, secret, body) => {
    const signature = signatureOf(secret, body)

    expect(signature).toMatch(/^[0-9a-f]{64}$/)
    expect(signature).toBe(opensslSignature(secret, body))
  })
})
