import { describe, expect } from 'vitest'
import { handler as listSuspense } from '../../../functions/admin/list-suspense.ts'
import type { ClientId } from '../../../shared/ids.ts'
import type { HouseEntryType } from '../../../shared/journal/house-store.ts'
import { minor } from '../../../shared/money.ts'
import { findAuditRecordsOfClient } from '../../../shared/operator/audit-record-store.ts'
import {
  bookSuspense,
  bookSuspenseRefund,
  bookSuspenseVoid,
} from '../../../shared/posting/house-journal.ts'
import { finding, heldMoney, recordSuspense } from '../../../shared/suspense/record-suspense.ts'
import {
  type OperatorResolution,
  resolveSuspense,
} from '../../../shared/suspense/resolve-suspense.ts'
import { type Suspense, toSuspenseDto } from '../../../shared/suspense/suspense.ts'
import {
  endSuspenseAlert,
  ensureSuspense,
  findSuspense,
  putSuspense,
} from '../../../shared/suspense/suspense-store.ts'
import { houseEntryKey } from '../../../shared/table/keys.ts'
import type { Timestamp } from '../../../shared/time.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { aClientId, aStoredClient } from '../../support/payment-builders.ts'
import {
  beforeFirst,
  memoryDeps,
  recordTable,
  type TestDeps,
  withRequests,
} from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { paymentTest } from './payment-test.ts'

function heldIn(deps: TestDeps): Suspense {
  const capture = { providerPaymentId: `py-${crypto.randomUUID()}`, capturedMinor: minor(5_000) }
  return heldMoney({ capture, cause: 'unknown_reference', payment: undefined, now: deps.now() })
}

/** Money in suspense. Its provider row has settled, and its house entry is written. */
async function bookedIn(deps: TestDeps, clientId?: ClientId): Promise<Suspense> {
  const item = { ...heldIn(deps), clientId }
  await recordSuspense(deps, item)
  const row = {
    transactionId: `txn_${item.suspenseId}`,
    rowAt: deps.now(),
    providerMinor: minor(4_900),
  }
  await bookSuspense(deps, item, row)
  return { ...item, postedMinor: minor(5_000) }
}

/** `item`: booked money of a client. `held`: money whose suspense item is not stored yet. */
const it = paymentTest
  .extend('clientId', () => aClientId())
  .extend('item', ({ deps, clientId }) => bookedIn(deps, clientId))
  .extend('held', ({ deps }) => heldIn(deps))

function houseEntryOf(
  deps: TestDeps,
  transactionId: string,
  type: HouseEntryType,
  rowAt: Timestamp,
) {
  return deps.table.get(houseEntryKey(rowAt.slice(0, 10), transactionId, type))
}

type Item = Pick<Suspense, 'suspenseId'>
function resolve(
  deps: TestDeps,
  { suspenseId }: Item,
  resolution: OperatorResolution = 'refunded_by_bank',
) {
  return resolveSuspense(deps, { suspenseId, operator: 'ayu', resolution, notes: 'BCA 17' })
}

function refund(deps: TestDeps, item: Suspense, transactionId: string, amount: number) {
  const row = { transactionId, rowAt: deps.now(), providerMinor: minor(-amount) }
  return bookSuspenseRefund(deps, item, row, minor(amount))
}

it('putSuspense writes an item once; its alert is due a minute later and ends once', async ({
  deps,
  held: item,
}) => {
  const absent = `py-${crypto.randomUUID()}`
  const first = await putSuspense(deps, item)
  const second = await putSuspense(deps, { ...item, amountMinor: minor(1) })

  expect([first.applied, second.applied]).toStrictEqual([true, false])
  expect(await findSuspense(deps, item.suspenseId)).toEqual(item)
  expect(await dueAtOf(deps, 'alert', item.suspenseId)).toBe('2026-11-20T04:01:00.000Z')
  const applied: boolean[] = []
  for (const id of [item.suspenseId, item.suspenseId, absent])
    applied.push((await endSuspenseAlert(deps, id)).applied)
  expect(applied).toStrictEqual([true, false, false])
  expect(await dueAtOf(deps, 'alert', item.suspenseId)).toBeUndefined()
  expect(await findSuspense(deps, absent)).toBeUndefined()
})

