/**
 * Goal: nothing is added to a day of the books that is closed. Method: real stores; each writer
 * reads the clock a second before midnight in Jakarta and is frozen there, until the sweep and the
 * gateway's audit have closed the day.
 */
import { describe, expect, it } from 'vitest'
import { auditGateway, auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import { listEventsOf } from '../../../shared/event/read-events.ts'
import { subjectOfSettlement } from '../../../shared/ids.ts'
import { bookDay } from '../../../shared/journal/day-totals.ts'
import {
  closeHouseDays,
  HOUSE_ENTRY_TYPES,
  houseTotals,
} from '../../../shared/journal/house-store.ts'
import { readWindow } from '../../../shared/ledger/window-store.ts'
import { markSettlementPaid } from '../../../shared/payout/mark-settlement-paid.ts'
import {
  bookRowBack,
  bookSuspense,
  bookSuspenseRefund,
  bookSuspenseVoid,
  bookTransfer,
  bookUnmatchedRow,
} from '../../../shared/posting/house-journal.ts'
import { finding, recordSuspense } from '../../../shared/suspense/record-suspense.ts'
import { HOUSE_TOTALS_PK, houseEntryKey, houseTotalKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, SECOND_MS, type Timestamp } from '../../../shared/time.ts'
import { jakartaMidnightAfter } from '../../support/jakarta.ts'
import { adjustBalance, aHouseRow } from '../../support/money-rows.ts'
import { anOpenPayment, entriesIn, post } from '../../support/paid-builders.ts'
import { expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import { auditedNow, BY_OPERATOR, settle } from '../../support/settlement-builders.ts'
import { erase, putRaw } from '../../support/tampering.ts'
import {
  beforeCommit,
  beforeFirst,
  memoryDeps,
  recordTable,
  type TestDeps,
  writesTo,
  writtenKeys,
} from '../../support/test-deps.ts'
import { bookedItem, heldMoneyItem, resolve } from '../payment/suspense-test.ts'
import { recount } from '../recount/torn-world.ts'
import { clientTest } from '../settlement/client-test.ts'

/** 20 November 2026 in Jakarta. */
const DAY = '2026-11-20'
const BEFORE_MIDNIGHT = '2026-11-20T16:59:59.000Z' as Timestamp

function atNight() {
  const deps = memoryDeps()
  deps.clock.set(BEFORE_MIDNIGHT)
  return deps
}

function aRow(deps: TestDeps, amountMinor = -5_000) {
  return aHouseRow(deps, `txn_${crypto.randomUUID()}`, amountMinor)
}

function findingAbout(deps: TestDeps, subject: string) {
  return finding({ subject, cause: 'transaction_unexplained', payment: undefined, now: deps.now() })
}

/** The clock runs again, and the audit of the second night has closed both days. */
async function nightsPass(deps: TestDeps) {
  deps.clock.set(addMs(BEFORE_MIDNIGHT, 1.5 * DAY_MS))
  await auditGateway(deps)
}

async function totalsOfDay(deps: TestDeps, day: string) {
  return (await houseTotals(deps, { fromDay: day, untilDay: day })).rows
}

describe('the audit of the gateway (design section 12, "Closed days")', () => {
  it('closes each day that is over for every type, and never today', async () => {
    const deps = atNight()
    await nightsPass(deps)

    for (const day of [DAY, '2026-11-21']) {
      const totals = await totalsOfDay(deps, day)
      expect(totals.map(({ type }) => type).toSorted()).toStrictEqual(HOUSE_ENTRY_TYPES.toSorted())
      expect(totals.every(({ closed }) => closed)).toBe(true)
    }
    expect(await totalsOfDay(deps, '2026-11-22')).toStrictEqual([])
    const { deps: recorded, calls } = recordTable(deps)
    await closeHouseDays(recorded)
    expect(writtenKeys(calls)).toStrictEqual([])
    await expectHouseBalanced(deps)
  })

  it.each([
    ['the next night', auditGateway],
    ['an operator', auditWholeGateway],
  ])('closes what a killed audit has left open of a day, at the audit of %s', async (_, audit) => {
    const deps = atNight()
    await nightsPass(deps)
    await putRaw(deps, { ...houseTotalKey(DAY, 'unmatched'), day: DAY, type: 'unmatched' })

    await audit(deps)

    expect((await totalsOfDay(deps, DAY)).every(({ closed }) => closed)).toBe(true)
  })

  it('finds the rows of money that was resolved after 500 days', async () => {
    const deps = memoryDeps()
    const item = await bookedItem(deps)
    deps.clock.pass(500 * DAY_MS)

    await resolve(deps, item)

    await expectHouseBalanced(deps)
  })

  it('finds a day that is closed before its end', async () => {
    const deps = memoryDeps()
    const key = houseTotalKey(DAY, 'unmatched')
    await putRaw(deps, { ...key, day: DAY, type: 'unmatched', closed: true })

    const { differences } = await auditWholeGateway(deps)

    expect(differences).toMatchObject([{ what: 'house_total.closed', id: `${DAY}#unmatched` }])
  })
})

type Prepare = (deps: TestDeps) => Promise<(frozen: TestDeps) => Promise<unknown>>

async function onBookedItem(
  deps: TestDeps,
  write: (frozen: TestDeps, item: Awaited<ReturnType<typeof bookedItem>>) => Promise<unknown>,
) {
  const item = await bookedItem(deps)
  return (frozen: TestDeps) => write(frozen, item)
}

function onRow(write: (frozen: TestDeps, row: ReturnType<typeof aRow>) => Promise<unknown>) {
  return async (deps: TestDeps) => {
    const row = aRow(deps)
    return (frozen: TestDeps) => write(frozen, row)
  }
}

const WRITERS: readonly (readonly [name: string, prepare: Prepare])[] = [
  ['a row that names no payment', onRow(bookUnmatchedRow)],
  [
    'a row with its finding',
    onRow((frozen, row) => bookUnmatchedRow(frozen, row, findingAbout(frozen, row.transactionId))),
  ],
  [
    'a row that is void',
    async (deps) => {
      const row = aRow(deps)
      await bookUnmatchedRow(deps, row)
      return (frozen) => bookRowBack(frozen, row, findingAbout(deps, row.transactionId))
    },
  ],
  [
    'a withdrawal',
    onRow((frozen, row) =>
      bookTransfer(frozen, row, 'withdrawal', {
        contradiction: findingAbout(frozen, row.transactionId),
      }),
    ),
  ],
  [
    'held money that settles',
    async (deps) => {
      const item = heldMoneyItem(deps)
      await recordSuspense(deps, item)
      return (frozen) => bookSuspense(frozen, item, aRow(deps, 4_900))
    },
  ],
  [
    'a refund of held money',
    (deps) =>
      onBookedItem(deps, (frozen, item) =>
        bookSuspenseRefund(frozen, item, aRow(deps), findingAbout(deps, item.suspenseId)),
      ),
  ],
  [
    'a void of held money',
    (deps) =>
      onBookedItem(deps, (frozen, item) =>
        bookSuspenseVoid(frozen, item, { ...aRow(deps), transactionId: `txn_${item.suspenseId}` }),
      ),
  ],
  ['a resolution', (deps) => onBookedItem(deps, (frozen, item) => resolve(frozen, item))],
]

describe('a process that is frozen over midnight', () => {
  it.for(WRITERS)('books %s on the next open day', async ([, prepare]) => {
    const deps = atNight()
    const write = await prepare(deps)
    const before = await totalsOfDay(deps, DAY)
    const frozen = beforeFirst(deps, writesTo({ pk: HOUSE_TOTALS_PK }), () => nightsPass(deps))

    await write(frozen)

    const sums = (await totalsOfDay(deps, DAY)).filter(({ count }) => count > 0)
    expect(sums).toStrictEqual(before.map((total) => ({ ...total, closed: true })))
    expect(await totalsOfDay(deps, '2026-11-22')).toMatchObject([{ count: 1 }])
    await expectHouseBalanced(deps)
  })

  it('whose clock stands still books at the end of the closed day', async () => {
    const deps = atNight()
    await nightsPass(deps)
    deps.clock.set(BEFORE_MIDNIGHT)
    const row = aRow(deps)

    await bookUnmatchedRow(deps, row)

    const key = houseEntryKey(DAY, row.transactionId, 'unmatched')
    expect(await deps.table.get(key)).toMatchObject({ postedAt: '2026-11-21T17:00:00.000Z' })
  })

  clientTest('posts a payment on the day whose fence is open', async ({ deps, client }) => {
    deps.clock.set(addMs(BEFORE_MIDNIGHT, DAY_MS))
    const payment = await anOpenPayment(deps, client)
    const frozen = beforeCommit(deps, async () => {
      deps.clock.set(addMs(BEFORE_MIDNIGHT, DAY_MS + 9.5 * 3_600 * SECOND_MS))
      await settle(deps, client)
    })

    await post(frozen, payment)

    const { closedUntil } = await readWindow(deps, client.clientId)
    expect(closedUntil).toBe('2026-11-21T17:00:00.000Z')
    const [entry] = await entriesIn(deps, client)
    expect(entry && bookDay(entry.postedAt)).toBe('2026-11-22')
  })

  clientTest('pays out on the day whose fence is open', async ({ deps, client, settlement }) => {
    await auditedNow(deps, settlement)
    const midnight = jakartaMidnightAfter(deps.now())
    deps.clock.set(addMs(midnight, -SECOND_MS))
    const frozen = beforeCommit(deps, async () => {
      deps.clock.set(addMs(midnight, 9.5 * 3_600 * SECOND_MS))
      await settle(deps, client)
      // The clock of the frozen process stands still.
      deps.clock.set(addMs(midnight, -SECOND_MS))
    })
    const order = { settlementId: settlement.settlementId, ...BY_OPERATOR, bankReference: 'BCA 1' }

    const { settledAt } = await markSettlementPaid(frozen, order)

    const { closedUntil } = await readWindow(deps, client.clientId)
    const [event] = await listEventsOf(deps, subjectOfSettlement(settlement.settlementId))
    expect([settledAt, closedUntil, event?.firedAt]).toStrictEqual(Array(3).fill(midnight))
  })

  clientTest('takes a row over on an open day, with the entry', async ({ deps, client }) => {
    const row = aRow(deps)
    await bookUnmatchedRow(deps, row)
    deps.clock.set(addMs(BEFORE_MIDNIGHT, DAY_MS))
    const today = bookDay(deps.now())
    const frozen = beforeCommit(deps, async () => {
      deps.clock.pass(DAY_MS)
      await closeHouseDays(deps)
    })

    await adjustBalance(frozen, client, 'correction', -5_000, 'ROW-1', row.transactionId)

    const [entry] = await entriesIn(deps, client)
    expect(entry && bookDay(entry.postedAt) > today).toBe(true)
    const key = houseEntryKey(row.rowAt.slice(0, 10), row.transactionId, 'correction')
    expect(await deps.table.get(key)).toMatchObject({ postedAt: entry?.postedAt })
  })
})

it('a recount books a lost resolution of a closed day today', async () => {
  const deps = atNight()
  const { suspenseId, createdAt } = await bookedItem(deps)
  await resolve(deps, { suspenseId }, 'written_off')
  const key = houseEntryKey(createdAt.slice(0, 10), suspenseId, 'suspense_resolved')
  await erase(deps, key)
  await nightsPass(deps)

  await recount(deps, 'gateway')

  expect(await deps.table.get(key)).toMatchObject({ postedAt: deps.now() })
  await expectHouseBalanced(deps)
})
