import type { Context } from 'aws-lambda'
import { describe, expect } from 'vitest'
import { handler as settleClient } from '../../../functions/queue/settle-client.ts'
import { handler as auditClients } from '../../../functions/schedule/audit-clients.ts'
import { handler as sweepHandler } from '../../../functions/schedule/sweep-settlements.ts'
import { registrationKey } from '../../../shared/client/client-register.ts'
import { changeClient } from '../../../shared/client/client-store.ts'
import { NO_LEGS } from '../../../shared/journal/entry.ts'
import { minor } from '../../../shared/money.ts'
import { findAnySettlement, putSettlement } from '../../../shared/settlement/settlement-store.ts'
import { journalPk, windowKey } from '../../../shared/table/keys.ts'
import { put } from '../../../shared/table/step.ts'
import { addMs, DAY_MS, type Timestamp } from '../../../shared/time.ts'
import { entryKeyOf } from '../../support/money-rows.ts'
import { handOver, lambdaContext, OPERATOR } from '../../support/operator-actions.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { aClient, aStoredClient, ledgerView } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aDayLater,
  aLoneClient,
  BANK,
  fail,
  settle,
  settledAmount,
  settlementsOf,
  sweep,
  sweepADayLater,
  trigger,
  withoutFloor,
} from '../../support/settlement-builders.ts'
import { changeRow, putRaw, rawItem } from '../../support/tampering.ts'
import {
  interceptTable,
  memoryDeps,
  queriesIn,
  recordTable,
  type TestDeps,
  testDeps,
  writtenKeys,
} from '../../support/test-deps.ts'
import { clientTest as it } from './client-test.ts'

