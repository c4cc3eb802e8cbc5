import { describe, expect, it } from 'vitest'
import { writePointers } from '../../../shared/payment/creating-store.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { findPayment } from '../../../shared/payment/payment-store.ts'
import type { CancelAnswer } from '../../../shared/provider/provider.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { paymentKey, referencePk } from '../../../shared/table/keys.ts'
import { addMs } from '../../../shared/time.ts'
import { API, anApi, aPaymentBody, call, NONE, PAGE, type Query } from '../../support/api-event.ts'
import { storeOpen, succeededPayment } from '../../support/paid-builders.ts'
import {
  aPendingPayment,
  eventsOf,
  ledgerView,
  paidWhileCreating,
} from '../../support/payment-builders.ts'
import { expire, notifyOf } from '../../support/synced-payment.ts'
import { changeRow } from '../../support/tampering.ts'
import {
  memoryDeps,
  queriesIn,
  recordTable,
  type TestDeps,
  testDeps,
} from '../../support/test-deps.ts'

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
    expect(await ledgerView(deps, caller)).toStrictEqual({ pendingMinor: 0, cancelled: 1 })
    expect(await eventsOf(deps, payment)).toStrictEqual([])
  })

  it.each(['', '{}', 'nonsense', '['.repeat(60_000)])(
    'cancels a payment that the provider cannot cancel, for the body %.10s',
    async (sent) => {
      const { deps, ask, id } = await aCallerWithPayment()
      deps.provider.answer('cancelRequest', { kind: 'not_cancellable' })

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
      expect(body).not.toHaveProperty('paid_at')
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
    expect(await ledgerView(deps, caller)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
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
      deps.provider.answer('cancelRequest', upstream)

      const answer = await ask('cancelPayment', { id })

      const refusal = { message: expect.stringContaining('unchanged'), code }
      expect([answer.status, answer.body]).toStrictEqual([502, refusal])
      expect((await ask('getPayment', { id })).body).toStrictEqual(body)
      const finding = await findSuspense(deps, `${id}#not_found_upstream`)
      expect(finding?.kind).toBe(upstream.kind === 'not_found' ? 'finding' : undefined)
      deps.provider.heal('cancelRequest')
      expect((await ask('cancelPayment', { id })).status).toBe(200)
    },
  )
})

/** The longest reference that a create takes, in characters. */
const REFERENCE = `order 1042/é ${'😀'.repeat(242)}`

async function aMerchant(deps?: TestDeps) {
  const api = await anApi({}, deps)
  const list = (query: Query = {}) =>
    api.ask('listPayments', { query: { external_reference: REFERENCE, ...query } })
  const create = async (fieldsOfBody: object = {}) => {
    const body = aPaymentBody({ external_reference: REFERENCE, ...fieldsOfBody })
    const answer = await api.ask('createPayment', { body })
    api.deps.clock.advance(1)
    return answer.body
  }
  return { ...api, list, create }
}

it('GET /v1/payments (spec 4.2) lists each payment as fetch shows it, newest first', async () => {
  const { deps, caller, ask, create } = await aMerchant()
  const ids = [await create(), await create(), await create()].map(({ id }) => String(id))
  await ask('cancelPayment', { id: String(ids[0]) })
  const watched = recordTable(deps)

  const { body } = await ask('listPayments')
  const secondPage = await call(watched.deps, API.listPayments, {
    caller,
    query: { page: '2', per_page: '1' },
  })

  const fetched = await Promise.all(ids.toReversed().map((id) => ask('getPayment', { id })))
  const data = fetched.map((answer) => answer.body)
  expect(body).toStrictEqual({ data, pagination: { ...PAGE, total: 3, total_pages: 1 } })
  const pagination = { page: 2, per_page: 1, total: 3, total_pages: 3 }
  expect(secondPage.body).toStrictEqual({ data: data.slice(1, 2), pagination })
  // The first query reads the ledger, the second query the keys up to the end of the page.
  const queries = queriesIn(watched.calls).map(({ index, limit }) => [index, limit])
  expect(queries.slice(1)).toStrictEqual([['by-owner', 2]])
  const past = recordTable(deps)
  const empty = await call(past.deps, API.listPayments, { caller, query: { page: '1000000' } })
  expect(empty.body).toMatchObject({ data: [], pagination: { total: 3 } })
  expect(queriesIn(past.calls).map(({ index }) => index)).toStrictEqual([undefined])
})

it('GET /v1/payments?status=… (spec 4.2) lists and counts the payments of that status alone', async () => {
  const { deps, caller, ask, create } = await aMerchant()
  const [expired, pending] = [String((await create())['id']), String((await create())['id'])]
  const payment = await findPayment(deps, caller.clientId, expired)
  await expire(deps, payment)
  const listed = async (status: string) => (await ask('listPayments', { query: { status } })).body

  const pagination = { ...PAGE, total: 1, total_pages: 1 }
  for (const [status, id] of Object.entries({ expired, pending })) {
    const { body } = await ask('getPayment', { id })
    expect(body).toMatchObject({ status })
    expect(await listed(status)).toStrictEqual({ data: [body], pagination })
  }
  for (const status of ['succeeded', 'failed', 'cancelled'])
    expect(await listed(status)).toStrictEqual(NONE)
})

