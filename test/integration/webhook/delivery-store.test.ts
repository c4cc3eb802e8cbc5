import { describe, expect } from 'vitest'
import { addMs, type Timestamp } from '../../../shared/time.ts'
import { listAttempts, storeAttemptResult } from '../../../shared/webhook/delivery/attempt-store.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import {
  claimAttempt,
  findDelivery,
  insertDelivery,
  postponeDelivery,
  skipDelivery,
  startRound,
} from '../../../shared/webhook/delivery/delivery-store.ts'
import {
  ABANDONED,
  attemptOf,
  claimOf,
  definedFields,
  dueAtOf,
  dueDelivery,
  listed,
  rowOf,
  SKIPPED,
} from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

const claimedDelivery = async (overrides: Partial<Delivery> = {}) => {
  const { deps, delivery } = await dueDelivery(overrides)
  const claimed = await claimAttempt(deps, delivery, claimOf(deps, 'mine'))
  if (!claimed) throw new Error('not claimed')
  return { deps, delivery, claimed }
}

describe('insertDelivery', () => {
  it('leaves a delivery that is there as it is', async () => {
    const { deps, delivery } = await dueDelivery({ attempts: 3 })

    const outcome = await deps.table.write(insertDelivery({ ...delivery, attempts: 0 }))

    expect(outcome).toMatchObject({ applied: false, item: { attempts: 3, state: 'scheduled' } })
    expect(await rowOf(deps, delivery)).toStrictEqual(delivery)
  })
})

describe('claimAttempt', () => {
  it.each([
    ['is finished', SKIPPED],
    ['has made that attempt', { attempts: 1 }],
    ['is not due yet', { nextAttemptAt: '2026-11-20T04:00:00.001Z' as Timestamp }],
    ['is claimed, however long ago', { claimToken: 'theirs', claimedUntil: '2026-11-01T00:00:00.000Z' as Timestamp }],
  ])('is refused when the row %s', async (_case, difference) => {
    const { deps, delivery } = await dueDelivery(difference)

    expect(await claimAttempt(deps, { ...delivery, attempts: 0 }, claimOf(deps, 'mine'))).toBeUndefined()

    expect(await rowOf(deps, delivery)).toStrictEqual(definedFields(delivery))
  })

  it('makes no row where there is none', async ({ deps, delivery }) => {
    const absent = { ...delivery, deliveryId: crypto.randomUUID() as Delivery['deliveryId'] }

    expect(await claimAttempt(deps, absent, claimOf(deps, 'mine'))).toBeUndefined()
    expect(await findDelivery(deps, absent.deliveryId)).toBeUndefined()
  })

  it('knows its own claim again when the answer was lost and the SDK asks twice', async ({ deps, delivery }) => {
    const claim = claimOf(deps, 'mine')
    await claimAttempt(deps, delivery, claim)

    const again = await claimAttempt(deps, delivery, claim)

    expect(again).toStrictEqual({ ...delivery, claimToken: 'mine', claimedUntil: claim.until })
  })
})

describe('storeAttemptResult', () => {
  it('schedules the next attempt, due work a minute after it, and forgets earlier resends', async () => {
    const { deps, delivery, claimed } = await claimedDelivery({ resends: 4 })
    const nextAttemptAt = addMs(deps.now(), 60_000)

    await storeAttemptResult(deps, claimed, attemptOf(deps, 1), { status: 'scheduled', nextAttemptAt })

    const dueAt = addMs(deps.now(), 120_000)
    expect(await rowOf(deps, delivery)).toStrictEqual({
      ...listed(delivery),
      attempts: 1,
      nextAttemptAt,
      dueAt,
      resends: 0,
    })
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBe(dueAt)
  })

  it('abandons into due work of kind alert', async () => {
    const { deps, delivery, claimed } = await claimedDelivery({ attempts: 7 })
    const alertDueAt = addMs(deps.now(), 60_000)

    const after = { status: 'abandoned', alertDueAt } as const
    await storeAttemptResult(deps, claimed, attemptOf(deps, 8), after)

    const abandoned = { ...listed(delivery), ...ABANDONED, dueAt: alertDueAt }
    expect(await rowOf(deps, delivery)).toStrictEqual(definedFields(abandoned))
    expect(await dueAtOf(deps, 'alert', delivery.deliveryId)).toBe(alertDueAt)
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBeUndefined()
  })

  it.each([
    ['the claim is another one', (claimed: Delivery) => ({ ...claimed, claimToken: 'theirs' }), 1],
    ['an earlier attempt was never recorded', (claimed: Delivery) => claimed, 2],
  ])('writes nothing when %s', async (_case, change, number) => {
    const { deps, delivery, claimed } = await claimedDelivery()

    const stored = await storeAttemptResult(deps, change(claimed), attemptOf(deps, number), { status: 'succeeded' })

    expect(stored).toBe(false)
    expect(await rowOf(deps, delivery)).toStrictEqual(claimed)
    expect(await listAttempts(deps, delivery.deliveryId)).toStrictEqual([])
  })

  it('does not take an unclaimed delivery', async ({ deps, delivery }) => {
    const stored = storeAttemptResult(deps, delivery, attemptOf(deps, 1), { status: 'succeeded' })

    await expect(stored).rejects.toThrow('claim')
  })
})

describe('skipDelivery', () => {
  it.each([
    ['finished', { ...SKIPPED, status: 'succeeded' as const }],
    ['at a later attempt', { attempts: 1 }],
    ['claimed', { claimToken: 'theirs', claimedUntil: '2026-11-20T04:00:30.000Z' as Timestamp }],
  ])('is refused when the row is %s', async (_case, difference) => {
    const { deps, delivery } = await dueDelivery(difference)

    expect(await skipDelivery(deps, { ...delivery, attempts: 0 })).toBe(false)
    expect(await rowOf(deps, delivery)).toStrictEqual(definedFields(delivery))
  })
})

describe('startRound', () => {
  it.each([
    ['another round has begun', { status: 'scheduled' as const }],
    ['another round has been and ended', { attempts: 16 }],
  ])('is refused when %s', async (_case, difference) => {
    const { deps, delivery } = await dueDelivery({ ...ABANDONED, ...difference })

    const read = { ...delivery, status: 'abandoned', attempts: 8 } as const
    const { applied } = await deps.table.transact({ delivery: startRound(read, deps.now()) })

    expect(applied).toBe(false)
    expect(await rowOf(deps, delivery)).toStrictEqual(definedFields(delivery))
  })
})

describe('postponeDelivery', () => {
  it('moves the due time forward once for each old one', async ({ deps, delivery }) => {
    const dueAt = addMs(deps.now(), 500_000)

    const claims = await Promise.all([1, 2, 3].map(() => postponeDelivery(deps, delivery, dueAt, 1)))

    expect(claims.filter(Boolean)).toHaveLength(1)
    expect(await rowOf(deps, delivery)).toStrictEqual({ ...listed(delivery), dueAt, resends: 1 })
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBe(dueAt)
  })

  it('is refused when the delivery has ended', async ({ deps, delivery }) => {
    await skipDelivery(deps, delivery)

    expect(await postponeDelivery(deps, delivery, addMs(deps.now(), 500_000), 1)).toBe(false)
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBeUndefined()
  })
})
