/** Every callback that the provider documents (`facts.json`) has its one meaning. */
import { expect, it } from 'vitest'
import { parseCallback } from '../../../shared/provider/xendit/parse-callback.ts'
import FACTS from './facts.json' with { type: 'json' }

/** Published callbacks of other versions and products: 200, and nothing is asked. */
const UUID = '4e0209e9-67a2-449a-9748-57df6a8bddad'
it.each([
  [
    'v1, a virtual account',
    { external_id: 'x', payment_id: '1', amount: 10_000, bank_code: 'BCA' },
  ],
  ['v1, a QR code', { event: 'qr.payment', id: 'qrpy_1', amount: 1_500, status: 'COMPLETED' }],
  ['v1, a wallet', { event: 'ewallet.capture', data: { id: 'ewc_1', status: 'SUCCEEDED' } }],
  ['v2, a payment method', { event: 'payment_method.expired', data: { id: `pm-${UUID}` } }],
  ['SNAP', { partnerServiceId: '  8808', customerNo: '1', paidAmount: { value: '10000.00' } }],
  ['the sample of the dashboard', { event: 'payment.capture', data: { payment_id: 'py-1' } }],
  ['a session', { event: 'payment_session.completed', data: { payment_id: `py-${UUID}` } }],
  ['junk', [1, 2, 3]],
])('a callback of %s asks nobody', (_case, body) => {
  expect(parseCallback(JSON.stringify(body))).toBeUndefined()
})

const EVENTS = [...FACTS.enums.event.members, ...FACTS.enums['dispute event'].members]

it('every documented event is known: about a payment, a request, money back, or nothing of ours', () => {
  const data = { payment_id: `py-${UUID}`, payment_request_id: `pr-${UUID}` }
  const kindOf = (event: string) => {
    const subject = parseCallback(JSON.stringify({ event, data }))
    if (typeof subject !== 'object') return subject
    return subject.providerPaymentId ? 'payment' : 'request'
  }

  expect(
    Object.fromEntries([...EVENTS, 'payment.of_tomorrow'].map((event) => [event, kindOf(event)])),
  ).toStrictEqual({
    'payment.capture': 'payment',
    'payment.failure': 'payment',
    'payment.authorization': 'payment',
    'payment.expiry': undefined,
    'payment_request.expiry': 'request',
    'payment_token.activation': undefined,
    'payment_token.failure': undefined,
    'payment_token.expiry': undefined,
    'refund.succeeded': 'money_back',
    'refund.failed': 'money_back',
    'dispute.action_required': 'money_back',
    'dispute.under_review': 'money_back',
    'dispute.won': 'money_back',
    'dispute.lost': 'money_back',
    'dispute.due_date_approaching': 'money_back',
    'payment.of_tomorrow': undefined,
  })
})
