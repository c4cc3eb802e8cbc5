import { describe, expect, it } from 'vitest'
import { anApi, aPaymentBody } from '../../support/api-event.ts'
import { storedSettlement } from '../../support/payout-builders.ts'

type Query = Readonly<Record<string, string>>

/** Of a merchant: what payments and settlements answer to one query. */
const bothLists = async (query: Query, { ask }: Pick<Awaited<ReturnType<typeof anApi>>, 'ask'>) => {
  const answers = [await ask('listPayments', { query }), await ask('listSettlements', { query })]
  return answers.map(({ status, body }) => [status, body] as const)
}

/** What a query is refused with, by both lists. */
const refusedTwice = (message: string, reasons: Readonly<Record<string, string>>) => {
  const fieldErrors = Object.fromEntries(Object.entries(reasons).map(([field, reason]) => [field, [reason]]))
  const refusal = [422, { message, code: 'validation', field_errors: fieldErrors }]
  return [refusal, refusal]
}

describe('the query of a list (spec 4.2, 4.6, 8; design section 5)', () => {
  it.each([
    // Of any integer and of any text: `page.test.ts`.
    [{ page: '-0' }, { page: 1, per_page: 25 }],
    [{ page: '+2' }, { page: 2, per_page: 25 }],
    [{ page: '007' }, { page: 7, per_page: 25 }],
    [{ per_page: '0' }, { page: 1, per_page: 1 }],
    [{ per_page: '9'.repeat(400) }, { page: 1, per_page: 100 }],
  ])('clamps %j (spec 8)', async (query, expected) => {
    expect(await bothLists(query, await anApi())).toStrictEqual([
      [200, { data: [], pagination: { ...expected, total: 0, total_pages: 0 } }],
      [200, { data: [], pagination: expected }],
    ])
  })

  it.each(['1000001', '9007199254740991'])('answers page %s as asked, with empty data past the end', async (page) => {
    const api = await anApi()
    await api.ask('createPayment', { body: aPaymentBody() })
    await storedSettlement(api.deps, { clientId: api.caller.clientId })

    const answers = await bothLists({ page, per_page: '100' }, api)

    const pagination = { page: Number(page), per_page: 100 }
    expect(answers).toStrictEqual([
      [200, { data: [], pagination: { ...pagination, total: 1, total_pages: 1 } }],
      [200, { data: [], pagination }],
    ])
  })

  it.each(['9007199254740992', '9007199254740993', '9'.repeat(30), '9'.repeat(400)])(
    'refuses page %s, which is beyond 2^53 - 1',
    async (page) => {
      const message = 'page must be <= 9007199254740991'

      expect(await bothLists({ page }, await anApi())).toStrictEqual(refusedTwice(message, { page: message }))
    },
  )

  it('takes an empty query parameter as if it were absent', async () => {
    const { ask } = await anApi()
    await ask('createPayment', { body: aPaymentBody() })
    const empty = { status: '', page: '', per_page: '' }

    const answers = [
      await ask('listPayments', { query: empty }),
      await ask('listSettlements', { query: empty }),
      await ask('getBalance', { query: { currency: '' } }),
    ]

    const plain = [await ask('listPayments'), await ask('listSettlements'), await ask('getBalance')]
    expect(answers.map(({ status, body }) => [status, body])).toStrictEqual(
      plain.map(({ status, body }) => [status, body]),
    )
    expect(answers.map(({ status }) => status)).toStrictEqual([200, 200, 200])
  })

  it.each([' ', 'x', '1.0', '1e3', '0x1', '1,2', '--1', '1 ', '١', 'NaN', 'Infinity', 'null'])(
    'refuses %j as page or per_page, and names both',
    async (value) => {
      const reasons = { page: 'page must be an integer', per_page: 'per_page must be an integer' }

      const answers = await bothLists({ page: value, per_page: value }, await anApi())

      expect(answers).toStrictEqual(refusedTwice(reasons.page, reasons))
    },
  )

  it.each([' ', 'paid', 'PENDING', 'creating', 'pending,failed', 'constructor'])(
    'refuses the status %j',
    async (status) => {
      const { ask } = await anApi()
      const message = 'status must be one of pending, succeeded, failed, expired, cancelled'

      const answer = await ask('listPayments', { query: { status } })

      expect(answer.status).toBe(422)
      expect(answer.body).toStrictEqual({ message, code: 'validation', field_errors: { status: [message] } })
    },
  )

  it('passes over query parameters it does not know', async () => {
    const { ask } = await anApi()

    expect((await ask('listPayments', { query: { cursor: 'x', __proto__x: '1' } })).status).toBe(200)
  })
})
