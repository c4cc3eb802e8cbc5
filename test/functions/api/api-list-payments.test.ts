import { describe, expect, it } from 'vitest'
import { findPayment } from '../../../shared/payment/find-payment.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { API, type ApiClient, anApi, aPaymentBody, call } from '../../support/api-event.ts'
import { interceptTable, recordTable } from '../../support/intercept-table.ts'
import { type TestDeps } from '../../support/test-deps.ts'

const create = async (deps: TestDeps, caller: ApiClient): Promise<string> => {
  const { body } = await call(deps, API.createPayment, { caller, body: aPaymentBody() })
  return String(body['id'])
}

const idsIn = (body: Readonly<Record<string, unknown>>): string[] =>
  (Array.isArray(body['data']) ? body['data'] : []).map((row: unknown) => String(Object(row).id))

describe('GET /v1/payments (spec 4.2)', () => {
  it('lists each payment as fetch shows it, newest first', async () => {
    const { deps, caller, ask } = await anApi()
    const ids = []
    for (let made = 0; made < 3; made++) {
      ids.push(await create(deps, caller))
      deps.clock.advance(1)
    }

    const { body } = await ask('listPayments')

    const fetched = await Promise.all(ids.toReversed().map((id) => ask('getPayment', { id })))
    expect(body).toStrictEqual({
      data: fetched.map((answer) => answer.body),
      pagination: { page: 1, per_page: 25, total: 3, total_pages: 1 },
    })
  })

  it('answers a page past the end without asking the index', async () => {
    const { deps, caller } = await anApi()
    await create(deps, caller)
    const watched = recordTable(deps)

    const { body } = await call(watched.deps, API.listPayments, { caller, query: { page: '2' } })

    expect(body).toStrictEqual({ data: [], pagination: { page: 2, per_page: 25, total: 1, total_pages: 1 } })
    // The key and the counts, and no more.
    expect(watched.calls.map(({ name }) => name)).toStrictEqual(['batchGet', 'query'])
  })

  it('leaves out a payment whose status moved on behind the index', async () => {
    const { deps, caller } = await anApi()
    const [kept, moved] = [await create(deps, caller), await create(deps, caller)]
    const racing = interceptTable(deps, {
      after: async (made) => {
        if ('query' in made && made.query.index === 'by-status')
          await closePayment(deps, await findPayment(deps, caller.clientId, moved), 'expired', 'due_work')
      },
    })

    const { body } = await call(racing, API.listPayments, { caller, query: { status: 'pending' } })

    expect(idsIn(body)).toStrictEqual([kept])
  })
})
