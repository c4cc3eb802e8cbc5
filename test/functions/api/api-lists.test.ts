import { describe, expect, it } from 'vitest'
import { putPointers } from '../../../shared/payment/creating-store.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { findPayment } from '../../../shared/payment/payment-store.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { closeStep } from '../../../shared/settlement/settlement-store.ts'
import { referencePk } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, type Timestamp, timestampOf } from '../../../shared/time.ts'
import { API, anApi, aPaymentBody, call } from '../../support/api-event.ts'
import { aSucceededPayment, storeOpen, succeededPayment } from '../../support/paid-builders.ts'
import { aPendingPayment, paidWhileCreating } from '../../support/payment-builders.ts'
import { BANK, storedSettlement } from '../../support/settlement-builders.ts'
import {
  memoryDeps,
  queriesIn,
  recordTable,
  type TestDeps,
  testDeps,
} from '../../support/test-deps.ts'

type Query = Readonly<Record<string, string>>

/** As long as a create takes one, in characters. */
const REFERENCE = `order 1042/é ${'😀'.repeat(242)}`

async function aMerchant(deps?: TestDeps) {
  const api = await anApi({}, deps)
  const listed = (query: Query = {}) =>
    api.ask('listPayments', { query: { external_reference: REFERENCE, ...query } })
  const create = async (fieldsOfBody: object = {}) => {
    const body = aPaymentBody({ external_reference: REFERENCE, ...fieldsOfBody })
    const answer = await api.ask('createPayment', { body })
    api.deps.clock.advance(1)
    return answer.body
  }
  return { ...api, listed, create }
}

const page = { page: 1, per_page: 25 }
const NONE = { data: [], pagination: { ...page, total: 0, total_pages: 0 } }

/* Pages, totals and what they cost, in one part or in several: client-parts.test.ts. */

it('GET /v1/payments (spec 4.2) lists each payment as fetch shows it, newest first', async () => {
  const { deps, caller, ask, create } = await aMerchant()
  const ids = [await create(), await create(), await create()].map(({ id }) => String(id))
  const watched = recordTable(deps)

  const { body } = await ask('listPayments')
  const second = await call(watched.deps, API.listPayments, {
    caller,
    query: { page: '2', per_page: '1' },
  })

  const fetched = await Promise.all(ids.toReversed().map((id) => ask('getPayment', { id })))
  const data = fetched.map((answer) => answer.body)
  expect(body).toStrictEqual({ data, pagination: { ...page, total: 3, total_pages: 1 } })
  const pagination = { page: 2, per_page: 1, total: 3, total_pages: 3 }
  expect(second.body).toStrictEqual({ data: data.slice(1, 2), pagination })
  // The ledger; the keys up to the end of the page.
  const queries = queriesIn(watched.calls).map(({ index, limit }) => [index, limit])
  expect(queries.slice(1)).toStrictEqual([['by-owner', 2]])
})

describe('GET /v1/payments?external_reference=… (design section 8)', () => {
  it('lists exactly those with the reference as fetch shows them, newest first, in pages with the true total', async () => {
    const { deps, caller, create, listed } = await aMerchant()
    const made = [await create(), await create(), await create()].toReversed()
    await create({ external_reference: REFERENCE.slice(0, -2) })
    await create({ external_reference: undefined })
    const watched = recordTable(deps)

    const answer = await call(watched.deps, API.listPayments, {
      caller,
      query: { external_reference: REFERENCE },
    })
    const second = await listed({ per_page: '2', page: '2' })

    expect(answer.body).toStrictEqual({
      data: made,
      pagination: { ...page, total: 3, total_pages: 1 },
    })
    // API key and client, parts, references, and payments. All reads are consistent.
    expect(watched.calls.map(({ name }) => name)).toStrictEqual([
      'batchGet',
      'get',
      'query',
      'batchGet',
    ])
    expect(watched.calls.at(-1)).toMatchObject({ reads: 'consistent' })
    const pagination = { page: 2, per_page: 2, total: 3, total_pages: 2 }
    expect(second.body).toStrictEqual({ data: made.slice(2), pagination })
    expect((await listed({ page: '9' })).body).toMatchObject({ data: [], pagination: { total: 3 } })
  })

  it('accepts a status too, and counts the payments that match both', async () => {
    const { deps, caller, create, listed } = await aMerchant()
    const made = []
    for (let number = 0; number < 4; number++) made.push(String((await create())['id']))
    for (const id of made.slice(1, 3))
      await closePayment(deps, await findPayment(deps, caller.clientId, id), {
        status: 'expired',
        source: 'due_work',
      })

    const { body } = await listed({ status: 'expired', per_page: '1', page: '2' })

    const pagination = { page: 2, per_page: 1, total: 2, total_pages: 2 }
    expect(body).toMatchObject({ data: [{ id: made[1], status: 'expired' }], pagination })
    expect((await listed({ status: 'pending' })).body).toMatchObject({ pagination: { total: 2 } })
    expect((await listed({ status: 'failed' })).body).toStrictEqual(NONE)
  })

  it('lists a payment once that was paid before its create was answered', async () => {
    const { deps, caller, listed } = await aMerchant()
    const fields = { externalReference: REFERENCE }
    const { creating, answer, providerPaymentId } = await paidWhileCreating(deps, caller, fields)
    // Its lease is over: the attempt counts as dead, and what the customer paid is credited without it.
    deps.clock.advance(60)
    await applyProviderNews(deps, { providerPaymentId }, 'callback')
    answer.resolve()
    const { payment } = await creating

    const shown = {
      id: payment.paymentId,
      status: 'succeeded',
      payment_destination: '381652390000001',
    }
    expect((await listed()).body).toMatchObject({ data: [shown] })
    const { items } = await deps.table.query({
      partition: [referencePk(caller.clientId, REFERENCE)],
      limit: 10,
    })
    expect(items).toMatchObject([{ sk: payment.paymentId }])
  })

  it('ignores a pointer with another client or reference than its payment', async () => {
    const deps = testDeps()
    const [owner, stranger] = [await aMerchant(deps), await aMerchant(deps)]
    const foreign = await aPendingPayment(deps, owner.caller, { externalReference: REFERENCE })
    const misnamed = await aPendingPayment(deps, stranger.caller, { externalReference: 'another' })
    await putPointers(deps, { ...foreign, clientId: stranger.caller.clientId })
    await putPointers(deps, { ...misnamed, externalReference: REFERENCE })

    for (const query of [undefined, { status: 'pending' }])
      expect((await stranger.listed(query)).body).toStrictEqual(NONE)
  })

  it('is listed with up to 1,000 payments, and refused with more, with a hint', async () => {
    const { deps, caller, listed } = await aMerchant(memoryDeps())
    const payments = Array.from({ length: 1_000 }, (_, at) =>
      succeededPayment(caller, { paidAt: addMs(deps.now(), at), externalReference: REFERENCE }),
    )
    await storeOpen(deps, payments)
    const last = await listed({ status: 'succeeded', page: '10', per_page: '100' })
    await aSucceededPayment(deps, caller, { externalReference: REFERENCE })

    const refused = [await listed(), await listed({ status: 'failed' })]

    const oldest = payments.slice(0, 100).toReversed()
    expect(last.body['data']).toMatchObject(oldest.map(({ paymentId: id }) => ({ id })))
    expect(last.body['pagination']).toStrictEqual({
      page: 10,
      per_page: 100,
      total: 1_000,
      total_pages: 10,
    })
    const refusal = {
      message: 'external_reference: more than 1000 payments have it',
      code: 'validation',
      field_errors: { external_reference: ['too many payments'] },
      action_hint:
        'List payments without it, or fetch one by its id or idempotency key. Give each order a reference of its own.',
    }
    expect(refused.map(({ status, body }) => [status, body])).toStrictEqual(
      refused.map(() => [422, refusal]),
    )
  })
})

