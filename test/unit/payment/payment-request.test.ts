import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../../shared/errors.ts'
import { parseIdempotencyKey, parsePaymentRequest } from '../../../shared/payment/create/parse-payment-request.ts'
import type { Timestamp } from '../../../shared/time.ts'

const NOW = '2026-11-20T04:00:00.000Z' as Timestamp

const parse = (body: unknown) =>
  parsePaymentRequest(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), NOW)

const VALID = { method: 'virtual_account', channel_code: 'BCA', amount: 100_000, currency: 'IDR' }

const refusalOf = (body: unknown): GatewayError => {
  const parsed = parse(body)
  if (parsed.ok) throw new Error('the body was taken')
  return parsed.error
}

describe('parsePaymentRequest (spec 4.1)', () => {
  it('answers the smallest request with nothing in the optional fields', () => {
    expect(parse(VALID)).toStrictEqual({
      ok: true,
      request: {
        method: 'virtual_account',
        channelCode: 'BCA',
        notionalMinor: 100_000,
        currency: 'IDR',
        externalReference: undefined,
        customer: undefined,
        description: undefined,
        metadata: undefined,
        expiresInSeconds: undefined,
      },
    })
  })

  it('answers every field of a full one', () => {
    const customer = { name: 'Siti', email: 'siti@example.com', phone: '+6281234567890' }
    const body = `{"method":"ewallet","channel_code":"OVO","amount":1e3,"currency":"IDR","external_reference":"order-1",
      "customer":${JSON.stringify(customer)},"description":"Kopi","metadata":{"a":1.0},"expires_in_seconds":60}`

    expect(parse(body)).toStrictEqual({
      ok: true,
      request: {
        method: 'ewallet',
        channelCode: 'OVO',
        notionalMinor: 1_000,
        currency: 'IDR',
        externalReference: 'order-1',
        customer,
        description: 'Kopi',
        metadata: '{"a":1.0}',
        expiresInSeconds: 60,
      },
    })
  })

  it.each([
    [{ expires_in_seconds: 0 }, { expiresInSeconds: undefined }],
    [
      { method: 'qris', channel_code: '' },
      { method: 'qris', channelCode: undefined },
    ],
    [
      { external_reference: '', description: '' },
      { externalReference: '', description: '' },
    ],
    [{ customer: {} }, { customer: undefined }],
    [{ metadata: {} }, { metadata: '{}' }],
  ])('reads %j as %j', (sent, read) => {
    expect(parse({ ...VALID, ...sent })).toMatchObject({ ok: true, request: read })
  })

  it.each(['channel_code', 'external_reference', 'customer', 'description', 'metadata', 'expires_in_seconds'])(
    'takes null for the optional field %s as if it were absent',
    (field) => {
      const { channel_code: _, ...rest } = { ...VALID, method: 'qris' }

      expect(parse({ ...rest, [field]: null })).toStrictEqual(parse(rest))
    },
  )

  it('takes null for a member of customer as if it were absent, and omits a customer without members', () => {
    const none = { name: null, email: null, phone: null }
    const named = parse({ ...VALID, customer: { ...none, name: 'Siti' } })

    expect(named).toStrictEqual(parse({ ...VALID, customer: { name: 'Siti' } }))
    expect(parse({ ...VALID, customer: none })).toStrictEqual(parse(VALID))
    expect(parse({ ...VALID, customer: {} })).toStrictEqual(parse(VALID))
  })

  it('keeps nulls inside metadata', () => {
    const body = { ...VALID, metadata: { a: null, b: [null] } }

    expect(parse(body)).toMatchObject({ ok: true, request: { metadata: '{"a":null,"b":[null]}' } })
  })

  it('takes null for a required field as if it were missing', () => {
    const broken = { method: null, channel_code: null, amount: null, currency: null }
    const { method, currency, ...missing } = Object.fromEntries(Object.keys(broken).map((field) => [field, undefined]))

    expect(refusalOf(broken).fieldErrors).toStrictEqual(refusalOf({ method, currency, ...missing }).fieldErrors)
    expect(refusalOf(broken).message).toBe('unsupported method: ')
    expect(refusalOf({ ...VALID, currency: null }).message).toBe('unsupported currency: ')
    expect(refusalOf({ ...VALID, amount: null }).message).toBe('notional_minor must be > 0')
    expect(refusalOf({ ...VALID, channel_code: null }).message).toBe('channel_code required for method virtual_account')
  })

  it('refuses with a validation error, never by throwing, whatever the bytes', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 100 }),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (octets) => {
          const parsed = parsePaymentRequest(Buffer.from(octets), NOW)

          expect(parsed.ok || parsed.error.code).toBe('validation')
        },
      ),
    )
  })

  it('takes an amount only if it is an integer from 1 to 10^12', () => {
    const anAmount = fc.oneof(fc.integer({ min: -5, max: 10 ** 13 }), fc.maxSafeInteger(), fc.double(), fc.bigInt())

    fc.assert(
      fc.property(anAmount, (amount) => {
        const digits = Number.isFinite(amount) || typeof amount === 'bigint' ? String(amount) : '0'
        const fits = Number.isInteger(Number(digits)) && Number(digits) >= 1 && Number(digits) <= 10 ** 12

        expect(parse(JSON.stringify(VALID).replace('100000', digits)).ok).toBe(fits)
      }),
    )
  })

  it('names at most 20 fields and the first as the message', () => {
    const unknown = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`field_${at}`, at]))

    const { message, fieldErrors } = refusalOf({ ...unknown, ...VALID })

    expect(message).toBe('invalid JSON body: field_0: unknown field')
    expect(Object.keys(fieldErrors ?? {})).toHaveLength(20)
  })

  it('repeats no more than 64 characters of a value', () => {
    expect(refusalOf({ ...VALID, method: 'x'.repeat(1_000) }).message).toBe(`unsupported method: ${'x'.repeat(64)}`)
    expect(refusalOf({ ...VALID, currency: 'x'.repeat(1_000) }).message).toBe(`unsupported currency: ${'x'.repeat(64)}`)
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

describe('parseIdempotencyKey (design section 5)', () => {
  it('takes up to 255 characters, and counts an empty key as none', () => {
    expect(parseIdempotencyKey(undefined)).toBeUndefined()
    expect(parseIdempotencyKey('')).toBeUndefined()
    expect(parseIdempotencyKey('k'.repeat(255))).toBe('k'.repeat(255))
    expect(() => parseIdempotencyKey('k'.repeat(256))).toThrow(GatewayError)
  })
})
