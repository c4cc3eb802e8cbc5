import { describe, expect } from 'vitest'
import type { HouseEntryType } from '../../../shared/journal/house-store.ts'
import { minor } from '../../../shared/money.ts'
import { findAuditRecordsOfClient } from '../../../shared/operator/audit-record-store.ts'
import { bookSuspense, bookSuspenseVoid } from '../../../shared/posting/house-journal.ts'
import { recordSuspense } from '../../../shared/suspense/record-suspense.ts'
import { toSuspenseDto } from '../../../shared/suspense/suspense.ts'
import {
  claimSuspenseAlert,
  ensureSuspense,
  findSuspense,
  setNextAlert,
  writeSuspense,
} from '../../../shared/suspense/suspense-store.ts'
import { houseEntryKey, notedKey } from '../../../shared/table/keys.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../../../shared/time.ts'
import { settledRow } from '../../support/fake-provider.ts'
import { aFinding, aHouseRow } from '../../support/money-rows.ts'
import { invokeAdmin, listedSuspenseIds } from '../../support/operator-actions.ts'
import { expectSuspense } from '../../support/synced-payment.ts'
import {
  beforeCommit,
  memoryDeps,
  recordTable,
  type TestDeps,
  withCrowdedSuspense,
} from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { bookedItem, heldMoneyItem, it, refundOf, resolve } from './suspense-test.ts'

function houseEntryOf(
  deps: TestDeps,
  transactionId: string,
  type: HouseEntryType,
  rowAt: Timestamp,
) {
  return deps.table.get(houseEntryKey(rowAt.slice(0, 10), transactionId, type))
}