it('ensureSuspense never refuses a transaction, and does not change a stored item', async ({
  deps,
  item,
}) => {
  const resolved = await resolve(deps, item)

  const again = { ...item, cause: 'wrong_amount', amountMinor: minor(1), createdAt: deps.now() }

  expect((await deps.table.transact({ item: ensureSuspense(again) })).applied).toBe(true)
  expect(await findSuspense(deps, item.suspenseId)).toEqual(resolved)
})

it('listSuspense lists all, open or resolved items, newest first', async () => {
  const deps = memoryDeps()
  const make = async () => {
    deps.clock.advance(60)
    return (await bookedIn(deps)).suspenseId
  }
  const [first, second, third] = [await make(), await make(), await make()]
  await resolve(deps, { suspenseId: second })
  const listed = async (payload: object) => {
    const { body } = await invokeAdmin(listSuspense, deps, payload)
    return (body as { readonly data: readonly { readonly suspense_id: string }[] }).data.map(
      (one) => one.suspense_id,
    )
  }

  expect(await listed({})).toStrictEqual([third, second, first])
  expect(await listed({ status: 'open' })).toStrictEqual([third, first])
  expect(await listed({ status: 'open', per_page: 1, page: 2 })).toStrictEqual([first])
  expect(await listed({ status: 'resolved' })).toStrictEqual([second])
  expect(await invokeAdmin(listSuspense, deps, { status: 'closed' })).toMatchObject({ status: 422 })
})

it('listSuspense of a client reads at most 5,000 items, and shows that there are more', async ({
  deps,
}) => {
  let pages = 0
  const items = Array.from({ length: 100 }, (_, at) => ({ pk: `SUSPENSE#${at}`, sk: 'SUSPENSE' }))
  const query = async () => ({ items, count: 100, cursor: ++pages < 51 ? {} : undefined })
  const many = withRequests(deps, { ...deps.requests, query })

  const { body } = await invokeAdmin(listSuspense, many, {
    client_id: (await aStoredClient(deps)).clientId,
  })

  expect(body).toMatchObject({ data: [], complete: false })
})

