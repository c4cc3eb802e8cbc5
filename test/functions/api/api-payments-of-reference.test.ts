import { describe, expect, it } from 'vitest'
import { putPointers } from '../../../shared/payment/creating-store.ts'
import { findPayment } from '../../../shared/payment/find-payment.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { referencePk } from '../../../shared/table/keys.ts'
import { addMs } from '../../../shared/time.ts'
import { API, type ApiClient, anApi, aPaymentBody, call } from '../../support/api-event.ts'
import { recordTable } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aSucceededPayment, storeOpen, succeededPayment } from '../../support/paid-builders.ts'
import { aPendingPayment, paidWhileCreating } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

type Query = Readonly<Record<string, string>>

const REFERENCE = 'order 1042/é'

/** Both ways of looking for it. */
const FILTERS: readonly Query[] = [{}, { status: 'pending' }]

const aMerchant = async (fields: Parameters<typeof anApi>[0] = {}, deps?: TestDeps) => {
  const api = await anApi(fields, deps)
  const listed = (query: Query = {}) => api.ask('listPayments', { query: { external_reference: REFERENCE, ...query } })
  const create = async (fieldsOfBody: object = {}) => {
    const body = aPaymentBody({ external_reference: REFERENCE, ...fieldsOfBody })
    const answer = await api.ask('createPayment', { body })
    api.deps.clock.advance(1)
    return answer.body
  }
  return { ...api, listed, create }
}

/** What leads from the reference to payments. */
const pointersIn = async (deps: TestDeps, { clientId }: Pick<ApiClient, 'clientId'>, reference = REFERENCE) =>
  (await deps.table.query({ partition: [referencePk(clientId, reference)], limit: 10 })).items

const page = { page: 1, per_page: 25 }
const NONE = { data: [], pagination: { ...page, total: 0, total_pages: 0 } }

describe('GET /v1/payments?external_reference=… (design section 8)', () => {
  it('lists exactly those with the reference as fetch shows them, newest first, in pages with the true total', async () => {
    const { deps, caller, create, listed } = await aMerchant()
    const made = [await create(), await create(), await create()].toReversed()
    await create({ external_reference: `${REFERENCE} ` })
    await create({ external_reference: undefined })
    const watched = recordTable(deps)

    const answer = await call(watched.deps, API.listPayments, { caller, query: { external_reference: REFERENCE } })
    const pages = [await listed({ per_page: '2' }), await listed({ per_page: '2', page: '2' })]

    expect(answer.body).toStrictEqual({ data: made, pagination: { ...page, total: 3, total_pages: 1 } })
    // Key and client, parts, what leads there, and the payments: all of it as it is now.
    expect(watched.calls.map(({ name }) => name)).toStrictEqual(['batchGet', 'get', 'query', 'batchGet'])
    expect(watched.calls.at(-1)).toMatchObject({ reads: 'consistent' })
    expect(pages.map(({ body }) => body['data'])).toStrictEqual([made.slice(0, 2), made.slice(2)])
    expect(pages[1]?.body['pagination']).toStrictEqual({ page: 2, per_page: 2, total: 3, total_pages: 2 })
    expect((await listed({ page: '9' })).body).toMatchObject({ data: [], pagination: { total: 3 } })
  })

  it('takes a status too, with the true total of both', async () => {
    const { deps, caller, create, listed } = await aMerchant()
    const made = []
    for (let number = 0; number < 4; number++) made.push(String((await create())['id']))
    for (const id of made.slice(1, 3))
      await closePayment(deps, await findPayment(deps, caller.clientId, id), { status: 'expired', source: 'due_work' })

    const { body } = await listed({ status: 'expired', per_page: '1', page: '2' })

    expect(body).toMatchObject({
      data: [{ id: made[1], status: 'expired' }],
      pagination: { page: 2, per_page: 1, total: 2, total_pages: 2 },
    })
    expect((await listed({ status: 'pending' })).body).toMatchObject({ pagination: { total: 2 } })
    expect((await listed({ status: 'failed' })).body).toStrictEqual(NONE)
  })

  it('finds a payment once that was paid before its create was answered, whose commit came too late', async () => {
    const { deps, caller, listed } = await aMerchant()
    const { creating, answer, providerPaymentId } = await paidWhileCreating(deps, caller, {
      externalReference: REFERENCE,
    })
    // Its lease is over: the attempt counts as dead, and what the customer paid is credited without it.
    deps.clock.advance(60)
    await applyProviderNews(deps, { providerPaymentId }, 'callback')
    answer.resolve()
    const { payment } = await creating

    expect((await listed()).body).toMatchObject({ data: [{ id: payment.paymentId, status: 'succeeded' }] })
    expect(await pointersIn(deps, caller)).toMatchObject([{ sk: payment.paymentId }])
  })

  it('answers another client as if no payment had the reference, byte for byte', async () => {
    const deps = testDeps()
    const [owner, stranger] = [await aMerchant({}, deps), await aMerchant({}, deps)]
    await owner.create()

    for (const query of FILTERS) {
      const [foreign, absent] = [
        await stranger.listed(query),
        await stranger.listed({ ...query, external_reference: 'x' }),
      ]
      const { 'x-request-id': _, ...headers } = foreign.headers
      expect([foreign.status, foreign.text]).toStrictEqual([absent.status, absent.text])
      expect(absent.headers).toMatchObject(headers)
      expect(foreign.body).toStrictEqual(NONE)
    }
  })

  it.each(FILTERS)('shows nothing that a row leads to by mistake (%j)', async (query) => {
    const deps = testDeps()
    const [owner, stranger] = [await aMerchant({}, deps), await aMerchant({}, deps)]
    const foreign = await aPendingPayment(deps, owner.caller, { externalReference: REFERENCE })
    const misnamed = await aPendingPayment(deps, stranger.caller, { externalReference: 'another' })
    await putPointers(deps, { ...foreign, clientId: stranger.caller.clientId })
    await putPointers(deps, { ...misnamed, externalReference: REFERENCE })

    const { body, text } = await stranger.listed(query)

    expect(body['data']).toStrictEqual([])
    expect(text).not.toContain(foreign.paymentId)
  })

  it('takes a reference as long as a create does, in characters', async () => {
    const { create, listed } = await aMerchant()
    const reference = '😀'.repeat(255)
    const made = await create({ external_reference: reference })

    expect((await listed({ external_reference: reference })).body['data']).toStrictEqual([made])
  })
})