describe('resolveSuspense (design section 7)', () => {
  it('resolves once for three concurrent operators, with one audit record', async ({
    deps,
    clientId,
    item,
  }) => {
    const results = await Promise.allSettled([1, 2, 3].map(() => resolve(deps, item)))

    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await expect(resolve(deps, item)).rejects.toMatchObject({ code: 'validation' })
    const resolution = { status: 'resolved', resolution: 'refunded_by_bank', notes: 'BCA17' }
    await expectSuspense(deps, item.suspenseId, resolution)
    const record = { subject: item.suspenseId, before: { status: 'open' }, after: resolution }
    const { rows } = await findAuditRecordsOfClient(deps, clientId, { page: 1, perPage: 9 })
    expect(rows).toMatchObject([record])
  })

  it.for([
    ['refunded_by_bank', { suspenseMinor: -5_000, bankMinor: -5_000, otherMinor: 0 }],
    ['written_off', { suspenseMinor: -5_000, bankMinor: 0, otherMinor: 5_000 }],
  ] as const)('books money that is %s', async ([resolution, legs], { deps, item }) => {
    const { suspenseId, createdAt } = item

    await resolve(deps, item, resolution)

    const bookedLegs = { providerMinor: 4_900, suspenseMinor: 5_000, costMinor: -100 }
    expect(await houseEntryOf(deps, `txn_${suspenseId}`, 'suspense', createdAt)).toMatchObject(
      bookedLegs,
    )
    expect(await houseEntryOf(deps, suspenseId, 'suspense_resolved', createdAt)).toMatchObject({
      suspenseId,
      ...legs,
    })
  })

  it('resolves the remaining amount after a partial refund', async ({ deps, item }) => {
    for (let times = 0; times < 2; times++) await refundOf(deps, item, 'txn_part', 2_000)
    const remainder = await findSuspense(deps, item.suspenseId)
    expect(remainder).toMatchObject({ status: 'open', providerMinor: 4_900 })
    expect(remainder && toSuspenseDto(remainder)).toMatchObject({
      provider_payment_id: item.suspenseId,
      amount_minor: 5_000,
      resolution: null,
      notes: null,
      refunded_minor: 2_000,
    })

    await resolve(deps, item)

    const entry = await houseEntryOf(deps, item.suspenseId, 'suspense_resolved', item.createdAt)
    expect(entry).toMatchObject({ suspenseMinor: -3_000, bankMinor: -3_000 })
  })

  it('is final: a later refund is a loss of the house, and a void changes no resolution', async ({
    deps,
    item,
  }) => {
    const resolvedItem = await resolve(deps, item)

    await refundOf(deps, item, 'txn_late', 2_000)
    await bookSuspenseVoid(deps, resolvedItem, aHouseRow(deps, 'txn_own', 4_900))

    expect(await findSuspense(deps, item.suspenseId)).toEqual({ ...resolvedItem, isVoid: true })
    const entry = await houseEntryOf(deps, 'txn_late', 'suspense_refunded', deps.now())
    expect(entry).toMatchObject({ suspenseMinor: 0, providerMinor: -2_000, costMinor: -2_000 })
  })

  it.for([
    [2_000, 'conflict', 'open'],
    [5_000, 'validation', 'resolved'],
  ] as const)(
    'is refused when the provider refunds %i of 5,000 between read and write',
    async ([refundedMinor, code, status], { deps, item }) => {
      const raced = beforeCommit(deps, () => refundOf(deps, item, item.suspenseId, refundedMinor))

      await expect(resolve(raced, item, 'written_off')).rejects.toMatchObject({ code })

      await expectSuspense(deps, item.suspenseId, { status, refundedMinor })
    },
  )

  it('a full refund resolves an item, even before its row settles', async ({
    deps,
    unstoredItem: item,
  }) => {
    await recordSuspense(deps, item)
    const { suspenseId: suspense_id, cause, kind } = item
    const logLine = {
      level: 'warn',
      code: 'suspense.recorded',
      fields: { suspense_id, cause, kind },
    }
    expect(deps.lines).toMatchObject([logLine, { code: 'alert.published' }])
    const ids = { providerPaymentId: suspense_id, reference: 'order 17' }
    const row = aHouseRow(deps, 'txn_own', 4_900)
    deps.provider.transactions.push(settledRow(ids, deps.now(), row))
    // An operator has just read that the row has settled.
    const raced = beforeCommit(deps, () => refundOf(deps, item, 'txn_all', 5_000))
    await expect(resolve(raced, item, 'written_off')).rejects.toThrow('already resolved')
    await expectSuspense(deps, item.suspenseId, { status: 'resolved', resolution: 'refunded' })

    await bookSuspense(deps, item, row)

    const entry = await houseEntryOf(deps, 'txn_own', 'suspense', item.createdAt)
    expect(entry).toMatchObject({ providerMinor: 4_900, suspenseMinor: 5_000 })
  })

  it('an item is voided once, and a booking that read it earlier writes nothing', async ({
    deps,
    unstoredItem,
  }) => {
    await recordSuspense(deps, unstoredItem)
    await refundOf(deps, unstoredItem, crypto.randomUUID(), 5_000)
    const readItem = (await findSuspense(deps, unstoredItem.suspenseId)) ?? unstoredItem
    const row = aHouseRow(deps, crypto.randomUUID(), 4_900)
    const raced = beforeCommit(deps, () => bookSuspenseVoid(deps, readItem, row))

    const booking = await bookSuspense(raced, readItem, row)
    const secondVoid = await bookSuspenseVoid(deps, readItem, {
      ...row,
      transactionId: 'txn_again',
    })

    expect([booking.isVoid, secondVoid.isVoid]).toStrictEqual([true, true])
    expect(await houseEntryOf(deps, row.transactionId, 'suspense', row.rowAt)).toBeUndefined()
    expect(await houseEntryOf(deps, 'txn_again', 'suspense_refunded', row.rowAt)).toBeUndefined()
  })

  it('refuses money before its row settles, and a resolution of the wrong kind; a finding moves no money', async ({
    deps,
    unstoredItem: item,
  }) => {
    await recordSuspense(deps, item)
    const openFinding = await aFinding(deps, { cause: 'fee_assumed' })

    await expect(resolve(deps, item)).rejects.toThrow('has not settled this money yet')
    deps.provider.silence('getPayment', 'server_error')
    await expect(resolve(deps, item)).rejects.toMatchObject({ code: 'server_error' })
    // A settled row whose fee is not final.
    const ids = { providerPaymentId: item.suspenseId, reference: 'order 17' }
    deps.provider.transactions.push(settledRow(ids, deps.now(), { keptMinor: undefined }))
    await expect(resolve(deps, item)).rejects.toThrow('has not settled this money yet')
    await expect(resolve(deps, item, 'explained')).rejects.toThrow('money cannot be explained')
    await expect(resolve(deps, openFinding, 'written_off')).rejects.toMatchObject({
      code: 'validation',
    })
    const explained = { status: 'resolved', resolution: 'explained' }
    expect(await resolve(deps, openFinding, 'explained')).toMatchObject(explained)
    const { suspenseId: id, createdAt } = openFinding
    expect(await houseEntryOf(deps, id, 'suspense_resolved', createdAt)).toBeUndefined()
  })

  it('answers 404 for an item that does not exist', async ({ deps }) => {
    await expect(resolve(deps, heldMoneyItem(deps))).rejects.toMatchObject({ code: 'not_found' })
    const { deps: recorded, calls } = recordTable(deps)
    // This id is too long for a key, so it is not looked up.
    await expect(resolve(recorded, { suspenseId: 'x'.repeat(2_049) })).rejects.toMatchObject({
      code: 'not_found',
    })
    expect(calls).toStrictEqual([])
  })
})

