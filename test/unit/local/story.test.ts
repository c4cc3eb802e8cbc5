import { describe, expect, it } from 'vitest'
import { startStory } from '../../../infra/local/console/story/story.ts'
import type { StoryLine } from '../../../infra/local/console/story/story-line.ts'
import { tellLogLine } from '../../../infra/local/console/story/tell-log-line.ts'
import { localLog } from '../../../infra/local/functions/local-log.ts'
import { startLocalClock } from '../../../infra/local/process/local-clock.ts'

const paymentId = '00000000-0000-4000-8000-000000000001'
const at = '2026-01-01T00:00:00.000Z'

describe('the story by the log', () => {
  const line = (message: string, fields: object) => tellLogLine(JSON.stringify({ timestamp: at, message, ...fields }))

  it.each([
    ['operator.action', { action: 'gateway-local-get-payment' }],
    ['operator.refused', { action: 'gateway-local-list-clients', code: 'validation' }],
    ['sync.completed', { transactions: 0 }],
    ['request.completed', { route: 'GET /v1/payments', status: 200 }],
    ['constructor', {}],
  ])('leaves out looks and rounds without work: %s', (message, fields) => {
    expect(line(message, fields)).toBeUndefined()
  })

  const paid = { payment_id: paymentId, method: 'qris', source: 'callback', deliveries: 1 }
  const attempt = { endpoint_id: '1a2b3c4d-0000', attempt: 8, duration_ms: 5 }
  const held = { kind: 'money', cause: 'second_capture', suspense_id: 'py-1', payment_id: paymentId }
  const refused = { action: 'gateway-local-redeliver', code: 'not_found' }

  it.each<[string, object, string]>([
    ['payment.created', { ...paid, channel: 'BCA' }, 'payment plain: created, to be paid by BCA'],
    ['payment.create_refused', { reason: 'no channel' }, 'payment bad: could not be created: no channel'],
    ['payment.succeeded', paid, 'payment good: paid by qris (heard by callback); 1 webhook to send'],
    [
      'payment.expired',
      { source: 'due_work', deliveries: 0 },
      'payment bad: expired (heard by due work); 0 webhooks to send',
    ],
    [
      'payment.failed',
      { ...paid, failure_reason: 'wrong_amount' },
      'payment bad: failed: wrong amount (heard by callback); 1 webhook to send',
    ],
    ['payment.cancelled', paid, 'payment bad: cancelled (heard by callback)'],
    [
      'delivery.succeeded',
      { ...attempt, http_status: 200 },
      'webhook good: endpoint 1a2b3c4d: answered 200 in 5 ms (attempt 8)',
    ],
    ['delivery.failed', { ...attempt, error: 'dns' }, 'webhook bad: endpoint 1a2b3c4d: dns in 5 ms (attempt 8)'],
    [
      'delivery.abandoned',
      { ...attempt, http_status: 500, error: 'http_status' },
      'webhook bad: endpoint 1a2b3c4d: answered 500 in 5 ms (attempt 8); the delivery was abandoned',
    ],
    ['delivery.skipped', attempt, 'webhook bad: endpoint 1a2b3c4d was skipped: it is disabled'],
    ['delivery.not_sent', { deliveries: 2 }, 'webhook bad: messages of 2 webhooks were not sent; due work sends them'],
    [
      'settlement.recorded',
      { net_minor: 287_700, payments: 1 },
      'settlement good: recorded: Rp 287,700 of 1 payment is to be paid out',
    ],
    ['settlement.closed', { status: 'manual_paid' }, 'settlement good: its money is paid out'],
    ['settlement.closed', { status: 'failed' }, 'settlement bad: its payout failed'],
    ['suspense.recorded', held, 'suspense bad: money second capture (py-1)'],
    [
      'provider.call_failed',
      { operation: 'create_request', reason: 'timeout' },
      'provider bad: create_request failed: timeout',
    ],
    ['operator.refused', refused, 'operator bad: redeliver was refused: not_found'],
    ['audit.completed', { balanced: 'true' }, 'work good: the books balance'],
    ['audit.completed', { balanced: 'false' }, 'work bad: the books do not balance'],
    ['audit.completed', { balanced: '?' }, 'work plain: the audit could not decide whether the books balance'],
  ])('tells of %s %j: %s', (message, fields, told) => {
    const { subject, tone, text } = line(message, fields) ?? {}

    expect(`${subject} ${tone}: ${text}`).toBe(told)
  })

  it('leads to the payment or the settlement that a line is about', () => {
    expect(line('payment.succeeded', paid)).toMatchObject({ at, id: paymentId })
    expect(line('settlement.closed', { settlement_id: 's-1' })).toMatchObject({ at, id: 's-1' })
  })
})

it('the story gives each listener what happened before it came, and then what happens', () => {
  const clock = startLocalClock()
  const log = localLog(clock)
  const story = startStory({ clock, log })
  const told = (lines: readonly StoryLine[]) => lines.map(({ text }) => text)
  log.info('payment.created', { method: 'qris' })
  const [first, second]: [StoryLine[], StoryLine[]] = [[], []]

  const leave = story.follow((line) => first.push(line))
  log.info('payment.succeeded', { method: 'qris', source: 'callback', deliveries: 1 })
  story.follow((line) => second.push(line))
  leave()
  log.info('callback.ignored')
  story.close()
  log.info('callback.ignored')
  clock.close()

  const both = ['created, to be paid by qris', 'paid by qris (heard by callback); 1 webhook to send']
  expect(told(first)).toStrictEqual(both)
  expect(told(second)).toStrictEqual([...both, 'ignored: it does not concern this gateway'])
})
