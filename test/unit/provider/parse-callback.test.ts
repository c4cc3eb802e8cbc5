import { describe, expect, it } from 'vitest'
import { parseCallback } from '../../../shared/provider/xendit/parse-callback.ts'

const bytes = (body: unknown) => Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))

const parse = (event: unknown, data: unknown) =>
  parseCallback(bytes({ created: '2026-11-20T04:00:00Z', business_id: 'b', api_version: 'v3', event, data }))

const REFERENCE = '0b1f7a52-6f0a-8c1d-9b1e-3f5a7c9d1e2f-1'
const PAYMENT = { payment_id: 'py-1', payment_request_id: 'pr-1', reference_id: REFERENCE, status: 'SUCCEEDED' }
const REQUEST = { payment_request_id: 'pr-1', reference_id: REFERENCE, status: 'EXPIRED' }

describe('parseCallback (design section 4: a callback says what to ask about)', () => {
  it.each([
    'payment.capture',
    'payment.failure',
    'payment.authorization',
    'payment.succeeded',
    'payment.failed',
    'payment.pending',
  ])('reads %s', (event) => {
    expect(parse(event, PAYMENT)).toStrictEqual({
      paymentRequestId: 'pr-1',
      providerPaymentId: 'py-1',
      reference: REFERENCE,
    })
  })

  it.each(['payment_request.expiry', 'payment_request.expired'])('reads %s, with its id under either name', (event) => {
    const subject = { paymentRequestId: 'pr-1', providerPaymentId: undefined, reference: REFERENCE }

    expect(parse(event, REQUEST)).toStrictEqual(subject)
    expect(parse(event, { id: 'pr-1', reference_id: REFERENCE })).toStrictEqual(subject)
  })

  it('reads the older shape, in which the payment calls itself id', () => {
    const data = { id: 'py-1', payment_request_id: 'pr-1', reference_id: REFERENCE, amount: '150000' }

    expect(parse('payment.succeeded', data)).toMatchObject({ paymentRequestId: 'pr-1', providerPaymentId: 'py-1' })
  })

  it.each([
    'payment.expiry',
    'payment_token.activation',
    'payment_session.completed',
    'refund.succeeded',
    'payment_method.expired',
    'PAYMENT.CAPTURE',
    'constructor',
    '',
  ])('passes over %j', (event) => {
    expect(parse(event, { ...PAYMENT, id: 'x' })).toBeUndefined()
  })

  it.each<[string, object, object | undefined]>([
    ['only a request id', { payment_request_id: 'pr-1' }, { paymentRequestId: 'pr-1', providerPaymentId: undefined }],
    ['only a payment id', { payment_id: 'py-1' }, { paymentRequestId: undefined, providerPaymentId: 'py-1' }],
    [
      'an id that could bend a path',
      { payment_id: '../x', payment_request_id: 'pr-1' },
      { providerPaymentId: undefined },
    ],
    ['an id that is no text', { payment_id: { $ne: 1 }, payment_request_id: 'pr-1' }, { providerPaymentId: undefined }],
    ['a reference that is too long', { payment_id: 'py-1', reference_id: 'x'.repeat(256) }, { reference: undefined }],
    ['nothing but a reference', { reference_id: REFERENCE }, undefined],
    ['nothing but unusable ids', { payment_id: '', payment_request_id: 'a b' }, undefined],
    ['nothing', {}, undefined],
  ])('takes what is usable of %s', (_, data, expected) => {
    const subject = parse('payment.capture', data)

    if (expected === undefined) expect(subject).toBeUndefined()
    else expect(subject).toMatchObject(expected)
  })

  it.each(['', 'x', 'null', '7', '[]', '{}', '{"event":"payment.capture"}', '{"event":7,"data":{}}', '\uFEFF{}'])(
    'finds nothing to ask about in %j',
    (body) => {
      expect(parseCallback(bytes(body))).toBeUndefined()
    },
  )

  it('finds nothing in bytes that are no text, or in data that is no object', () => {
    expect(parseCallback(Buffer.from([0xff, 0xfe, 0x00]))).toBeUndefined()
    expect(parse('payment.capture', 'py-1')).toBeUndefined()
    expect(parse('payment.capture', null)).toBeUndefined()
  })
})
