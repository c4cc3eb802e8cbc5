import { describe, expect, it } from 'vitest'
import { listPaymentEvents } from '../../../shared/event/read-events.ts'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { findPayment } from '../../../shared/payment/payment-store.ts'
import type { CancelAnswer } from '../../../shared/provider/provider.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { API, anApi, aPaymentBody, call } from '../../support/api-event.ts'
import { ledgerView } from '../../support/payment-builders.ts'
import { recordTable, testDeps } from '../../support/test-deps.ts'

async function pending() {
  const api = await anApi()
  const { body } = await api.ask('createPayment', { body: aPaymentBody({ metadata: { a: 1 } }) })
  const payment = await findPayment(api.deps, api.caller.clientId, String(body['id']))
  return { ...api, id: payment.paymentId, body, payment, requestId: payment.paymentRequestId }
}

it('GET /v1/payments/{id} (spec 4.3) answers what create answered, and paid_at once it has succeeded, with the estimate of its fee', async () => {
  const { deps, ask, id, body, requestId } = await pending()
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
    const { deps, caller, ask, id, body, payment, requestId } = await pending()

    const answer = await ask('cancelPayment', { id })

    expect([answer.status, answer.body]).toStrictEqual([200, { ...body, status: 'cancelled' }])
    expect((await ask('getPayment', { id })).text).toBe(answer.text)
    expect(deps.provider.requests.get(requestId)?.status).toBe('cancelled')
    expect(await ledgerView(deps, caller.clientId)).toStrictEqual({ pendingMinor: 0, cancelled: 1 })
    expect(await listPaymentEvents(deps, payment.paymentId)).toStrictEqual([])
  })

  it.each(['', '{}', 'nonsense', '['.repeat(60_000)])(
    'cancels what the provider cannot, for the body %.10s',
    async (sent) => {
      const { deps, ask, id } = await pending()
      deps.provider.script('cancelRequest', async () => ({ kind: 'not_cancellable' }))

      const cancelled = { status: 200, body: { status: 'cancelled' } }
      expect(await ask('cancelPayment', { id, body: sent })).toMatchObject(cancelled)
    },
  )

  const ENDED = ['failed', 'expired', 'cancelled'] as const
  it.each(ENDED)(
    'refuses to cancel a payment that is %s, which is shown without paid_at',
    async (status) => {
      const { deps, ask, id, body, payment } = await pending()
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
    const { deps, caller, ask, id, requestId } = await pending()
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
    'answers 502 to %j with code %s; the payment stays, and can be cancelled again',
    async (upstream, code) => {
      const { deps, ask, id, body } = await pending()
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

async function aMerchant(deps = testDeps()) {
  const { caller, ask } = await anApi({}, deps)
  const create = (key?: string, body: unknown = aPaymentBody()) =>
    ask('createPayment', { body, headers: key === undefined ? {} : { 'Idempotency-Key': key } })
  const asked = (query: Readonly<Record<string, string>>) => ask('listPayments', { query })
  return { deps, caller, create, asked, ledger: () => ledgerView(deps, caller.clientId) }
}

const REPLAYED = { 'idempotency-replayed': 'true' }

describe('Idempotency-Key of POST /v1/payments (spec 4.1, rule 3)', () => {
  it('answers 201 first, then 200 with the same bytes and a header that marks the replay', async () => {
    const { deps, caller, create, ledger } = await aMerchant()

    const first = await create('order-1')
    deps.clock.advance(3_600)
    const again = await create('order-1')

    expect([first.status, again.status]).toStrictEqual([201, 200])
    expect(again.text).toBe(first.text)
    expect(first.body['id']).toBe(paymentIdForKey(caller.clientId, 'order-1'))
    expect(first.headers).not.toHaveProperty('idempotency-replayed')
    expect(again.headers).toMatchObject(REPLAYED)
    expect(deps.provider.countOf('createRequest')).toBe(1)
    expect(await ledger()).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it.each([
    ['another amount', aPaymentBody({ amount: 5 })],
    ['a value that is refused', aPaymentBody({ amount: 0 })],
    ['an unknown field', aPaymentBody({ colour: 'red' })],
    ['no JSON at all', 'nonsense'],
    ['more than 64 KB', 'x'.repeat(70_000)],
  ])('answers the original payment when the new body has %s', async (_, body) => {
    const { deps, create } = await aMerchant()
    const first = await create('order-1')

    const again = await create('order-1', body)

    expect([again.status, again.text]).toStrictEqual([200, first.text])
    expect(again.headers).toMatchObject(REPLAYED)
    expect(deps.provider.countOf('createRequest')).toBe(1)
  })

  it('makes a payment for every request without a key or with an empty one', async () => {
    const { deps, create } = await aMerchant()

    const answers = [await create(), await create(), await create(''), await create('')]

    expect(answers.map(({ status }) => status)).toStrictEqual([201, 201, 201, 201])
    expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(4)
    expect(deps.provider.countOf('createRequest')).toBe(4)
  })

  it('accepts 255 characters and refuses 256, even if the key is used already', async () => {
    const { create, ledger } = await aMerchant()

    const answers = [
      await create('k'.repeat(255)),
      await create('k'.repeat(255)),
      await create('k'.repeat(256)),
    ]

    const refusal = {
      message: 'Idempotency-Key must have at most 255 characters',
      code: 'validation',
    }
    expect(answers).toMatchObject([
      { status: 201 },
      { status: 200 },
      { status: 422, body: refusal },
    ])
    expect(await ledger()).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })
})

describe('GET /v1/payments?idempotency_key=… (design section 8)', () => {
  const page = { page: 1, per_page: 25 }
  const NONE = { data: [], pagination: { ...page, total: 0, total_pages: 0 } }

  it('lists the one payment of the key as fetch shows it, with a single read', async () => {
    const { deps, caller, create, asked } = await aMerchant()
    const { body } = await create('order 1/é')
    await create('order-2')
    const watched = recordTable(deps)

    const answer = await call(watched.deps, API.listPayments, {
      caller,
      query: { idempotency_key: 'order 1/é' },
    })
    const second = await asked({ idempotency_key: 'order 1/é', page: '2', per_page: '1' })

    const one = { total: 1, total_pages: 1 }
    expect(answer.body).toStrictEqual({ data: [body], pagination: { ...page, ...one } })
    expect(watched.calls.map(({ name }) => name)).toStrictEqual(['batchGet', 'get'])
    expect(second.body).toStrictEqual({ data: [], pagination: { page: 2, per_page: 1, ...one } })
  })

  it('is empty for an unknown key, another client’s key, and a key whose payment is still being created', async () => {
    const { deps, create, asked } = await aMerchant()
    const other = await aMerchant(deps)
    await other.create('theirs')
    deps.provider.script('createRequest', async () => ({ kind: 'unknown', reason: 'timeout' }))
    await create('unanswered')

    const answers = []
    for (const key of ['absent', 'theirs', 'unanswered'])
      answers.push(await asked({ idempotency_key: key }))
    deps.provider.heal('createRequest')
    const retried = await create('unanswered')

    expect(answers.map(({ status, body }) => [status, body])).toStrictEqual(
      answers.map(() => [200, NONE]),
    )
    expect((await asked({ idempotency_key: 'unanswered' })).body['data']).toStrictEqual([
      retried.body,
    ])
  })
})
