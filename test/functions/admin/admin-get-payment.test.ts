import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { timelineSteps } from '../../../infra/local/console/page/payments/timeline-steps.ts'
import type { Timeline } from '../../../infra/local/console/page/shapes.ts'
import { tellStory } from '../../../infra/operate/story/tell-story.ts'
import { listEventsOf } from '../../../shared/event/read-events.ts'
import { eventIdFor, type PaymentId, subjectOfPayment } from '../../../shared/ids.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { storedDetails } from '../../../shared/payment/payment-details.ts'
import { recordSuspense } from '../../../shared/suspense/record-suspense.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { bookRefund, someHeldMoney } from '../../support/money-rows.ts'
import { auditRecordsOf, invokeAdmin, listedSuspenseIds } from '../../support/operator-actions.ts'
import {
  aCreating,
  aPendingPayment,
  aStoredClient,
  succeededKey,
} from '../../support/payment-builders.ts'
import {
  aLoneClient,
  aLonePayment,
  fail,
  sweptADayLater,
} from '../../support/settlement-builders.ts'
import { creditedPayment } from '../../support/synced-payment.ts'
import { changeRow } from '../../support/tampering.ts'
import { linesOf, memoryDeps, type TestDeps, testDeps } from '../../support/test-deps.ts'
import { attemptedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'

async function timelineOf(deps: TestDeps, { paymentId }: { readonly paymentId: PaymentId }) {
  const { body } = await invokeAdmin('get-payment', deps, { payment_id: paymentId })
  return Object(body) as Timeline
}

describe('get-payment', () => {
  it('shows why a create is stuck before its payment exists', async () => {
    const endedAttempt = {
      number: 2,
      startedAt: testDeps().now(),
      outcome: 'unknown',
      paymentRequestId: 'pr-1',
    } as const
    const stuck = {
      leaseUntil: undefined,
      failure: 'the provider did not answer',
      providerAttempts: [endedAttempt],
    }
    const { deps, client, creating } = await aCreating(stuck)

    const attempt = {
      number: 2,
      started_at: deps.now(),
      outcome: 'unknown',
      code: null,
      payment_request_id: 'pr-1',
    }
    expect(await timelineOf(deps, creating)).toStrictEqual({
      id: creating.paymentId,
      client_id: client.clientId,
      status: 'creating',
      claimed_at: deps.now(),
      lease_until: null,
      failure: 'the provider did not answer',
      timeline: {
        provider_attempts: [attempt],
        transitions: [],
        events: [],
        settlements: [],
        suspense: [],
      },
    })
  })

  it('shows the attempt, the transitions and the event with its deliveries, each with the failure reason', async () => {
    const deps = testDeps()
    const payment = await aPendingPayment(deps, await aStoredClient(deps))
    const { endpointId } = await storedEndpoint(deps, payment)
    deps.clock.advance(1)
    await closePayment(deps, payment, {
      status: 'failed',
      source: 'callback',
      failureReason: 'declined',
    })

    const timeline = await timelineOf(deps, payment)

    const event_id = eventIdFor(subjectOfPayment(payment.paymentId), 'payment.failed')
    const [createdAt, endedAt] = timeline.timeline.transitions.map(({ at }) => at)
    expect(stripVTControlCharacters(tellStory(timeline)).split('\n').slice(0, 5)).toStrictEqual([
      `payment ${payment.paymentId}: failed`,
      '',
      `${createdAt}  Created: Rp 100,000`,
      `${endedAt}  Ended: failed, declined  reported by callback`,
      `${endedAt}  Event payment.failed  to 1 endpoint`,
    ])
    expect(timeline).toMatchObject({
      status: 'failed',
      failure_reason: 'declined',
      cancel_requested_at: null,
      expiry_started_at: null,
      credited_provider_payment_id: null,
      next_check_at: null,
      timeline: {
        provider_attempts: [
          { number: 1, outcome: 'created', payment_request_id: payment.paymentRequestId },
        ],
        transitions: [
          { status: 'pending' },
          { status: 'failed', source: 'callback', failure_reason: 'declined' },
        ],
        events: [
          { event_id, fired_at: endedAt, deliveries: [{ endpoint_id: endpointId, event_id }] },
        ],
      },
    })
    expect(timeline.timeline.transitions[0]).not.toHaveProperty('failure_reason')
    expect(timelineSteps(timeline).map(({ text }) => text)).toContain('Ended: failed, declined')
    const failedLines = linesOf(deps, 'payment.failed')
    expect(failedLines).toMatchObject([{ fields: { failure_reason: 'declined' } }])
  })

  it('tells of a failed settlement that it failed', async () => {
    const { deps, client, payment } = await aLonePayment()
    const { settlementId: detail } = await fail(deps, await sweptADayLater(deps, client))

    const failure = { tone: 'bad', text: 'Settlement failed', detail }
    expect(timelineSteps(await timelineOf(deps, payment))).toContainEqual(failure)
  })

  it('shows events in the order in which they fired, without one that cannot be read, in at most 6 MB', async () => {
    const deps = memoryDeps()
    const { payment } = await creditedPayment(deps, await aStoredClient(deps))
    deps.clock.advance(1)
    await bookRefund(deps, payment, 10_000)

    const shown = async () =>
      (await timelineOf(deps, payment)).timeline.events.map(({ event }) => event)
    expect(await shown()).toStrictEqual(['payment.succeeded', 'payment.reversed'])

    const events = await listEventsOf(deps, subjectOfPayment(payment.paymentId))
    for (let made = 0; made < 20; made++) {
      const endpoint = await storedEndpoint(deps, payment)
      for (const event of events) await attemptedDelivery(deps, endpoint, 30, event)
    }
    expect(JSON.stringify(await timelineOf(deps, payment)).length / 2 ** 20).toBeCloseTo(5, 0)

    await changeRow(deps, succeededKey(payment), { set: { body: 'unreadable' } })
    expect(await shown()).toStrictEqual(['payment.reversed'])
  })

  it('shows a payment’s suspense items, which list-suspense finds by payment and by client, and not for an unknown payment', async () => {
    const { deps, client } = await aLoneClient()
    const [payment, otherPayment] = [
      await aPendingPayment(deps, client),
      await aPendingPayment(deps, client),
    ]
    const suspend = async (subject: typeof payment | undefined) => {
      deps.clock.advance(1)
      const about = { cause: 'wrong_amount', payment: subject } as const
      const item = someHeldMoney(deps, `py-${deps.newId()}`, 7_000, about)
      await recordSuspense(deps, item)
      return item.suspenseId
    }
    const [ownId, othersId, unknownId] = [
      await suspend(payment),
      await suspend(otherPayment),
      await suspend(undefined),
    ]
    const listIds = (filter: object) => listedSuspenseIds(deps, filter)

    const timeline = await timelineOf(deps, payment)

    expect(timeline.timeline.suspense).toMatchObject([
      { suspense_id: ownId, kind: 'money', cause: 'wrong_amount' },
    ])
    expect(timelineSteps(timeline).map(({ text }) => text)).toContain(
      'In suspense: money, wrong amount',
    )
    expect(await listIds({ payment_id: payment.paymentId })).toStrictEqual([ownId])
    expect(await listIds({ client_id: client.clientId })).toStrictEqual([othersId, ownId])
    expect(await listIds({ client_id: client.clientId, status: 'resolved' })).toStrictEqual([])
    expect(await listIds({ payment_id: payment.paymentId, status: 'resolved' })).toStrictEqual([])
    expect(await invokeAdmin('list-suspense', deps, { payment_id: deps.newId() })).toMatchObject({
      status: 404,
    })
    expect(await listIds({})).toStrictEqual([unknownId, othersId, ownId])
  })
})

it.each(['a remembered capture', 'the request of another attempt'])(
  'refresh-payment credits a payment by %s, and records the change',
  async (by) => {
    const { deps, client } = await aLoneClient()
    const payment = await aPendingPayment(deps, client)
    const { paymentId, paymentRequestId } = payment
    const other = { paymentRequestId: 'pr-2', reference: `${paymentId}-2` }
    deps.provider.requests.set('pr-2', { ...deps.provider.requestOf(paymentRequestId), ...other })
    const providerAttempts = payment.providerAttempts.map((one) => ({ ...one, ...other }))
    const id = deps.provider.pay('pr-2')
    const isAlone = by.startsWith('a remembered')
    const set = isAlone
      ? { rememberedProviderPaymentIds: new Set([id]) }
      : { details: storedDetails({ ...payment, providerAttempts }) }
    await changeRow(deps, paymentKey(paymentId), { set })
    const input = { operator: 'ana', payment_id: paymentId }
    if (isAlone) deps.provider.answer('getRequest', { kind: 'unanswered', reason: 'unreachable' })

    const { body } = await invokeAdmin('refresh-payment', deps, input)

    const [before, after] = [{ status: 'pending' }, { status: 'succeeded' }]
    expect(JSON.stringify(body)).toContain('succeeded')
    const record = { operator: 'ana', action: 'refresh-payment', before, after }
    expect(await auditRecordsOf(deps, paymentId)).toStrictEqual([record])
  },
)
