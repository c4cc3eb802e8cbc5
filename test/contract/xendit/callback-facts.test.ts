import { expect, it } from 'vitest'
import { parseCallback } from '../../../shared/provider/xendit/parse-callback.ts'
import { CALLBACK, CALLBACK_TOKEN, call, knowCallbackToken } from '../../support/api-event.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { memoryDeps } from '../../support/test-deps.ts'
import FACTS from './facts.json' with { type: 'json' }
import PUBLISHED from './published-callbacks.json' with { type: 'json' }

const UUID = '4e0209e9-67a2-449a-9748-57df6a8bddad'

it.each(PUBLISHED.callbacks)('$name: 200, nothing changes, no alert', async ({ body }) => {
  const deps = memoryDeps()
  knowCallbackToken(deps)
  await aPendingPayment(deps, await aStoredClient(deps))
  deps.changes.length = 0

  const answer = await call(deps, CALLBACK, {
    body: JSON.stringify(body),
    headers: { 'x-callback-token': CALLBACK_TOKEN },
  })

  expect(answer.status).toBe(200)
  expect(deps.changes).toStrictEqual([])
  expect(deps.published).toStrictEqual([])
})

const EVENTS = [...FACTS.enums.event.members, ...FACTS.enums['dispute event'].members]

it('every documented event is known: about a payment, a request, money back, or nothing of ours', () => {
  const data = { payment_id: `py-${UUID}`, payment_request_id: `pr-${UUID}` }
  const kindOf = (event: string) => {
    const subject = parseCallback(JSON.stringify({ event, data }))
    if (typeof subject !== 'object') return subject
    if ('kind' in subject) return subject.kind
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
    'dispute.action_required': 'dispute',
    'dispute.under_review': 'dispute',
    'dispute.won': 'dispute',
    'dispute.lost': 'dispute',
    'dispute.due_date_approaching': 'dispute',
    'payment.of_tomorrow': undefined,
  })
})