describe('GET /v1/payments?external_reference=… (design section 8)', () => {
  it('lists exactly the payments with the reference as fetch shows them, newest first, in pages with the true total', async () => {
    const { deps, caller, create, list } = await aMerchant()
    const newestFirst = [await create(), await create(), await create()].toReversed()
    await create({ external_reference: REFERENCE.slice(0, -2) })
    await create({ external_reference: undefined })
    const watched = recordTable(deps)

    const answer = await call(watched.deps, API.listPayments, {
      caller,
      query: { external_reference: REFERENCE },
    })
    const secondPage = await list({ per_page: '2', page: '2' })

    expect(answer.body).toStrictEqual({
      data: newestFirst,
      pagination: { ...PAGE, total: 3, total_pages: 1 },
    })
    // All reads are consistent.
    expect(watched.calls.map(({ name }) => name)).toStrictEqual(['batchGet', 'query', 'batchGet'])
    expect(watched.calls.at(-1)).toMatchObject({ reads: 'consistent' })
    const pagination = { page: 2, per_page: 2, total: 3, total_pages: 2 }
    expect(secondPage.body).toStrictEqual({ data: newestFirst.slice(2), pagination })
    expect((await list({ page: '9' })).body).toMatchObject({ data: [], pagination: { total: 3 } })
  })

  // Public report: mollie/WooCommerce #1159.
  it('accepts a status too, and counts the payments that match reference and status', async () => {
    const { deps, caller, create, list } = await aMerchant()
    const ids = []
    for (let number = 0; number < 4; number++) ids.push(String((await create())['id']))
    for (const id of ids.slice(1, 3))
      await expire(deps, await findPayment(deps, caller.clientId, id))

    const { body } = await list({ status: 'expired', per_page: '1', page: '2' })

    const pagination = { page: 2, per_page: 1, total: 2, total_pages: 2 }
    expect(body).toMatchObject({ data: [{ id: ids[1], status: 'expired' }], pagination })
    expect((await list({ status: 'pending' })).body).toMatchObject({ pagination: { total: 2 } })
    expect((await list({ status: 'failed' })).body).toStrictEqual(NONE)
  })

  it('lists a payment only once if it was paid before its create was answered', async () => {
    const { deps, caller, list } = await aMerchant()
    const fields = { externalReference: REFERENCE }
    const { creating, answer, providerPaymentId } = await paidWhileCreating(deps, caller, fields)
    // The lease of the create has expired, so the customer's payment is credited without its
    // answer.
    deps.clock.advance(60)
    await notifyOf(deps, providerPaymentId)
    answer.resolve()
    const { payment } = await creating

    const shown = {
      id: payment.paymentId,
      status: 'succeeded',
      payment_destination: '381652390000001',
    }
    expect((await list()).body).toMatchObject({ data: [shown] })
    const { items } = await deps.table.query({
      partition: [referencePk(caller.clientId, REFERENCE)],
      limit: 10,
    })
    expect(items).toMatchObject([{ sk: `${payment.createdAt}#${payment.paymentId}` }])
  })

  it('ignores a pointer with another client or reference than its payment, whatever client its row names', async () => {
    const deps = testDeps()
    const [owner, stranger] = [await aMerchant(deps), await aMerchant(deps)]
    const foreign = await aPendingPayment(deps, owner.caller, { externalReference: REFERENCE })
    const misnamed = await aPendingPayment(deps, stranger.caller, { externalReference: 'another' })
    const { clientId } = stranger.caller
    await writePointers(deps, { ...foreign, clientId })
    await writePointers(deps, { ...misnamed, externalReference: REFERENCE })

    for (const query of [undefined, { status: 'pending' }])
      expect((await stranger.list(query)).body).toStrictEqual(NONE)
    await changeRow(deps, paymentKey(foreign.paymentId), { set: { owner: clientId } })
    expect((await stranger.list()).body).toStrictEqual(NONE)
    expect((await stranger.ask('listPayments')).body['data']).toHaveLength(1)
  })

  it('lists the newest 100 payments of a reference, also when it has more', async () => {
    const { deps, caller, list } = await aMerchant(memoryDeps())
    const payments = Array.from({ length: 130 }, (_, at) =>
      succeededPayment(caller, { paidAt: addMs(deps.now(), at), externalReference: REFERENCE }),
    )
    await storeOpen(deps, payments)

    const answer = await list({ status: 'succeeded', page: '2', per_page: '60' })

    const shown = payments.slice(30, 70).toReversed()
    expect(answer.body['data']).toMatchObject(shown.map(({ paymentId: id }) => ({ id })))
    expect(answer.body['pagination']).toMatchObject({ total: 100, total_pages: 2 })
  })
})
