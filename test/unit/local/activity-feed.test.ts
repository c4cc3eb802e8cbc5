import { describe, expect, it } from 'vitest'
import { describeLogLine, startActivityFeed } from '../../../infra/local/console/activity/activity-feed.ts'
import type { ActivityLine } from '../../../infra/local/console/activity/activity-line.ts'
import { localLog } from '../../../infra/local/functions/local-log.ts'
import { startLocalClock } from '../../../infra/local/process/local-clock.ts'

describe('the activity feed by the log', () => {
  const paid = { method: 'qris', source: 'callback', deliveries: 1 }
  const wrong = { failure_reason: 'wrong_amount' }
  const attempt = { endpoint_id: '1a2b3c4d-0000', attempt: 8, duration_ms: 5 }

  it.each<[string, object, string | undefined]>([
    ['payment.succeeded', paid, 'payment good: paid by qris (reported by callback); 1 webhook to send'],
    ['payment.failed', wrong, 'payment bad: failed: wrong amount (reported by the gateway); 0 webhooks to send'],
    ['delivery.failed', { ...attempt, error: 'dns' }, 'webhook bad: endpoint 1a2b3c4d: dns in 5 ms (attempt 8)'],
    ['settlement.closed', { status: 'failed' }, 'settlement bad: its payout failed'],
    ['operator.refused', { action: 'gateway-local-redeliver', code: 'no' }, 'operator bad: redeliver was refused: no'],
    ['audit.completed', { balanced: '?' }, 'work plain: the audit could not decide whether the books balance'],
    // Looks, and rounds without work.
    ['operator.action', { action: 'gateway-local-get-payment' }, undefined],
    ['sync.completed', { transactions: 0 }, undefined],
    ['request.completed', { route: 'GET /v1/payments', status: 200 }, undefined],
    ['constructor', {}, undefined],
  ])('tells of %s %j: %s', (message, fields, told) => {
    const line = describeLogLine(JSON.stringify({ timestamp: '2026-01-01T00:00:00.000Z', message, ...fields }))

    expect(line && `${line.subject} ${line.tone}: ${line.text}`).toBe(told)
  })
})

it('the activity feed gives each listener what happened before it came, and then what happens', () => {
  const clock = startLocalClock()
  const log = localLog(clock)
  const activity = startActivityFeed({ clock, log })
  const told = (lines: readonly ActivityLine[]) => lines.map(({ text }) => text)
  log.info('payment.created', { method: 'qris' })
  const [first, second]: [ActivityLine[], ActivityLine[]] = [[], []]

  const leave = activity.follow((line) => first.push(line))
  log.info('endpoint.answers_again')
  activity.follow((line) => second.push(line))
  leave()
  log.info('callback.ignored')
  activity.close()
  log.info('callback.ignored')
  clock.close()

  const both = ['created, to be paid by qris', 'the endpoint answers again']
  expect(told(first)).toStrictEqual(both)
  expect(told(second)).toStrictEqual([...both, 'ignored: it does not concern this gateway'])
})