it('writeSuspense writes an item once; its alert is due a minute later and ends once', async ({
  deps,
  unstoredItem: item,
}) => {
  const absentId = `py-${crypto.randomUUID()}`
  const first = await writeSuspense(deps, item)
  const second = await writeSuspense(deps, { ...item, amountMinor: minor(1) })

  expect([first.applied, second.applied]).toStrictEqual([true, false])
  expect(await findSuspense(deps, item.suspenseId)).toEqual(item)
  const noted = (await deps.table.get(notedKey(item))) ?? { isMissing: true }
  expect({ ...notedKey(item), ...item }).toMatchObject(noted)
  const dueAt = () => dueAtOf(deps, 'alert', item.suspenseId)
  expect(await dueAt()).toBe('2026-11-20T04:01:00.000Z')
  deps.clock.advance(3_600)
  await claimSuspenseAlert(deps, { ...item, dueAt: addMs(item.createdAt, MINUTE_MS) })
  expect(await dueAt()).toBe('2026-11-20T05:01:00.000Z')
  const applied: boolean[] = []
  for (const suspenseId of [item.suspenseId, item.suspenseId, absentId])
    applied.push((await setNextAlert(deps, { ...item, suspenseId }, undefined)).applied)
  expect(applied).toStrictEqual([true, false, false])
  expect(await dueAt()).toBeUndefined()
  expect(await findSuspense(deps, absentId)).toBeUndefined()
})

it('ensureSuspense never refuses a transaction, and changes neither a stored item nor its register', async ({
  deps,
  item,
}) => {
  const resolvedItem = await resolve(deps, item)
  const changedItem = {
    ...item,
    cause: 'wrong_amount',
    amountMinor: minor(1),
    createdAt: deps.now(),
  }

  expect((await deps.table.transact(ensureSuspense(changedItem))).applied).toBe(true)
  expect(await findSuspense(deps, item.suspenseId)).toEqual(resolvedItem)
  expect(await deps.table.get(notedKey(item))).toMatchObject({ cause: item.cause })
})

it('listSuspense lists all, open or resolved items, newest first', async () => {
  const deps = memoryDeps()
  const makeItem = async () => {
    deps.clock.advance(60)
    return (await bookedItem(deps)).suspenseId
  }
  const [first, second, third] = [await makeItem(), await makeItem(), await makeItem()]
  await resolve(deps, { suspenseId: second })
  const listIds = (filter: object) => listedSuspenseIds(deps, filter)

  expect(await listIds({})).toStrictEqual([third, second, first])
  expect(await listIds({ status: 'open' })).toStrictEqual([third, first])
  expect(await listIds({ status: 'open', per_page: 1, page: 2 })).toStrictEqual([first])
  expect(await listIds({ status: 'resolved' })).toStrictEqual([second])
  expect(await invokeAdmin('list-suspense', deps, { status: 'closed' })).toMatchObject({
    status: 422,
  })
})

it('listSuspense reads at most 5,000 items and says so; with a status, only those count', async ({
  deps,
}) => {
  const manyDeps = withCrowdedSuspense(deps, 'by-status')
  const list = async (filter: object) =>
    (await invokeAdmin('list-suspense', manyDeps, { kind: 'money', ...filter })).body

  expect(await list({ status: 'open' })).toMatchObject({ data: [], complete: true })
  expect(await list({})).toMatchObject({ data: [], complete: false })
})
