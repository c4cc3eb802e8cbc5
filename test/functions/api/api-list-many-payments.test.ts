import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { describe, expect, inject, it } from 'vitest'
import { chunks } from '../../../shared/chunks.ts'
import type { ClientId } from '../../../shared/ids.ts'
import { slotOf } from '../../../shared/ids.ts'
import { type Payment, PaymentSchema } from '../../../shared/payment/payment.ts'
import { commitPending } from '../../../shared/payment/payment-store.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../../../shared/payment-status.ts'
import { shardKey } from '../../../shared/table/keys.ts'
import { LEDGER_SHARDS } from '../../../shared/table/schema.ts'
import { update } from '../../../shared/table/step.ts'
import { addMs, timestampOf } from '../../../shared/time.ts'
import { API, anApi, call } from '../../support/api-event.ts'
import { recordTable } from '../../support/intercept-table.ts'
import { localClient, type TestDeps } from '../../support/test-deps.ts'

/*
 * Goal: lists stay right and cheap at a size at which DynamoDB answers an index in several pages.
 * Method: 5,000 payments written as the store writes them, with the counts their transitions would have left; every
 * fourth shares its millisecond with its neighbours. Expectations are sorted here, by code that shares nothing with
 * the list's.
 */

const COUNT = 5_000
const START = timestampOf(Date.UTC(2026, 9, 1))

const COUNT_FIELD = {
  pending: 'countPending',
  succeeded: 'countSucceeded',
  failed: 'countFailed',
  expired: 'countExpired',
  cancelled: 'countCancelled',
} as const

/** Unevenly many of each status: more pending than one query of the index passes over. */
const statusOf = (at: number): PaymentStatus =>
  at % 25 < 21 ? 'pending' : (PAYMENT_STATUSES[(at % 25) - 20] ?? 'failed')

const aPayment = (clientId: ClientId, at: number): Payment => {
  const createdAt = addMs(START, Math.floor(at / 4))
  const status = statusOf(at)
  return v.parse(PaymentSchema, {
    paymentId: crypto.randomUUID(),
    clientId,
    attempt: 1,
    providerAttempts: [{ number: 1, startedAt: createdAt, outcome: 'created', paymentRequestId: `pr-${at}` }],
    status,
    method: 'virtual_account',
    channelCode: 'BCA',
    notionalMinor: 100_000 + at,
    providerFeeMinor: 4_000,
    markupMinor: 100,
    netMinor: 95_900 + at,
    feeStatus: 'estimated',
    currency: 'IDR',
    paymentDestination: '381652390000001',
    description: 'x'.repeat(100),
    createdAt,
    expiresAt: addMs(createdAt, 1_000),
    ...(status === 'succeeded' && { paidAt: createdAt, creditedProviderPaymentId: `py-${at}` }),
    paymentRequestId: `pr-${at}`,
    transitions: [{ status: 'pending', at: createdAt, source: 'create' }],
  })
}

const itemOf = (payment: Payment) => {
  const step = commitPending(payment)
  if (step.kind !== 'put') throw new Error('a payment is written by a put')
  return { ...step.item, ...step.key }
}

const writeItems = async (payments: readonly Payment[]) => {
  for (const wave of chunks(chunks(payments, 25), 8)) {
    await Promise.all(
      wave.map(async (chunk) => {
        const requests = chunk.map((payment) => ({ PutRequest: { Item: itemOf(payment) } }))
        const { UnprocessedItems } = await localClient().send(
          new BatchWriteCommand({ RequestItems: { [inject('tableName')]: requests } }),
        )
        expect(UnprocessedItems).toStrictEqual({})
      }),
    )
  }
}

const writeCounts = async (deps: TestDeps, clientId: ClientId, payments: readonly Payment[]) => {
  for (let shard = 0; shard < LEDGER_SHARDS; shard++) {
    const inShard = payments.filter(({ paymentId }) => slotOf(paymentId, LEDGER_SHARDS) === shard)
    const counts = PAYMENT_STATUSES.map((status) => [
      COUNT_FIELD[status],
      inShard.filter((payment) => payment.status === status).length,
    ])
    await deps.table.write(update(shardKey(clientId, shard), { add: Object.fromEntries(counts) }))
  }
}

const newestFirst = (payments: readonly Payment[]) =>
  payments
    .toSorted((a, b) =>
      a.createdAt === b.createdAt ? (a.paymentId < b.paymentId ? 1 : -1) : a.createdAt < b.createdAt ? 1 : -1,
    )
    .map(({ paymentId }) => paymentId)

const rowsIn = (body: Readonly<Record<string, unknown>>) =>
  (Array.isArray(body['data']) ? body['data'] : []).map((row: unknown) => ({
    id: String(Object(row).id),
    status: String(Object(row).status),
  }))

describe('GET /v1/payments of a client with 5,000 payments (spec 4.2)', () => {
  it('shows the first, a middle and the last page and the totals, for no filter and for every status', async () => {
    const { deps, caller } = await anApi()
    const payments = Array.from({ length: COUNT }, (_, at) => aPayment(caller.clientId, at))
    await writeItems(payments)
    await writeCounts(deps, caller.clientId, payments)

    for (const status of [undefined, ...PAYMENT_STATUSES]) {
      const expected = newestFirst(payments.filter((payment) => status === undefined || payment.status === status))
      const [total, perPage] = [expected.length, status === undefined ? 100 : 30]
      const lastPage = Math.ceil(total / perPage)

      for (const page of [1, 2, Math.ceil(lastPage / 2), lastPage, lastPage + 1, 1_000_000]) {
        const watched = recordTable(deps)

        const { body } = await call(watched.deps, API.listPayments, {
          caller,
          query: { page: String(page), per_page: String(perPage), ...(status && { status }) },
        })

        const rows = rowsIn(body)
        expect(rows.map(({ id }) => id)).toStrictEqual(expected.slice((page - 1) * perPage, page * perPage))
        expect(rows.every((row) => status === undefined || row.status === status)).toBe(true)
        expect(body['pagination']).toStrictEqual({ page, per_page: perPage, total, total_pages: lastPage })
        // Whatever lies before the page is only counted: what comes here is key, ledger, the page's keys and its rows.
        const brought = watched.calls
          .filter((made) => !('query' in made && made.query.countOnly))
          .map(({ name }) => name)
        expect(brought.length).toBeLessThanOrEqual(4)
      }
    }
  })
})
