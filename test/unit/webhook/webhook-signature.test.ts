import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { signatureOf } from '../../../shared/webhook/send/deliver-webhook.ts'

/** Code that shares nothing with ours. */
const opensslSignature = (secret: string, input: Buffer) => {
  const hexkey = `hexkey:${Buffer.from(secret, 'utf8').toString('hex')}`
  const answer = execFileSync('openssl', ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', hexkey], { input })
  return answer.toString().trim().split(' ').at(-1)
}

it.each([
  ['an ordinary body', `whsec_${'+/v7'.repeat(10)}+/s=`, '{"event":"payment.succeeded"}'],
  ['a secret of an older release, in base64url', `whsec_${'-_v7'.repeat(10)}-_s`, '{}'],
  ['text beyond ASCII', 'whsec_x', '{"description":"kopi — ☕ \\u0000"}'],
  ['bytes that are no text', 'whsec_x', Buffer.from([0, 255, 254, 13, 10, 0])],
  ['a secret beyond ASCII', 'rahasia-é-☕', '{}'],
  ['a secret longer than a block', 's'.repeat(200), '{}'],
])('signatureOf (spec 6.3) agrees with openssl for %s', (_case, secret, text) => {
  const body = Buffer.from(text)

  expect(signatureOf(secret, body)).toMatch(/^[0-9a-f]{64}$/)
  expect(signatureOf(secret, body)).toBe(opensslSignature(secret, body))
})