describe('settleClient (spec 3.2)', () => {
  it('settles payments that were paid a day ago, with sums, window and current bank details', async ({
    deps,
  }) => {
    const client = await aStoredClient(deps, { settlementFloorMinor: minor(10_000), bank: BANK })
    deps.clock.advance(60)
    await aSucceededPayment(deps, client)
    await aSucceededPayment(deps, client, { notionalMinor: 250_050, providerFeeMinor: 4_440 })
    const paidAt = deps.now()

    const settlement = await sweepADayLater(deps, client)

    const sums = { grossMinor: 350_050, feeMinor: 8_440, markupMinor: 350, netMinor: 341_260 }
    const totals = [
      {
        type: 'payment',
        method: 'virtual_account',
        day: '2026-11-20',
        count: 2,
        ...sums,
        ...NO_LEGS,
        providerMinor: 341_610,
      },
    ]
    const settlementId = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
    const digest = expect.stringMatching(/^[0-9a-f]{64}$/)
    expect(settlement).toStrictEqual({
      settlementId,
      clientId: client.clientId,
      previousId: undefined,
      sweptFrom: client.createdAt,
      sweptUntil: addMs(paidAt, DAY_MS + 1),
      createdAt: deps.now(),
      ...sums,
      paymentCount: 2,
      entryCount: 2,
      recreditedMinor: 0,
      unprovenMinor: 0,
      status: 'recorded',
      triggeredBy: 'auto',
      currency: 'IDR',
      bank: BANK,
      totals,
      digest,
    })
    expect(await ledgerView(deps, client)).toStrictEqual({ pendingMinor: 0, succeeded: 2 })
    await expectBalanced(deps, client)
  })

  it('settles payments after exactly 24 hours, and names the previous settlement', async ({
    deps,
    client,
  }) => {
    const last = addMs(deps.now(), 1_500)
    for (const paidAt of [client.createdAt, client.createdAt, last])
      await aSucceededPayment(deps, client, { paidAt })

    const first = await sweepADayLater(deps, client)
    deps.clock.set(addMs(last, DAY_MS - 1))
    const noSettlement = await sweep(deps, client)
    deps.clock.set(addMs(last, DAY_MS))
    const second = await sweep(deps, client)

    const end = addMs(client.createdAt, DAY_MS + 1)
    expect(first).toMatchObject({ sweptFrom: client.createdAt, sweptUntil: end, paymentCount: 2 })
    expect(noSettlement).toBeUndefined()
    expect(second).toMatchObject({
      sweptFrom: end,
      sweptUntil: addMs(last, DAY_MS + 1),
      paymentCount: 1,
      previousId: first?.settlementId,
    })
  })

  it('leaves funds pending that do not exceed the floor, closes the days that are over and reads one page, and settles them once they do', async ({
    deps,
  }) => {
    const client = await aStoredClient(deps, { settlementFloorMinor: minor(95_900) })
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    const { deps: recorded, calls } = recordTable(deps)

    expect(await settle(recorded, client)).toMatchObject({
      settlement: undefined,
      waiting: { eligibleMinor: 95_900 },
    })

    expect(writtenKeys(calls)).toHaveLength(17)
    expect(queriesIn(calls).map(({ partition }) => partition)).toStrictEqual([
      [client.clientId],
      [`JOURNAL#${client.clientId}`],
    ])
    expect(await deps.table.get(windowKey(client.clientId))).toMatchObject({
      closedUntil: '2026-11-20T17:00:00.000Z',
    })
    // A trigger closes no day.
    await expect(trigger(recorded, client)).rejects.toThrow('nothing to settle')
    expect(writtenKeys(calls)).toHaveLength(17)
    expect(await ledgerView(deps, client)).toMatchObject({ pendingMinor: 95_900 })
    await aSucceededPayment(deps, client)
    expect(await sweepADayLater(deps, client)).toMatchObject({ netMinor: 2 * 95_900 })
  })

  it('waits behind its fence, and records the bank account that the client has after the wait', async ({
    deps,
    client,
  }) => {
    const { clientId } = client
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    const bankAccountNo = '7777777777'
    const changes = { bank: { ...BANK, bankAccountNo } }
    const sleep = async () => {
      const closedUntil = addMs(deps.now(), 1)
      expect(await deps.table.get(windowKey(clientId))).toMatchObject({ closedUntil })
      await changeClient(deps, { clientId, operator: OPERATOR, changes })
    }

    expect((await sweep({ ...deps, sleep }, client))?.bank).toMatchObject({ bankAccountNo })
  })

  it('never overwrites a settlement: the transaction is refused', async ({ deps, settlement }) => {
    const outcome = await deps.table.transact({
      settlement: putSettlement({ ...settlement, netMinor: minor(1) }),
    })

    expect(outcome).toMatchObject({ applied: false, refusedBy: 'settlement' })
    const { previousId: _, ...stored } = settlement
    expect(await findAnySettlement(deps, settlement.settlementId)).toStrictEqual(stored)
  })

  it('settles no entries whose figures do not add up', async ({ deps, client }) => {
    const payment = await aSucceededPayment(deps, client)
    const entry = await rawItem(deps, entryKeyOf(payment))
    await putRaw(deps, { ...entry, net_minor: 95_901 })
    aDayLater(deps)

    await expect(sweep(deps, client)).rejects.toThrow('figures do not add up')

    await putRaw(deps, entry)
  })
})

/** A sweep reaches every client of its table, so these tests share a separate table. */
const { requests } = memoryDeps()

async function aClientWithPayment(deps: TestDeps) {
  const client = await withoutFloor(deps)
  await aSucceededPayment(deps, client)
  return client
}

