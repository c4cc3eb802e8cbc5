import { describe, expect, it } from 'vitest'
import type { GatewayError } from '../../../shared/errors.ts'
import { parsePaymentRequest } from '../../../shared/payment/create/parse-payment-request.ts'
import { isOtherChannel } from '../../../shared/provider/xendit/xendit-channels.ts'
import type { Timestamp } from '../../../shared/time.ts'

/* What the endpoint's own tests do not show: what is true of any value, and what is cut, counted or kept to ourselves. */

const FACTS = { now: '2026-11-20T04:00:00.000Z' as Timestamp, provider: { isOtherChannel } }

const parse = (body: unknown) =>
  parsePaymentRequest(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), FACTS)

const VALID = { method: 'virtual_account', channel_code: 'BCA', amount: 100_000, currency: 'IDR' }

const refusalOf = (body: unknown): GatewayError => {
  const parsed = parse(body)
  if (parsed.ok) throw new Error('the body was taken')
  return parsed.error
}

describe('parsePaymentRequest (spec 4.1)', () => {
  it('takes null for a field as if it were missing, be it optional or required', () => {
    const { channel_code: _, ...qris } = { ...VALID, method: 'qris' }
    const nothing = { method: null, channel_code: null, amount: null, currency: null }

    expect(parse({ ...qris, channel_code: null })).toStrictEqual(parse(qris))
    expect(refusalOf(nothing).fieldErrors).toStrictEqual(refusalOf({}).fieldErrors)
  })

  it('names at most 20 fields and the first as the message', () => {
    const unknown = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`field_${at}`, at]))

    const { message, fieldErrors } = refusalOf({ ...unknown, ...VALID })

    expect(message).toBe('invalid JSON body: field_0: unknown field')
    expect(Object.keys(fieldErrors ?? {})).toHaveLength(20)
  })

  it.each(['method', 'currency'])('repeats no more than 64 characters of a %s', (field) => {
    const { message } = refusalOf({ ...VALID, [field]: 'x'.repeat(1_000) })

    expect(message).toBe(`unsupported ${field}: ${'x'.repeat(64)}`)
  })

  it('repeats no value of a customer, a description or metadata', () => {
    const secret = 'zq-secret'
    const bodies = [
      { ...VALID, customer: { phone: [secret] } },
      { ...VALID, customer: { name: secret.repeat(100) } },
      { ...VALID, method: 'ewallet', channel_code: 'OVO', customer: { phone: secret } },
      { ...VALID, description: secret.repeat(200) },
      { ...VALID, metadata: secret },
      { ...VALID, external_reference: { [secret]: secret } },
      `{"description":"${secret}"`,
    ]

    const refusals = bodies.map(refusalOf)

    expect(JSON.stringify(refusals.map(({ message, fieldErrors }) => [message, fieldErrors]))).not.toContain(secret)
  })
})

it('metadata is taken up to 16 KB, counted as UTF-8 (design section 5)', () => {
  const metadata = (count: number) => ({ ...VALID, metadata: { a: 'é'.repeat(count) } })

  expect(parse(metadata(8_188)).ok).toBe(true)
  expect(parse(metadata(8_189)).ok).toBe(false)
})
