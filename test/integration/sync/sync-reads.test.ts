import { describe, expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { insertClient } from '../../../shared/client/client-store.ts'
import { createPayment } from '../../../shared/payment/create/create-payment.ts'
import { listSuspense } from '../../../shared/suspense/list-suspense.ts'
import { registerReading } from '../../../shared/sync/job-store.ts'
import { runSyncJobs, syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { toItem } from '../../../shared/table/attributes.ts'
import { endpointsPk, syncJobKey } from '../../../shared/table/keys.ts'
import { dueWork } from '../../../shared/table/step.ts'
import { addMs, HOUR_MS, timestampOf } from '../../../shared/time.ts'
import { aClient, aRequest, aStoredClient, ledgerView } from '../../support/payment-builders.ts'
import { aSimulator } from '../../support/provider-simulator-harness.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { adapter } from '../../support/scripted-provider.ts'
import {
  expectPayment,
  paidUpstream,
  paymentOf,
  rowNow,
  rowOfOtherAttempt,
} from '../../support/synced-payment.ts'
import { alter, putRaw, rawItem } from '../../support/tampering.ts'
import {
  beforeFirst,
  interceptTable,
  memoryDeps,
  queriesIn,
  recordTable,
  type TableCall,
  type TestDeps,
} from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { syncTest as it, withBacklog } from './sync-test.ts'

/**
 * What the sync reads: endpoints once for the payments of a page (design section 4, Announce), and
 * rows a few times.
 */

async function payAndList(deps: TestDeps, client: Client, count: number) {
  const paid = await Promise.all(Array.from({ length: count }, () => paidUpstream(deps, client)))
  deps.provider.transactions.push(...paid.map((upstream) => rowNow(deps, upstream)))
  return paid
}

function endpointReads(calls: readonly TableCall[], { clientId }: Client) {
  return queriesIn(calls).filter(({ partition: [pk] }) => pk === endpointsPk(clientId)).length
}

describe('sync: the endpoints of the events of a page', () => {
  it('are read once for each client, and each payment is delivered to them', async ({
    deps,
    client,
  }) => {
    const otherClient = await aStoredClient(deps)
    await storedEndpoint(deps, { clientId: client.clientId })
    const paid = [
      ...(await payAndList(deps, client, 12)),
      ...(await payAndList(deps, otherClient, 3)),
    ]
    const recorded = recordTable(deps)

    await syncProviderTransactions(recorded.deps)

    expect([
      endpointReads(recorded.calls, client),
      endpointReads(recorded.calls, otherClient),
    ]).toStrictEqual([1, 1])
    expect(deps.sent.filter(({ queue }) => queue === 'webhooks')).toHaveLength(12)
    const statuses = await Promise.all(
      paid.map(async (upstream) => (await paymentOf(deps, upstream)).status),
    )
    expect(new Set(statuses)).toStrictEqual(new Set(['succeeded']))
  })

  it('are read again by the next page', async ({ deps, client }) => {
    await payAndList(deps, client, 1)
    const recorded = recordTable(deps)
    await syncProviderTransactions(recorded.deps)
    await storedEndpoint(deps, { clientId: client.clientId })
    await payAndList(deps, client, 1)

    await syncProviderTransactions(recorded.deps)

    expect(endpointReads(recorded.calls, client)).toBe(2)
    expect(deps.sent.filter(({ queue }) => queue === 'webhooks')).toHaveLength(1)
  })

  it('are read again within a page before they are too old for a commit', async ({
    deps,
    client,
  }) => {
    // Eight rows of a page are reconciled at the same time, the ninth after them.
    const paid = await payAndList(deps, client, 9)
    const recorded = recordTable(deps)
    let commits = 0
    const slow = interceptTable(recorded.deps, {
      after: ({ name }) => name === 'transact' && ++commits === 8 && deps.clock.advance(3),
    })

    await syncProviderTransactions(slow)

    expect(endpointReads(recorded.calls, client)).toBe(2)
    expect(
      await Promise.all(paid.map(async (upstream) => (await paymentOf(deps, upstream)).status)),
    ).not.toContain('pending')
  })

  it('are read again after a failed read', async ({ deps, client }) => {
    await payAndList(deps, client, 9)
    const isRead = (call: TableCall) => endpointReads([call], client) > 0
    const flaky = beforeFirst(deps, isRead, () => Promise.reject(new Error('no answer')))

    expect(await syncProviderTransactions(flaky)).toMatchObject({ transactions: 9, unanswered: 8 })
  })
})

const PAYMENTS = 15

/*
 * The whole path through the provider's API: real adapter, real simulator, one clock, no callbacks.
 */
it('sync against the provider simulator reads a transaction four times on average from paid to final fee, and asks about no payment by itself', async () => {
  await using simulator = await aSimulator()
  const { nowMs, advance } = simulator.clock
  const now = () => timestampOf(nowMs())
  const clockedDeps = memoryDeps({
    now,
    sleep: async (ms) => advance(ms / 1_000),
    monotonicMs: nowMs,
  })
  const deps = { ...clockedDeps, provider: adapter(simulator) }
  const client = aClient({ createdAt: now() })
  await insertClient(deps, client, 'tester')
  const parsed = { ok: true, request: aRequest({ channelCode: 'BCA' }) } as const
  const make = async () =>
    (await createPayment(deps, { client, idempotencyKey: undefined, parsed })).payment
  const payments = await Promise.all(Array.from({ length: PAYMENTS }, make))
  const passFiveMinutes = async () => {
    advance(300)
    await syncProviderTransactions(deps)
  }
  await simulator.call('DELETE', '/_simulator/calls')

  for (const [at, { paymentRequestId }] of payments.entries()) {
    await simulator.order('transactions', 'fee_late', 3_600)
    await simulator.call('POST', `/v3/payment_requests/${paymentRequestId}/simulate`, {})
    advance(60)
    if (at % 5 === 4) await passFiveMinutes()
  }
  for (let run = 0; run < 40; run++) await passFiveMinutes()

  const { body: calls } = await simulator.call('GET', '/_simulator/calls')
  expect(await ledgerView(deps, client)).toStrictEqual({
    pendingMinor: PAYMENTS * 95_460,
    succeeded: PAYMENTS,
  })
  expect(calls).not.toHaveProperty('GET /v3/payments/{id}')
  expect(Reflect.get(Object(calls), 'rows GET /transactions') / PAYMENTS).toBeLessThanOrEqual(4)
  expect(await listSuspense(deps, undefined, { page: 1, perPage: 10 })).toStrictEqual({
    rows: [],
    unreadableIds: [],
  })
  await expectBalanced(deps, client)
})

async function putJob(deps: TestDeps, id: string, fields: object) {
  const job = { id, from: deps.now(), to: deps.now(), ...dueWork('sync', id, deps.now()) }
  await putRaw(deps, { ...syncJobKey(id), ...toItem({ ...job, ...fields }) })
}

it.for([
  ['is of a kind of a later release', { kind: 'weekly' }],
  ['has no valid time', { kind: 'tail', dueAt: '0' }],
] as const)('a job that %s stops no other job of the run', async ([, fields], { deps }) => {
  await putJob(deps, 'odd#1', fields)
  const [id, now] = ['tail#1', deps.now()]
  const hour = { id, from: addMs(now, -HOUR_MS), to: now, category: undefined, settlesBy: now }
  await registerReading(deps, hour, { dueAt: now, maxReads: 3 })

  await syncProviderTransactions(deps)

  expect(await rawItem(deps, syncJobKey(id))).not.toHaveProperty('work')
  expect(deps.lines).toContainEqual(
    expect.objectContaining({
      level: 'error',
      code: 'row.unreadable',
      fields: expect.objectContaining({ kind: 'sync_job' }),
    }),
  )
})

it('a job of a later release is read again when its lease has expired', async ({ deps }) => {
  await putJob(deps, 'odd#1', { kind: 'weekly' })
  await syncProviderTransactions(deps)
  await alter(deps, syncJobKey('odd#1'), { kind: 'tail' })

  deps.clock.advance(301)
  await syncProviderTransactions(deps)

  expect(await rawItem(deps, syncJobKey('odd#1'))).not.toHaveProperty('work')
})

it('an unreadable job stops no page that shows its row, and is written anew', async ({
  deps,
  paid,
  sync,
}) => {
  const row = rowOfOtherAttempt(deps, paid)
  await putJob(deps, `open#${row.transactionId}`, { kind: 'weekly' })
  deps.provider.silence('getPayment')

  await sync(row)

  deps.provider.heal('getPayment')
  deps.clock.advance(600)
  await runSyncJobs(deps, { woken: false })
  await expectPayment(deps, paid, { status: 'succeeded' })
})

describe('sync: the head by woken workers', () => {
  it('reads a page once when two workers are woken', async ({ deps, rows, paid }) => {
    const { listings, state } = await withBacklog(deps, 0)
    rows.push(rowNow(deps, paid))
    const others: Promise<void>[] = []
    state.answer = () => {
      others.push(runSyncJobs(deps, { woken: true }))
      return undefined
    }

    await runSyncJobs(deps, { woken: true })
    await Promise.all(others)

    expect(listings).toHaveLength(1)
    await expectPayment(deps, paid, { status: 'succeeded' })
  })

  it('reads new rows for deferred callbacks, but not within two minutes of a round', async ({
    deps,
    rows,
    paid,
  }) => {
    const { listings } = await withBacklog(deps, 0)
    rows.push(rowNow(deps, paid))

    await runSyncJobs(deps, { woken: true })
    deps.clock.advance(119)
    await runSyncJobs(deps, { woken: true })

    await expectPayment(deps, paid, { status: 'succeeded' })
    expect(listings).toHaveLength(1)
  })
})