it('sweep-settlements (spec 3.2, rule 1) puts one message for each of more than 1,000 clients on the queue, also for disabled clients', async () => {
  const deps = testDeps({ requests })
  const clients = Array.from({ length: 1_100 }, (_, index) => aClient({ enabled: index % 100 > 0 }))
  // The sweep walks the register.
  for (const client of clients) await deps.table.write(put(registrationKey(client), {}))

  const summary = await sweepHandler.withDeps(deps)({}, {} as Context)

  const ids = deps.sent.map(({ message }) => Object(message.body).client_id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(summary).toStrictEqual({ clients: ids.length })
  expect(ids).toStrictEqual(expect.arrayContaining(clients.map(({ clientId }) => clientId)))
  const message = { body: { client_id: ids[0] }, delaySeconds: 0, group: ids[0] }
  expect(deps.sent[0]).toStrictEqual({ queue: 'settlements', message })
  expect(deps.lines).toStrictEqual([
    { level: 'info', code: 'sweep.completed', fields: { clients: ids.length } },
  ])
})

describe('settle-client, the worker of the queue', () => {
  it('returns only the failed messages, so a broken client delays no other client', async () => {
    const deps = testDeps({ requests })
    const [healthy, broken, last] = [
      await aClientWithPayment(deps),
      await aClientWithPayment(deps),
      await aClientWithPayment(deps),
    ]
    aDayLater(deps)
    const window = windowKey(broken.clientId)
    await changeRow(deps, window, { set: { lastSettlementId: crypto.randomUUID() } })
    const [first, second, third] = [broken, healthy, last].map(({ clientId }) => ({
      client_id: clientId,
    }))

    const unknown = { client_id: crypto.randomUUID() }
    const bodies = [first, second, unknown, { client: healthy.clientId }, third]
    const answer = await handOver(settleClient, deps, bodies)

    const failures = ['message-0', 'message-2', 'message-3'].map((itemIdentifier) => ({
      itemIdentifier,
    }))
    expect(answer).toStrictEqual({ batchItemFailures: failures })
    for (const client of [healthy, last]) {
      expect(await settlementsOf(deps, client)).toHaveLength(1)
      await expectBalanced(deps, client)
    }
    expect(await settlementsOf(deps, broken)).toStrictEqual([])
    await expect(sweep(deps, broken)).rejects.toThrow(
      'the previous settlement of a client is missing',
    )
    await changeRow(deps, window, { remove: ['lastSettlementId'] })
    await handOver(settleClient, deps, [first])
    expect(await settlementsOf(deps, broken)).toHaveLength(1)
    await expectBalanced(deps, broken)
  })

  it('settles other clients while one client is slow', async () => {
    const deps = testDeps({ requests })
    const [slow, quick] = [await aClientWithPayment(deps), await aClientWithPayment(deps)]
    aDayLater(deps)
    const gate = Promise.withResolvers<void>()
    const slowed = interceptTable(deps, {
      before: async (call) => {
        if (!('query' in call)) return
        if (call.query.partition.includes(journalPk(slow.clientId))) await gate.promise
      },
    })

    const bodies = [slow, quick].map(({ clientId: client_id }) => ({ client_id }))
    const answer = handOver(settleClient, slowed, bodies)

    await expect.poll(async () => (await settlementsOf(deps, quick)).length).toBe(1)
    expect(await settlementsOf(deps, slow)).toStrictEqual([])
    gate.resolve()
    expect(await answer).toStrictEqual({ batchItemFailures: [] })
    for (const client of [slow, quick]) await expectBalanced(deps, client)
  })
})

it('one alert a day lists the settlements that wait three days for their payout', async () => {
  const { deps, client } = await aLoneClient()
  const first = await settledAmount(deps, client)
  const second = await settledAmount(deps, client, 200_000)
  const alertsAt = async (at: Timestamp) => {
    deps.clock.set(at)
    deps.published.length = 0
    await auditClients.withDeps(deps)({}, lambdaContext('audit-clients'))
    return deps.published.map(({ kind, subject, message }) => [kind, subject, message])
  }
  const alert = (text: string) => [
    ['settlement.unpaid', first.settlementId, expect.stringContaining(text)],
  ]

  expect(await alertsAt(addMs(first.createdAt, 3 * DAY_MS - 1))).toStrictEqual([])
  expect(await alertsAt(addMs(first.createdAt, 3 * DAY_MS))).toStrictEqual(
    alert('1 settlements recorded'),
  )
  expect(await alertsAt(addMs(second.createdAt, 3 * DAY_MS))).toStrictEqual(
    alert(`${first.settlementId}, ${second.settlementId}. The command today`),
  )
  await fail(deps, first)
  await fail(deps, second)
  expect(await alertsAt(addMs(second.createdAt, 4 * DAY_MS))).toStrictEqual([])
})
