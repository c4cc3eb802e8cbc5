import { describe, expect, it } from 'vitest'
import { API, type ApiClient, anApiClient, aPaymentBody, call } from '../../support/api-event.ts'
import { storedSettlement } from '../../support/payout-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const list = (deps: TestDeps, caller: ApiClient, query?: Readonly<Record<string, string>>) =>
  call(deps, API.listPayments, { caller, ...(query && { query }) })

describe('the query of a list (spec 4.2, 4.6, 8; design section 5)', () => {
  it.each([
    [{ page: '0' }, { page: 1, per_page: 25 }],
    [{ page: '-7' }, { page: 1, per_page: 25 }],
    [{ page: '-0' }, { page: 1, per_page: 25 }],
    [{ page: '+2' }, { page: 2, per_page: 25 }],
    [{ page: '007' }, { page: 7, per_page: 25 }],
    [{ page: `-${'9'.repeat(400)}` }, { page: 1, per_page: 25 }],
    [{ per_page: '0' }, { page: 1, per_page: 1 }],
    [{ per_page: '-1' }, { page: 1, per_page: 1 }],
    [{ per_page: '1' }, { page: 1, per_page: 1 }],
    [{ per_page: '100' }, { page: 1, per_page: 100 }],
    [{ per_page: '101' }, { page: 1, per_page: 100 }],
    [{ per_page: '9'.repeat(400) }, { page: 1, per_page: 100 }],
  ])('clamps %j (spec 8)', async (query, expected) => {
    const deps = testDeps()
    const caller = await anApiClient(deps)

    const answers = [await list(deps, caller, query), await call(deps, API.listSettlements, { caller, query })]

    expect(answers.map(({ status }) => status)).toStrictEqual([200, 200])
    expect(answers.map(({ body }) => body['pagination'])).toStrictEqual([
      { ...expected, total: 0, total_pages: 0 },
      expected,
    ])
  })

  it.each(['1000001', '9007199254740991'])('answers page %s as asked, with empty data past the end', async (page) => {
    const deps = testDeps()
    const caller = await anApiClient(deps)
    await call(deps, API.createPayment, { caller, body: aPaymentBody() })
    await storedSettlement(deps, { clientId: caller.clientId })
    const query = { page, per_page: '100' }

    const answers = [await list(deps, caller, query), await call(deps, API.listSettlements, { caller, query })]

    const pagination = { page: Number(page), per_page: 100 }
    expect(answers.map(({ status, body }) => [status, body])).toStrictEqual([
      [200, { data: [], pagination: { ...pagination, total: 1, total_pages: 1 } }],
      [200, { data: [], pagination }],
    ])
  })

  it.each(['9007199254740992', '9007199254740993', '9'.repeat(30), '9'.repeat(400)])(
    'refuses page %s, which is beyond 2^53 - 1',
    async (page) => {
      const deps = testDeps()
      const caller = await anApiClient(deps)

      const answers = [
        await list(deps, caller, { page }),
        await call(deps, API.listSettlements, { caller, query: { page } }),
      ]

      const message = 'page must be <= 9007199254740991'
      const refusal = { message, code: 'validation', field_errors: { page: [message] } }
      expect(answers.map(({ status, body }) => [status, body])).toStrictEqual([
        [422, refusal],
        [422, refusal],
      ])
    },
  )

  it('takes an empty query parameter as if it were absent', async () => {
    const deps = testDeps()
    const caller = await anApiClient(deps)
    await call(deps, API.createPayment, { caller, body: aPaymentBody() })
    const empty = { status: '', page: '', per_page: '' }

    const answers = [
      await list(deps, caller, empty),
      await call(deps, API.listSettlements, { caller, query: empty }),
      await call(deps, API.getBalance, { caller, query: { currency: '' } }),
    ]

    const plain = [
      await list(deps, caller),
      await call(deps, API.listSettlements, { caller }),
      await call(deps, API.getBalance, { caller }),
    ]
    expect(answers.map(({ status, body }) => [status, body])).toStrictEqual(
      plain.map(({ status, body }) => [status, body]),
    )
    expect(answers.map(({ status }) => status)).toStrictEqual([200, 200, 200])
  })

  it.each([' ', 'x', '1.0', '1e3', '0x1', '1,2', '--1', '1 ', '١', 'NaN', 'Infinity', 'null'])(
    'refuses %j as page or per_page, and names both',
    async (value) => {
      const deps = testDeps()
      const caller = await anApiClient(deps)
      const query = { page: value, per_page: value }

      const answers = [await list(deps, caller, query), await call(deps, API.listSettlements, { caller, query })]

      const refusal = {
        message: 'page must be an integer',
        code: 'validation',
        field_errors: { page: ['page must be an integer'], per_page: ['per_page must be an integer'] },
      }
      expect(answers.map(({ status }) => status)).toStrictEqual([422, 422])
      expect(answers.map(({ body }) => body)).toStrictEqual([refusal, refusal])
    },
  )

  it.each([' ', 'paid', 'PENDING', 'creating', 'pending,failed', 'constructor'])(
    'refuses the status %j',
    async (status) => {
      const deps = testDeps()
      const message = 'status must be one of pending, succeeded, failed, expired, cancelled'

      const answer = await list(deps, await anApiClient(deps), { status })

      expect(answer.status).toBe(422)
      expect(answer.body).toStrictEqual({ message, code: 'validation', field_errors: { status: [message] } })
    },
  )

  it('passes over query parameters it does not know', async () => {
    const deps = testDeps()

    expect((await list(deps, await anApiClient(deps), { cursor: 'x', __proto__x: '1' })).status).toBe(200)
  })
})