describe('a reference of very many payments', () => {
  const merchantWith = async (count: number, fields = {}) => {
    const merchant = await aMerchant(fields, memoryDeps())
    const { deps, caller } = merchant
    const payments = Array.from({ length: count }, (_, at) =>
      succeededPayment(caller, { paidAt: addMs(deps.now(), at), externalReference: REFERENCE }),
    )
    await storeOpen(deps, payments)
    return { ...merchant, newestFirst: payments.toReversed().map(({ paymentId }) => paymentId) }
  }
  const idsIn = (body: Readonly<Record<string, unknown>>) =>
    (body['data'] as readonly { readonly id: string }[]).map(({ id }) => id)

  it('is listed to its thousandth, and refused with one more, saying what to do', async () => {
    const { deps, caller, listed, newestFirst } = await merchantWith(1_000)
    const last = await listed({ status: 'succeeded', page: '10', per_page: '100' })
    await aSucceededPayment(deps, caller, { externalReference: REFERENCE })

    const refused = [await listed(), await listed({ status: 'failed' })]

    expect(idsIn(last.body)).toStrictEqual(newestFirst.slice(900))
    expect(last.body['pagination']).toStrictEqual({ page: 10, per_page: 100, total: 1_000, total_pages: 10 })
    for (const { status, body } of refused) {
      expect([status, body]).toStrictEqual([
        422,
        {
          message: 'external_reference: more than 1000 payments have it',
          code: 'validation',
          field_errors: { external_reference: ['too many payments'] },
          action_hint:
            'List payments without it, or fetch one by its id or idempotency key. Give each order a reference of its own.',
        },
      ])
    }
  })

  it('counts in the rate limit as all that is looked at, with a status or without', async () => {
    const { deps, listed } = await merchantWith(100, { rateLimitPerSecond: 1 })
    const answers: unknown[] = []
    for (const query of FILTERS) {
      const { status } = await listed(query)
      const refused = await listed(query)
      answers.push([status, refused.status, refused.headers['retry-after']])
      deps.clock.advance(20)
    }

    // A hundred consistent reads are two points: one before, and one of debt.
    expect(answers).toStrictEqual(FILTERS.map(() => [200, 429, '2']))
  })

  it.each([
    [1, '25'],
    [4, '100'],
  ])('is never refused for what it took itself: at %i a second, %s a page', async (rateLimitPerSecond, perPage) => {
    const { listed } = await merchantWith(110, { rateLimitPerSecond })

    expect((await listed({ status: 'succeeded', per_page: perPage })).status).toBe(200)
  })
})
