import { describe, expect, it } from 'vitest'
import { countTransition } from '../../../shared/ledger/count-store.ts'
import { commitPending } from '../../../shared/payment/creating-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { PAYMENT_STATUSES } from '../../../shared/payment-status.ts'
import { isNew } from '../../../shared/table/step.ts'
import { addMs, timestampOf } from '../../../shared/time.ts'
import { API, type ApiClient, anApi, aPaymentBody, call } from '../../support/api-event.ts'
import { interceptTable, recordTable } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { succeededPayment } from '../../support/paid-builders.ts'

const rowsIn = (body: Readonly<Record<string, unknown>>) =>
  [body['data']].flat().map((row) => Object(row) as { readonly id: string; readonly status: string })

/** A merchant who creates payments. */
const aMerchant = async () => {
  const api = await anApi()
  const create = async () => String((await api.ask('createPayment', { body: aPaymentBody() })).body['id'])
  return { ...api, create }
}

describe('GET /v1/payments (spec 4.2)', () => {
  it('lists each payment as fetch shows it, newest first', async () => {
    const { deps, ask, create } = await aMerchant()
    const ids = []
    for (let made = 0; made < 3; made++) {
      ids.push(await create())
      deps.clock.advance(1)
    }

    const { body } = await ask('listPayments')

    const fetched = await Promise.all(ids.toReversed().map((id) => ask('getPayment', { id })))
    expect(body).toStrictEqual({
      data: fetched.map((answer) => answer.body),
      pagination: { page: 1, per_page: 25, total: 3, total_pages: 1 },
    })
  })
})

/*
 * Goal: lists stay right and cheap where an index answers in several pages. Method: payments written as the store writes
 * them, with the counts their transitions would have left, every fourth sharing its millisecond with its neighbours; a
 * count passes over fewer keys than it would like to, as at DynamoDB's 1 MB. Expectations are sorted here, by code that
 * shares nothing with the list's.
 */

const COUNT = 1_500
const PASSED_OVER = 200
const START = timestampOf(Date.UTC(2026, 9, 1))

/** Unevenly many of each status: more pending than one query of the index passes over. */
const aPayment = (client: ApiClient, at: number): Payment => ({
  ...succeededPayment(client, { paidAt: addMs(START, Math.floor(at / 4)) }),
  status: at % 25 < 21 ? 'pending' : (PAYMENT_STATUSES[(at % 25) - 20] ?? 'failed'),
})

const newestFirst = (payments: readonly Payment[]) => {
  const places = payments.map(({ createdAt, paymentId }) => ({ place: `${createdAt} ${paymentId}`, paymentId }))
  return places.toSorted((a, b) => (a.place < b.place ? 1 : -1)).map(({ paymentId }) => paymentId)
}

it('GET /v1/payments shows the first, a middle and the last page and the totals of many, by any status (spec 4.2)', async () => {
  const { deps, caller } = await anApi({}, memoryDeps())
  const payments = Array.from({ length: COUNT }, (_, at) => aPayment(caller, at))
  for (const payment of payments) {
    await deps.table.write({ ...commitPending(payment), condition: isNew })
    await deps.table.write(countTransition({ ...payment, from: undefined, to: payment.status }))
  }
  const paged = interceptTable(deps, {
    asQuery: (query) => (query.countOnly ? { ...query, limit: Math.min(query.limit, PASSED_OVER) } : query),
  })

  for (const status of [undefined, ...PAYMENT_STATUSES]) {
    const expected = newestFirst(payments.filter((payment) => status === undefined || payment.status === status))
    const [total, perPage] = [expected.length, status === undefined ? 100 : 30]
    const lastPage = Math.ceil(total / perPage)

    for (const page of [1, 2, Math.ceil(lastPage / 2), lastPage, lastPage + 1, 1_000_000]) {
      const watched = recordTable(paged)

      const query = { page: String(page), per_page: String(perPage), ...(status && { status }) }
      const { body } = await call(watched.deps, API.listPayments, { caller, query })

      const rows = rowsIn(body)
      expect(rows.map(({ id }) => id)).toStrictEqual(expected.slice((page - 1) * perPage, page * perPage))
      expect(rows.every((row) => status === undefined || row.status === status)).toBe(true)
      expect(body['pagination']).toStrictEqual({ page, per_page: perPage, total, total_pages: lastPage })
      // Whatever lies before the page is only counted: what comes here is key, ledger, the page's keys and its rows.
      const brought = watched.calls.filter((made) => !('query' in made && made.query.countOnly))
      expect(brought.length).toBeLessThanOrEqual(4)
      // A page past the end asks for the key and the counts, and for no index.
      if (page > lastPage) expect(watched.calls.map(({ name }) => name)).toStrictEqual(['batchGet', 'query'])
    }
  }
})
