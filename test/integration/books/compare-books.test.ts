/**
 * Goal: a difference between the books and the provider, or within the books, is one finding an hour later, and is closed
 * when it is gone; no traffic is one. Method: the daily worker on a small history; then each figure of the ledger, the
 * window, a settlement, a sealed window and a reversal, one rupiah more behind the gateway's back.
 */
import { describe, expect, it } from 'vitest'
import { handler as worker } from '../../../functions/queue/audit-client.ts'
import { auditClient } from '../../../shared/audit/audit-client.ts'
import { compareBooks } from '../../../shared/books/compare-books.ts'
import { correctCredit } from '../../../shared/ledger/ledger-store.ts'
import { minor } from '../../../shared/money.ts'
import { expectedSettlement } from '../../../shared/payment/channel/expected-settlement.ts'
import { noteProviderSettled } from '../../../shared/payment/fee/fee-store.ts'
import { reversePayment } from '../../../shared/reversal/reverse-payment.ts'
import { reversalKey, settlementKey, windowKey, windowSealKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/time.ts'
import { won } from '../../support/dispute-builders.ts'
import { recordTable } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { lambdaContext } from '../../support/operator-actions.ts'
import { aSucceededPayment, inSteps, settlementsOf, withFloor } from '../../support/settlement-builders.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import {
  aboutOf,
  aClientWithBooks,
  booksOf,
  compared,
  compareToday,
  disputed,
  overdue,
  passes,
  RECEIVED,
  reported,
  resolve,
  toldOf,
} from './books-world.ts'

describe('the daily comparison', () => {
  it('finds books that agree explained, and leaves alone who does not move and waits for nothing', async () => {
    const { deps, client, waiting } = await aClientWithBooks()
    await compareToday(deps, client)
    await noteProviderSettled(deps, waiting, deps.now())
    await compareToday(deps, client)
    const { deps: recorded, calls } = recordTable(deps)

    await compareBooks(recorded, client.clientId, undefined)

    expect(calls.map(({ name }) => name)).toStrictEqual(['get', 'query', 'batchGet'])
    expect(reported(deps)).toStrictEqual(Array.from({ length: 3 }, () => [300_000, 300_000]))
    expect(deps.published).toStrictEqual([])
  })

  it('looks again at a dispute that is won once it is paid out, which moves no ledger', async () => {
    const { deps, client, waiting } = await disputed()
    const before = await booksOf(deps, client)
    await won(deps, waiting)
    passes(deps, 5 * DAY_MS)
    await compareToday(deps, client)

    expect(before).toMatchObject({ reversed_unsettled: RECEIVED, balanced: true })
    expect(await aboutOf(deps, client, 'provider_overdue')).toMatchObject({ status: 'open', amountMinor: RECEIVED })
  })

  it('tells once what the provider has not settled an hour past its day, and closes it once it has', async () => {
    const { deps, client, waiting } = await overdue()
    await compareToday(deps, client)
    const open = await aboutOf(deps, client, 'provider_overdue')
    await noteProviderSettled(deps, waiting, deps.now())
    await compareToday(deps, client)

    expect(toldOf(deps)).toStrictEqual(['suspense.finding provider_overdue'])
    expect(open).toMatchObject({ status: 'open', kind: 'finding', amountMinor: RECEIVED, clientId: client.clientId })
    const closed = await aboutOf(deps, client, 'provider_overdue')
    expect(closed).toMatchObject({ status: 'resolved', notes: expect.stringContaining('gone at') })
    expect(closed).not.toHaveProperty('resolution')
    expect(reported(deps)).toStrictEqual([
      [300_000, 204_000],
      [300_000, 204_000],
      [300_000, 300_000],
    ])
  })

  it('says of an open finding how much it is by now, and tells nobody again', async () => {
    const { deps, client } = await overdue()
    await aSucceededPayment(deps, client)
    passes(deps, 5 * DAY_MS)
    await compareToday(deps, client)

    expect(await aboutOf(deps, client, 'provider_overdue')).toMatchObject({ amountMinor: 2 * RECEIVED, status: 'open' })
    expect(deps.published).toHaveLength(1)
  })

  it('believes a difference within the books when it is the same an hour later', async () => {
    const { deps, client, waiting } = await aClientWithBooks()
    await deps.table.write(correctCredit(waiting, minor(1), deps.now()))
    const began = deps.now()

    await compareBooks(deps, client.clientId, undefined)
    const atFirst = await aboutOf(deps, client, 'credited_difference')
    await compareToday(deps, client)

    expect(atFirst).toBeUndefined()
    expect(Date.parse(deps.now()) - Date.parse(began)).toBeGreaterThanOrEqual(HOUR_MS)
    expect(await aboutOf(deps, client, 'credited_difference')).toMatchObject({ status: 'open', amountMinor: 1 })
    expect(await compared(deps, client)).toMatchObject({ unexplained_minor: 1 })
    expect(toldOf(deps)).toStrictEqual(['suspense.finding credited_difference'])
  })

  it('forgets one that is gone within the hour', async () => {
    const { deps, client, waiting } = await aClientWithBooks()
    await deps.table.write(correctCredit(waiting, minor(1), deps.now()))
    await compareBooks(deps, client.clientId, undefined)
    await deps.table.write(correctCredit(waiting, minor(-1), deps.now()))
    await compareToday(deps, client)

    expect(await aboutOf(deps, client, 'credited_difference')).toBeUndefined()
    expect(await booksOf(deps, client)).toMatchObject({ balanced: true })
  })

  it('believes none that is another one at each look', async () => {
    const { deps, client, waiting } = await aClientWithBooks()
    for (let look = 0; look < 4; look++) {
      await deps.table.write(correctCredit(waiting, minor(1), deps.now()))
      await compareBooks(deps, client.clientId, undefined)
      passes(deps, HOUR_MS)
    }

    expect(await aboutOf(deps, client, 'credited_difference')).toBeUndefined()
  })

  it('waits for the provider until the sync has had its hour, and not a millisecond less', async () => {
    const { deps, client, waiting } = await aClientWithBooks()
    const due = addMs(expectedSettlement(waiting, waiting.paidAt ?? waiting.createdAt), 130 * MINUTE_MS)
    deps.clock.set(due)
    const before = await booksOf(deps, client)
    deps.clock.set(addMs(due, 1))

    expect(before).toMatchObject({ provider_not_due: RECEIVED, balanced: true })
    expect(await booksOf(deps, client)).toMatchObject({ provider_overdue: RECEIVED, balanced: false })
  })

  it('counts a payment that the index shows behind a younger one', async () => {
    const { deps, client } = await aClientWithBooks()
    await aSucceededPayment(deps, client, { providerSettledAt: deps.now() })
    await compareToday(deps, client)
    await aSucceededPayment(deps, client, { paidAt: addMs(deps.now(), -MINUTE_MS) })

    expect(await booksOf(deps, client)).toMatchObject({ received: 500_000, balanced: true })
  })

  it('takes what an operator has resolved as it is, and tells it again when it becomes another amount', async () => {
    const { deps, client } = await overdue()
    await resolve(deps, client)
    await compareToday(deps, client)
    const accepted = await booksOf(deps, client)
    await aSucceededPayment(deps, client)
    passes(deps, 5 * DAY_MS)
    await compareToday(deps, client)

    expect(accepted).toMatchObject({ accepted: RECEIVED, balanced: true, explained_percent: 100 })
    const again = await aboutOf(deps, client, 'provider_overdue')
    expect(again).toMatchObject({ status: 'open', amountMinor: 2 * RECEIVED })
    expect(again).not.toHaveProperty('resolution')
    expect(again).not.toHaveProperty('notes')
    expect(toldOf(deps)).toHaveLength(2)
  })

  it('goes on over several runs where a history is longer than one', async () => {
    const { deps, client } = await aClientWithBooks()

    const runs = await compareToday(inSteps(deps, 1, 1), client)

    expect(runs).toBe(4)
    expect(await booksOf(deps, client)).toMatchObject({ received: 300_000, balanced: true })
  })
})

