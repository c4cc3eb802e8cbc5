import { describe, expect, it } from 'vitest'
import { listEventsOf } from '../../../shared/event/read-events.ts'
import { subjectOfPayment } from '../../../shared/ids.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { findPayment } from '../../../shared/payment/payment-store.ts'
import type { CancelAnswer } from '../../../shared/provider/provider.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { anApi, aPaymentBody } from '../../support/api-event.ts'
import { ledgerView } from '../../support/payment-builders.ts'

async function aCallerWithPayment() {
  const api = await anApi()
  const { body } = await api.ask('createPayment', { body: aPaymentBody({ metadata: { a: 1 } }) })
  const payment = await findPayment(api.deps, api.caller.clientId, String(body['id']))
  return { ...api, id: payment.paymentId, body, payment, requestId: payment.paymentRequestId }
}

it('GET /v1/payments/{id} (spec 4.3) answers as create did, and adds paid_at once the payment has succeeded, with the estimated fee', async () => {
  const { deps, ask, id, body, requestId } = await aCallerWithPayment()
  const fetched = await ask('getPayment', { id })
  deps.clock.advance(90)
  deps.provider.pay(requestId)
  await applyProviderNews(deps, { paymentRequestId: requestId }, 'callback')

  const paid = await ask('getPayment', { id })

  expect([fetched.status, fetched.body]).toStrictEqual([200, body])
  expect(paid.body).toStrictEqual({
    ...body,
    status: 'succeeded',
    paid_at: '2026-11-20T04:01:30.000Z',
  })
})

describe('POST /v1/payments/{id}/cancel (spec 4.4)', () => {
  it('cancels the payment here and at the provider, counts it, and sends no event', async () => {
    const { deps, caller, ask, id, body, payment, requestId } = await aCallerWithPayment()

    const answer = await ask('cancelPayment', { id })

    expect([answer.status, answer.body]).toStrictEqual([200, { ...body, status: 'cancelled' }])
    expect((await ask('getPayment', { id })).text).toBe(answer.text)
    expect(deps.provider.requests.get(requestId)?.status).toBe('cancelled')
    expect(await ledgerView(deps, caller.clientId)).toStrictEqual({ pendingMinor: 0, cancelled: 1 })
    expect(await listEventsOf(deps, subjectOfPayment(payment.paymentId))).toStrictEqual([])
  })

  it.each(['', '{}', 'nonsense', '['.repeat(60_000)])(
    'cancels a payment that the provider cannot cancel, for the body %.10s',
    async (sent) => {
      const { deps, ask, id } = await aCallerWithPayment()
      deps.provider.script('cancelRequest', async () => ({ kind: 'not_cancellable' }))

      const cancelled = { status: 200, body: { status: 'cancelled' } }
      expect(await ask('cancelPayment', { id, body: sent })).toMatchObject(cancelled)
    },
  )

  const ENDED = ['failed', 'expired', 'cancelled'] as const
  it.each(ENDED)(
    'refuses to cancel a payment that is %s, which is shown without paid_at',
    async (status) => {
      const { deps, ask, id, body, payment } = await aCallerWithPayment()
      await closePayment(deps, payment, { status, source: 'due_work' })

      const answer = await ask('cancelPayment', { id })

      const message = `payment cannot be cancelled in status=${status}`
      expect([answer.status, answer.body]).toStrictEqual([422, { message, code: 'validation' }])
      expect(deps.provider.countOf('cancelRequest')).toBe(0)
      const reason = status === 'failed' ? { failure_reason: 'other' } : {}
      expect((await ask('getPayment', { id })).body).toStrictEqual({ ...body, status, ...reason })
    },
  )

  it('answers 422 with status=succeeded when the customer has paid first', async () => {
    const { deps, caller, ask, id, requestId } = await aCallerWithPayment()
    deps.provider.pay(requestId)

    const { status, body } = await ask('cancelPayment', { id })

    expect([status, body['message']]).toStrictEqual([
      422,
      'payment cannot be cancelled in status=succeeded',
    ])
    expect((await ask('getPayment', { id })).body['status']).toBe('succeeded')
    expect(await ledgerView(deps, caller.clientId)).toStrictEqual({
      pendingMinor: 95_900,
      succeeded: 1,
    })
  })

  it.each<readonly [CancelAnswer, string]>([
    [{ kind: 'unanswered', reason: 'unreachable' }, 'network'],
    [{ kind: 'unanswered', reason: 'server_error' }, 'server_error'],
    // A wrong key looks just like a request that is not there.
    [{ kind: 'not_found' }, 'server_error'],
  ])(
    'answers the provider’s %j by 502 with code %s; the payment is unchanged and can be cancelled again',
    async (upstream, code) => {
      const { deps, ask, id, body } = await aCallerWithPayment()
      deps.provider.script('cancelRequest', async () => upstream)

      const answer = await ask('cancelPayment', { id })

      const refusal = { message: expect.stringContaining('unchanged') as unknown, code }
      expect([answer.status, answer.body]).toStrictEqual([502, refusal])
      expect((await ask('getPayment', { id })).body).toStrictEqual(body)
      const finding = await findSuspense(deps, `${id}#not_found_upstream`)
      expect(finding?.kind).toBe(upstream.kind === 'not_found' ? 'finding' : undefined)
      deps.provider.heal('cancelRequest')
      expect((await ask('cancelPayment', { id })).status).toBe(200)
    },
  )
})
