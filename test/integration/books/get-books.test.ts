/**
 * Goal: what was received, credited, settled and paid out, and what the provider settled to us, agree source by source,
 * and whatever does not is a figure with a name. Method: a small history through the operators' action; then everything
 * that can come between the sources, one by one.
 */
import { describe, expect, it } from 'vitest'
import { handler as getBooks } from '../../../functions/admin/get-books.ts'
import { FIGURE_NAMES } from '../../../shared/books/figures.ts'
import { minor } from '../../../shared/money.ts'
import { noteProviderSettled } from '../../../shared/payment/fee/fee-store.ts'
import { reversePayment } from '../../../shared/reversal/reverse-payment.ts'
import { heldMoney, recordSuspense } from '../../../shared/suspense/record-suspense.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-provider-transactions.ts'
import { countedBooksKey } from '../../../shared/table/keys.ts'
import { DAY_MS, HOUR_MS } from '../../../shared/time.ts'
import { dispute, won } from '../../support/dispute-builders.ts'
import { recordTable } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { aSucceededPayment, aTransaction, sweptNow } from '../../support/settlement-builders.ts'
import { rawItem } from '../../support/tampering.ts'
import { aClientWithBooks, booksOf, compareToday, passes, RECEIVED } from './books-world.ts'

type World = Awaited<ReturnType<typeof aClientWithBooks>>

/** What the books of `aClientWithBooks` say. */
const CALM = {
  received: 300_000,
  provider_fees: 12_000,
  markup: 300,
  credited: 287_700,
  pending: 95_900,
  in_settlement: 95_900,
  paid_out: 95_900,
  provider_settled: 2 * RECEIVED,
  provider_not_due: RECEIVED,
  balanced: true,
  explained_percent: 100,
}
const { provider_not_due: _, ...ALL_DUE } = CALM
const TAKEN_OUT = { ...ALL_DUE, reversed_before_sweep: 95_900, credited: 191_800, pending: undefined }
const FORGOTTEN = { ...ALL_DUE, reversed_unsettled: RECEIVED }

const wonBehindCount =
  (countedAfterMs: number) =>
  async ({ deps, client, waiting }: World) => {
    await dispute(deps, waiting)
    passes(deps, countedAfterMs)
    await booksOf(deps, client)
    await won(deps, waiting)
  }