describe('resolveSuspense (design section 7)', () => {
  it('resolves once for three concurrent operators, with one audit record', async ({
    deps,
    clientId,
    item,
  }) => {
    const results = await Promise.allSettled([1, 2, 3].map(() => resolve(deps, item)))

    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await expect(resolve(deps, item)).rejects.toMatchObject({ code: 'validation' })
    const resolved = { status: 'resolved', resolution: 'refunded_by_bank', notes: 'BCA 17' }
    expect(await findSuspense(deps, item.suspenseId)).toMatchObject(resolved)
    const record = { subject: item.suspenseId, before: { status: 'open' }, after: resolved }
    expect(await findAuditRecordsOfClient(deps, clientId, { page: 1, perPage: 9 })).toMatchObject([
      record,
    ])
  })

  it.for([
    [
      'refunded_by_bank',
      'suspense_refunded',
      { suspenseMinor: -5_000, bankMinor: -5_000, houseMinor: 0 },
    ],
    [
      'written_off',
      'suspense_resolved',
      { suspenseMinor: -5_000, bankMinor: 0, houseMinor: 5_000 },
    ],
  ] as const)('books money that is %s as %s', async ([resolution, type, legs], { deps, item }) => {
    const { suspenseId, createdAt } = item

    await resolve(deps, item, resolution)

    const own = { providerMinor: 4_900, suspenseMinor: 5_000, houseMinor: -100 }
    expect(await houseEntryOf(deps, `txn_${suspenseId}`, 'suspense', createdAt)).toMatchObject(own)
    expect(await houseEntryOf(deps, suspenseId, type, createdAt)).toMatchObject({
      suspenseId,
      ...legs,
    })
  })

  it('resolves the remaining amount after a partial refund', async ({ deps, item }) => {
    for (let times = 0; times < 2; times++) await refund(deps, item, 'txn_part', 2_000)
    const left = await findSuspense(deps, item.suspenseId)
    expect(left).toMatchObject({ status: 'open', postedMinor: 5_000 })
    expect(left && toSuspenseDto(left)).toMatchObject({
      amount_minor: 5_000,
      refunded_minor: 2_000,
    })

    await resolve(deps, item)

    const entry = await houseEntryOf(deps, item.suspenseId, 'suspense_refunded', item.createdAt)
    expect(entry).toMatchObject({ suspenseMinor: -3_000, bankMinor: -3_000 })
  })

  it('is final: a later refund is a loss of the house, and a void changes no resolution', async ({
    deps,
    item,
  }) => {
    const resolved = await resolve(deps, item)

    await refund(deps, item, 'txn_late', 2_000)
    await bookSuspenseVoid(deps, resolved, {
      transactionId: 'txn_own',
      rowAt: deps.now(),
      providerMinor: minor(4_900),
    })

    expect(await findSuspense(deps, item.suspenseId)).toEqual({ ...resolved, isVoid: true })
    const entry = await houseEntryOf(deps, 'txn_late', 'suspense_refunded', deps.now())
    expect(entry).toMatchObject({ suspenseMinor: 0, providerMinor: -2_000, houseMinor: -2_000 })
  })

  it('is refused when the provider refunds a part between read and write', async ({
    deps,
    item,
  }) => {
    const raced = beforeFirst(deps, 'transact', () => refund(deps, item, 'txn_between', 2_000))

    await expect(resolve(raced, item)).rejects.toMatchObject({ code: 'conflict' })

    expect(await findSuspense(deps, item.suspenseId)).toMatchObject({
      status: 'open',
      refundedMinor: 2_000,
    })
  })

  it('a full refund resolves an item, even before its row settles', async ({
    deps,
    held: item,
  }) => {
    await recordSuspense(deps, item)
    const { suspenseId: suspense_id, cause, kind } = item
    const recorded = {
      level: 'warn',
      code: 'suspense.recorded',
      fields: { suspense_id, cause, kind },
    }
    expect(deps.lines).toMatchObject([recorded, { code: 'alert.published' }])
    await refund(deps, item, 'txn_all', 5_000)
    expect(await findSuspense(deps, item.suspenseId)).toMatchObject({
      status: 'resolved',
      resolution: 'refunded',
    })

    await bookSuspense(deps, item, {
      transactionId: 'txn_own',
      rowAt: deps.now(),
      providerMinor: minor(4_900),
    })

    const entry = await houseEntryOf(deps, 'txn_own', 'suspense', item.createdAt)
    expect(entry).toMatchObject({ providerMinor: 4_900, suspenseMinor: 0 })
  })

  it('an item is voided once, and a booking that read it earlier writes nothing', async ({
    deps,
    held,
  }) => {
    await recordSuspense(deps, held)
    await refund(deps, held, crypto.randomUUID(), 5_000)
    const read = (await findSuspense(deps, held.suspenseId)) ?? held
    const row = {
      transactionId: crypto.randomUUID(),
      rowAt: deps.now(),
      providerMinor: minor(4_900),
    }
    const raced = beforeFirst(deps, 'transact', () => bookSuspenseVoid(deps, read, row))

    const found = await bookSuspense(raced, read, row)
    const again = await bookSuspenseVoid(deps, read, { ...row, transactionId: 'txn_again' })

    expect([found.isVoid, again.isVoid]).toStrictEqual([true, true])
    expect(await houseEntryOf(deps, row.transactionId, 'suspense', row.rowAt)).toBeUndefined()
    expect(await houseEntryOf(deps, 'txn_again', 'suspense_refunded', row.rowAt)).toBeUndefined()
  })

  it('refuses money before its row settles, and a resolution of the wrong kind', async ({
    deps,
    held: item,
  }) => {
    await recordSuspense(deps, item)
    const found = finding({
      subject: crypto.randomUUID(),
      cause: 'fee_assumed',
      payment: undefined,
      now: deps.now(),
    })
    await recordSuspense(deps, found)

    await expect(resolve(deps, item)).rejects.toThrow('has not settled this money yet')
    await expect(resolve(deps, item, 'explained')).rejects.toMatchObject({ code: 'validation' })
    await expect(resolve(deps, found, 'written_off')).rejects.toMatchObject({ code: 'validation' })
    expect(await resolve(deps, found, 'explained')).toMatchObject({
      status: 'resolved',
      resolution: 'explained',
    })
    await expect(resolve(deps, found, 'explained')).rejects.toThrow('already resolved')
  })

  it('answers 404 for an item that does not exist', async ({ deps }) => {
    await expect(resolve(deps, heldIn(deps))).rejects.toMatchObject({ code: 'not_found' })
    const { deps: recorded, calls } = recordTable(deps)
    // This id is too long for a key, so it is not looked up.
    await expect(resolve(recorded, { suspenseId: 'x'.repeat(2_049) })).rejects.toMatchObject({
      code: 'not_found',
    })
    expect(calls).toStrictEqual([])
  })
})
