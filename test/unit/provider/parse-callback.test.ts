import { describe, expect, it } from 'vitest'
import { parseCallback } from '../../../shared/provider/xendit/parse-callback.ts'

const parse = (event: unknown, data: unknown) =>
  parseCallback(JSON.stringify({ created: '2026-11-20T04:00:00Z', business_id: 'b', api_version: 'v3', event, data }))

const REFERENCE = '0b1f7a52-6f0a-8c1d-9b1e-3f5a7c9d1e2f-1'
const PAYMENT = { payment_id: 'py-1', payment_request_id: 'pr-1', reference_id: REFERENCE, status: 'SUCCEEDED' }
const SUBJECT = { paymentRequestId: 'pr-1', providerPaymentId: 'py-1', reference: REFERENCE }

const NO_ID = { providerPaymentId: undefined }
const EXPIRED = { reference_id: REFERENCE, status: 'EXPIRED' }
const OLDER = { id: 'py-1', payment_request_id: 'pr-1', reference_id: REFERENCE, amount: '150000' }
const CAPTURE = 'payment.capture'

const each = <Data>(events: string, data: Data, subject: unknown) =>
  events.split(/\s+/).map((event) => [event, data, subject] as const)

describe('parseCallback (design section 4: a callback says what to ask about)', () => {
  it.each<readonly [event: string, data: unknown, subject: unknown]>([
    ...each('payment.capture payment.failure payment.authorization payment.succeeded', PAYMENT, SUBJECT),
    ...each('payment.failed payment.pending', PAYMENT, SUBJECT),
    // In the older shape the payment calls itself id, and an expiry has its id under either name.
    ['payment.succeeded', OLDER, SUBJECT],
    ...['payment_request_id', 'id'].flatMap((name) =>
      each('payment_request.expiry payment_request.expired', { ...EXPIRED, [name]: 'pr-1' }, { ...SUBJECT, ...NO_ID }),
    ),
    ...each('refund.succeeded refund.failed dispute.action_required dispute.won', { data: PAYMENT }, 'money_back'),
    ...each('refund.succeeded dispute.won', undefined, 'money_back'),
    ...each('payment.expiry payment_token.activation payment_session.completed', { ...PAYMENT, id: 'x' }, undefined),
    ...each('refunds.x payment_method.expired PAYMENT.CAPTURE constructor', { ...PAYMENT, id: 'x' }, undefined),
    ['', PAYMENT, undefined],
    // What is usable of ids and references that are not.
    [CAPTURE, { payment_request_id: 'pr-1' }, { ...SUBJECT, ...NO_ID, reference: undefined }],
    [CAPTURE, { payment_id: 'py-1' }, { ...SUBJECT, paymentRequestId: undefined, reference: undefined }],
    [CAPTURE, { ...PAYMENT, payment_id: '../x' }, { ...SUBJECT, ...NO_ID }],
    [CAPTURE, { ...PAYMENT, payment_id: { $ne: 1 } }, { ...SUBJECT, ...NO_ID }],
    [CAPTURE, { ...PAYMENT, reference_id: 'x'.repeat(256) }, { ...SUBJECT, reference: undefined }],
    [CAPTURE, { reference_id: REFERENCE }, undefined],
    [CAPTURE, { payment_id: '', payment_request_id: 'a b' }, undefined],
    ...[{}, 'py-1', null].map((data) => [CAPTURE, data, undefined] as const),
  ])('reads %s with %j as %j', (event, data, subject) => {
    expect(parse(event, data)).toStrictEqual(subject)
  })

  const NO_TEXT = Buffer.from([0xff, 0xfe, 0x00]).toString('utf8')
  const NO_EVENT = ['{"event":"payment.capture"}', '{"event":7,"data":{}}']

  it.each(['', 'x', 'null', '7', '[]', '{}', '\uFEFF{}', NO_TEXT, ...NO_EVENT])('finds no subject in %j', (body) => {
    expect(parseCallback(body)).toBeUndefined()
  })
})