describe('the books of a client', () => {
  it('are every figure with its source, and balance', async () => {
    const { deps, client } = await aClientWithBooks()

    const { status, body } = await invokeAdmin(getBooks, deps, { client_id: client.clientId })

    const figures = Reflect.get(body, 'figures') as { name: string; source: string }[]
    expect(status).toBe(200)
    expect(figures.map(({ name }) => name)).toStrictEqual(FIGURE_NAMES)
    expect(figures.every(({ source }) => /^(payments|ledger|provider|suspense|credited|the window)/.test(source))).toBe(
      true,
    )
    expect(await booksOf(deps, client)).toStrictEqual(CALM)
  })

  it('are nothing of a client that nobody paid', async () => {
    const deps = memoryDeps()
    const client = await aStoredClient(deps)

    expect(await booksOf(deps, client)).toStrictEqual({ balanced: true, explained_percent: 100 })
  })

  it.for<{ what: string; happens: (world: World) => Promise<unknown>; shows: object }>([
    {
      what: 'a credit for which the provider never settles anything',
      happens: async ({ deps }) => passes(deps, 5 * DAY_MS),
      shows: { ...ALL_DUE, provider_overdue: RECEIVED, balanced: false, explained_percent: 68 },
    },
    {
      what: 'a settlement of the provider that came an hour before it was asked for',
      happens: async ({ deps, waiting }) => noteProviderSettled(deps, waiting, deps.now()),
      shows: { ...ALL_DUE, provider_settled: 3 * RECEIVED },
    },
    {
      what: 'a provider that settles another fee',
      happens: async ({ deps, settled }) => {
        deps.provider.transactions.push({
          ...aTransaction(settled, { keptMinor: 5_000, settledAt: deps.now() }),
          updatedAt: deps.now(),
        })
        await syncProviderTransactions(deps)
      },
      shows: { ...CALM, provider_differs: 1_000, balanced: false, explained_percent: 99.6666 },
    },
    {
      what: 'a provider that settles another amount',
      happens: async ({ deps, waiting }) => {
        const row = { ...aTransaction(waiting, { settledAt: deps.now() }), updatedAt: deps.now() }
        deps.provider.transactions.push({ ...row, amountMinor: minor(70_000) })
        await syncProviderTransactions(deps)
      },
      shows: { ...CALM, provider_differs: 30_000, balanced: false, explained_percent: 90 },
    },
    {
      what: 'money that nobody may be credited with',
      happens: async ({ deps, settled: payment }) => {
        const capture = { providerPaymentId: `py-${deps.newId()}`, capturedMinor: minor(100_000) }
        await recordSuspense(deps, heldMoney({ capture, cause: 'second_capture', payment, now: deps.now() }))
      },
      shows: { ...CALM, in_suspense: 100_000 },
    },
    {
      what: 'a payment that went back before it was swept',
      happens: async ({ deps, waiting }) =>
        reversePayment(deps, waiting, { transactionId: 'txn_1', kind: 'voided', amountMinor: minor(100_000) }),
      shows: { ...TAKEN_OUT, reversed_unsettled: RECEIVED },
    },
    {
      what: 'a refund of what the provider settles all the same, behind a count of it',
      happens: async ({ deps, client, waiting }) => {
        await reversePayment(deps, waiting, { transactionId: 'txn_1', kind: 'refund', amountMinor: minor(100_000) })
        await booksOf(deps, client)
        await noteProviderSettled(deps, waiting, deps.now())
      },
      shows: { ...TAKEN_OUT, provider_settled: 3 * RECEIVED },
    },
    {
      what: 'a dispute that was won when a settlement had left it out',
      happens: async ({ deps, client, waiting }) => {
        await dispute(deps, waiting)
        await aSucceededPayment(deps, client, { providerSettledAt: deps.now() })
        passes(deps, DAY_MS)
        await sweptNow(deps, client)
        await won(deps, waiting)
      },
      shows: {
        received: 400_000,
        provider_fees: 16_000,
        markup: 400,
        reversed_before_sweep: 95_900,
        reinstated: 95_900,
        credited: 383_600,
        pending: 95_900,
        in_settlement: 191_800,
        paid_out: 95_900,
        provider_settled: 3 * RECEIVED,
        provider_not_due: RECEIVED,
        balanced: true,
        explained_percent: 100,
      },
    },
    { what: 'a dispute that was won behind a count of it', happens: wonBehindCount(2 * HOUR_MS), shows: CALM },
    { what: 'a dispute that nobody decided in half a year', happens: wonBehindCount(181 * DAY_MS), shows: FORGOTTEN },
    {
      what: 'a payment that went back behind its settlement',
      happens: async ({ deps, settled }) =>
        reversePayment(deps, settled, { transactionId: 'txn_1', kind: 'refund', amountMinor: minor(100_000) }),
      shows: { ...CALM, owed_by_clients: 95_900 },
    },
  ])('show $what', async ({ happens, shows }) => {
    const world = await aClientWithBooks()

    await happens(world)

    const expected = Object.fromEntries(Object.entries(shows).filter(([, value]) => value !== undefined))
    expect(await booksOf(world.deps, world.client)).toStrictEqual(expected)
  })

  it('call what is credited while they are read in motion', async () => {
    const { deps, client } = await aClientWithBooks()
    let paid = false
    const moving = {
      ...deps,
      table: {
        ...deps.table,
        query: async (input: Parameters<typeof deps.table.query>[0]) => {
          const page = await deps.table.query(input)
          if (!paid && input.index === 'by-owner-paid') {
            paid = true
            await aSucceededPayment(deps, client)
          }
          return page
        },
      },
    }

    const moved = { credited: 383_600, pending: 191_800, in_motion: 95_900 }
    expect(await booksOf(moving, client)).toStrictEqual({ ...CALM, ...moved })
    expect(paid).toBe(true)
  })

  it('cost what is new, however many payments are behind them', async () => {
    const { deps, client } = await aClientWithBooks()
    await booksOf(deps, client)
    const { deps: recorded, calls } = recordTable(deps)

    await booksOf(recorded, client)

    const read = calls.flatMap((call) => ('keys' in call ? call.keys.map(({ pk }) => pk) : []))
    expect(read.filter((pk) => pk.startsWith('PAYMENT#'))).toHaveLength(1)
    expect(await rawItem(deps, countedBooksKey(client.clientId))).toMatchObject({
      place: expect.any(Object),
      version: 1,
    })
    expect(await booksOf(deps, client)).toStrictEqual(CALM)
  })
})

describe('the books of all clients', () => {
  it('are the sums of the day’s comparison, of new clients now, and all that is in suspense', async () => {
    const { deps, client } = await aClientWithBooks()
    await compareToday(deps, client)
    await aClientWithBooks(deps)
    const capture = { providerPaymentId: `py-${deps.newId()}`, capturedMinor: minor(7_000) }
    await recordSuspense(deps, heldMoney({ capture, cause: 'unknown_reference', payment: undefined, now: deps.now() }))

    const books = await booksOf(deps)

    expect(books).toMatchObject({ received: 600_000, paid_out: 191_800, in_suspense: 7_000, balanced: true })
    expect(books).toMatchObject({ clients: 2, not_compared: 0, explained_percent: 100 })
  })

  it('show what one of them does not explain until a comparison has seen it gone', async () => {
    const { deps, client, waiting } = await aClientWithBooks()
    passes(deps, 5 * DAY_MS)
    await compareToday(deps, client)
    const before = await booksOf(deps)
    await noteProviderSettled(deps, waiting, deps.now())
    const meanwhile = await booksOf(deps)
    await compareToday(deps, client)

    expect([before, meanwhile]).toMatchObject([
      { provider_overdue: RECEIVED, balanced: false },
      { provider_overdue: RECEIVED, balanced: false },
    ])
    expect(await booksOf(deps)).toMatchObject({ provider_settled: 3 * RECEIVED, balanced: true })
  })

  it('are inconclusive of more new clients than one call looks at', async () => {
    const deps = memoryDeps()
    for (let number = 0; number < 51; number++) await aStoredClient(deps)

    expect(await booksOf(deps)).toMatchObject({ clients: 50, not_compared: 1, balanced: 'inconclusive' })
  })
})
