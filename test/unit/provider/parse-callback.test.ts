import { describe, expect, it } from 'vitest'
import { parseCallback } from '../../../shared/provider/xendit/parse-callback.ts'

const parse = (event: unknown, data: unknown) =>
  parseCallback(JSON.stringify({ created: '2026-11-20T04:00:00Z', business_id: 'b', api_version: 'v3', event, data }))

const REFERENCE = '0b1f7a52-6f0a-8c1d-9b1e-3f5a7c9d1e2f-1'
const PAYMENT = { payment_id: 'py-1', payment_request_id: 'pr-1', reference_id: REFERENCE, status: 'SUCCEEDED' }
const SUBJECT = { paymentRequestId: 'pr-1', providerPaymentId: 'py-1', reference: REFERENCE }

const READ = 'payment.capture payment.failure payment.authorization payment.succeeded payment.failed payment.pending'
const PASSED_OVER = `payment.expiry payment_token.activation payment_session.completed refunds.x
  payment_method.expired PAYMENT.CAPTURE constructor`

describe('parseCallback (design section 4: a callback says what to ask about)', () => {
  it.each(READ.split(' '))('reads %s', (event) => {
    expect(parse(event, PAYMENT)).toStrictEqual(SUBJECT)
  })

  it.each(['payment_request.expiry', 'payment_request.expired'])('reads %s, with its id under either name', (event) => {
    for (const id of ['payment_request_id', 'id']) {
      const data = { [id]: 'pr-1', reference_id: REFERENCE, status: 'EXPIRED' }

      expect(parse(event, data)).toStrictEqual({ ...SUBJECT, providerPaymentId: undefined })
    }
  })

  it('reads refunds and disputes as reversals, with any body', () => {
    for (const event of ['refund.succeeded', 'refund.failed', 'dispute.action_required', 'dispute.won']) {
      expect(parse(event, { data: PAYMENT })).toBe('money_back')
      expect(parseCallback(JSON.stringify({ event, id: 'mi-dspt-1', payment_id: null }))).toBe('money_back')
    }
  })

  it('reads the older shape, in which the payment calls itself id', () => {
    const data = { id: 'py-1', payment_request_id: 'pr-1', reference_id: REFERENCE, amount: '150000' }

    expect(parse('payment.succeeded', data)).toStrictEqual(SUBJECT)
  })

  it.each(['', ...PASSED_OVER.split(/\s+/)])('passes over %j', (event) => {
    expect(parse(event, { ...PAYMENT, id: 'x' })).toBeUndefined()
  })

  it.each<[string, object, object]>([
    ['only a request id', { payment_request_id: 'pr-1' }, { paymentRequestId: 'pr-1', providerPaymentId: undefined }],
    ['only a payment id', { payment_id: 'py-1' }, { paymentRequestId: undefined, providerPaymentId: 'py-1' }],
    ['an id that could bend a path', { ...PAYMENT, payment_id: '../x' }, { ...SUBJECT, providerPaymentId: undefined }],
    ['an id that is no text', { ...PAYMENT, payment_id: { $ne: 1 } }, { ...SUBJECT, providerPaymentId: undefined }],
    ['a reference too long', { ...PAYMENT, reference_id: 'x'.repeat(256) }, { ...SUBJECT, reference: undefined }],
  ])('takes what is usable of %s', (_case, data, expected) => {
    expect(parse('payment.capture', data)).toMatchObject(expected)
  })

  it.each<unknown>([{ reference_id: REFERENCE }, { payment_id: '', payment_request_id: 'a b' }, {}, 'py-1', null])(
    'finds nothing to ask about in the data %j',
    (data) => {
      expect(parse('payment.capture', data)).toBeUndefined()
    },
  )

  it.each(['', 'x', 'null', '7', '[]', '{}', '{"event":"payment.capture"}', '{"event":7,"data":{}}', '\uFEFF{}'])(
    'finds nothing to ask about in %j, nor in bytes that are no text',
    (body) => {
      expect(parseCallback(body)).toBeUndefined()
      expect(parseCallback(Buffer.from([0xff, 0xfe, 0x00]).toString('utf8'))).toBeUndefined()
    },
  )
})