it('waits for its hour on the queue, fifteen minutes at a time', async () => {
  const deps = memoryDeps()
  const client = await withFloor(deps)
  const not_before = new Date(Date.parse(deps.now()) + HOUR_MS).toISOString()
  const body = JSON.stringify({ client_id: client.clientId, books: true, not_before })

  await worker.withDeps(deps)({ Records: [{ messageId: 'm', body }] } as never, lambdaContext('audit-client'))

  expect(deps.sent).toMatchObject([
    { queue: 'audits', message: { delaySeconds: 900, body: { books: true, not_before } } },
  ])
  expect(reported(deps)).toStrictEqual([])
})

type World = Awaited<ReturnType<typeof aClientWithBooks>>

describe('somebody who writes behind the gateway’s back', () => {
  const plusOne = async ({ deps }: World, key: Parameters<typeof rawItem>[1], field: string) => {
    const item = await rawItem(deps, key)
    await putRaw(deps, { ...item, [field]: Number(item[field]) + 1 })
  }

  it.for<{ what: string; tamper: (world: World) => Promise<unknown>; difference: object }>([
    {
      what: 'a shard',
      tamper: ({ deps, waiting }) => deps.table.write(correctCredit(waiting, minor(1), deps.now())),
      difference: { credited_difference: 1 },
    },
    ...['settled_minor', 'available_minor', 'in_settlement_minor', 'paid_out_minor'].map((field) => ({
      what: `the window's ${field}`,
      tamper: (world: World) => plusOne(world, windowKey(world.client.clientId), field),
      difference: { settled_difference: 1 },
    })),
    ...['gross_minor', 'net_minor'].map((field) => ({
      what: `a settlement's ${field}`,
      tamper: async (world: World) => {
        const [settlement] = await settlementsOf(world.deps, world.client)
        await plusOne(world, settlementKey(settlement?.settlementId as never), field)
      },
      difference: { settled_difference: expect.any(Number) },
    })),
    ...['gross_minor', 'provider_fees_minor', 'markup_minor', 'net_minor', 'payment_count'].map((field) => ({
      what: `a sealed window's ${field}`,
      tamper: async (world: World) => {
        passes(world.deps, HOUR_MS)
        await auditClient(world.deps, world.client.clientId)
        const [settlement] = await settlementsOf(world.deps, world.client)
        await plusOne(world, windowSealKey(world.client.clientId, String(settlement?.periodStart)), field)
      },
      difference: { settled_difference: 1 },
    })),
    ...['notional_minor', 'net_minor'].map((field) => ({
      what: `a reversal's ${field}`,
      tamper: async (world: World) => {
        const { deps, client, waiting } = world
        await reversePayment(deps, waiting, { transactionId: 'txn_1', kind: 'voided', amountMinor: minor(100_000) })
        await plusOne(world, reversalKey(client.clientId, String(waiting.paidAt), 1), field)
      },
      difference: { settled_difference: 1 },
    })),
  ])('is found at $what', async ({ tamper, difference }) => {
    const world = await aClientWithBooks()

    await tamper(world)

    expect(await booksOf(world.deps, world.client)).toMatchObject({ ...difference, balanced: false })
  })
})