it('GET /v1/settlements/{id} (spec 4.7, 2.3) shows every field, and null where there is no value yet', async () => {
  const { deps, caller, ask } = await anApi()
  const { clientId } = caller
  const shown = async ({ settlementId: id }: Settlement) =>
    (await ask('getSettlement', { id })).body
  const recorded = await storedSettlement(deps, { clientId })
  const paid = await storedSettlement(deps, { clientId, triggeredBy: 'manual', bank: BANK })
  const settledAt = '2026-11-21T09:00:00.000Z' as Timestamp
  await deps.table.write(closeStep({ ...paid, status: 'manual_paid', notes: 'batch 7', settledAt }))

  const [before, after] = [await shown(recorded), await shown(paid)]

  expect(before).toStrictEqual({
    id: recorded.settlementId,
    client_id: clientId,
    period_start: '2026-11-18T02:00:00.000Z',
    period_end: '2026-11-19T02:00:00.000Z',
    gross_minor: 300_000,
    xendit_fees_minor: 12_000,
    hexolus_markup_minor: 300,
    net_minor: 287_700,
    currency: 'IDR',
    payment_count: 3,
    status: 'recorded',
    triggered_by: 'auto',
    bank_name: null,
    bank_account_no: null,
    bank_account_name: null,
    notes: null,
    settled_at: null,
    created_at: '2026-11-20T02:00:01.000Z',
  })
  const {
    bankName: bank_name,
    bankAccountNo: bank_account_no,
    bankAccountName: bank_account_name,
  } = BANK
  const bank = { bank_name, bank_account_no, bank_account_name, triggered_by: 'manual' }
  const closed = {
    id: paid.settlementId,
    status: 'manual_paid',
    notes: 'batch 7',
    settled_at: settledAt,
  }
  expect(after).toStrictEqual({ ...before, ...bank, ...closed })
})

it('GET /v1/settlements (spec 4.6) lists each as fetch shows it, by period_end and not by created_at, newest first, and by id where they are equal', async () => {
  const { deps, caller, ask } = await anApi()
  const stored: string[] = []
  const october = (day: number) => timestampOf(Date.UTC(2026, 9, 1) + day * DAY_MS)
  for (const [at, day] of [3, 1, 2, 2, 2].entries()) {
    const period = { sweptFrom: october(0), sweptUntil: october(day), createdAt: october(9 - at) }
    stored.push(
      (await storedSettlement(deps, { clientId: caller.clientId, ...period })).settlementId,
    )
  }

  const pages = []
  for (const number of ['1', '2', '3', '4']) {
    pages.push((await ask('listSettlements', { query: { page: number, per_page: '2' } })).body)
  }

  const [third, first, ...second] = stored
  const expected = [third, ...second.toSorted().toReversed(), first]
  expect(pages[0]?.['data']).toContainEqual((await ask('getSettlement', { id: third ?? '' })).body)
  const ids = pages.map(({ data }) => (data as { readonly id: string }[]).map(({ id }) => id))
  expect(ids).toStrictEqual([expected.slice(0, 2), expected.slice(2, 4), expected.slice(4), []])
  const shown = [1, 2, 3, 4].map((number) => ({ page: number, per_page: 2 }))
  expect(pages.map((body) => body['pagination'])).toStrictEqual(shown)
})
