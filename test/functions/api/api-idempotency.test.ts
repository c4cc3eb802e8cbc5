import { describe, expect, it } from 'vitest'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { API, anApi, aPaymentBody, call } from '../../support/api-event.ts'
import { recordTable } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { testDeps } from '../../support/test-deps.ts'

/** A merchant who creates by a key, or without one. */
const aMerchant = async (deps = testDeps()) => {
  const { caller, ask } = await anApi({}, deps)
  const create = (key?: string, body: unknown = aPaymentBody()) =>
    ask('createPayment', { body, headers: key === undefined ? {} : { 'Idempotency-Key': key } })
  const asked = (query: Readonly<Record<string, string>>) => ask('listPayments', { query })
  return { deps, caller, create, asked, ledger: () => ledgerView(deps, caller.clientId) }
}

const REPLAYED = { 'idempotency-replayed': 'true' }

describe('Idempotency-Key of POST /v1/payments (spec 4.1, rule 3)', () => {
  it('answers 201 first and then 200 with the same bytes, and says that it is a replay', async () => {
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
  ])('answers the original payment when the body now has %s', async (_, body) => {
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

  it('takes 255 characters and refuses 256, even of a key that is used already', async () => {
    const { create, ledger } = await aMerchant()
    const message = 'Idempotency-Key must have at most 255 characters'

    const longest = await create('k'.repeat(255))
    const replayed = await create('k'.repeat(255))
    const tooLong = await create('k'.repeat(256))

    expect([longest.status, replayed.status, tooLong.status]).toStrictEqual([201, 200, 422])
    expect(tooLong.body).toMatchObject({ message, code: 'validation' })
    expect(await ledger()).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })
})

describe('GET /v1/payments?idempotency_key=… (design section 8)', () => {
  const page = { page: 1, per_page: 25 }
  const NONE = { data: [], pagination: { ...page, total: 0, total_pages: 0 } }

  it('lists the one payment of the key as fetch shows it, with one read after the key', async () => {
    const { deps, caller, create, asked } = await aMerchant()
    const { body } = await create('order 1/é')
    await create('order-2')
    const watched = recordTable(deps)

    const answer = await call(watched.deps, API.listPayments, { caller, query: { idempotency_key: 'order 1/é' } })
    const second = await asked({ idempotency_key: 'order 1/é', page: '2', per_page: '1' })

    const one = { total: 1, total_pages: 1 }
    expect(answer.body).toStrictEqual({ data: [body], pagination: { ...page, ...one } })
    expect(watched.calls.map(({ name }) => name)).toStrictEqual(['batchGet', 'get'])
    expect(second.body).toStrictEqual({ data: [], pagination: { page: 2, per_page: 1, ...one } })
  })

  it('is empty for a key that was never sent, another client’s, and one whose payment is still being created', async () => {
    const { deps, create, asked } = await aMerchant()
    const other = await aMerchant(deps)
    await other.create('theirs')
    deps.provider.script('createRequest', async () => ({ kind: 'unknown', reason: 'timeout' }))
    await create('unanswered')

    const answers = []
    for (const key of ['absent', 'theirs', 'unanswered']) answers.push(await asked({ idempotency_key: key }))
    deps.provider.heal('createRequest')
    const retried = await create('unanswered')

    expect(answers.map(({ status, body }) => [status, body])).toStrictEqual(answers.map(() => [200, NONE]))
    expect((await asked({ idempotency_key: 'unanswered' })).body['data']).toStrictEqual([retried.body])
  })
})
