import { describe, expect, it } from 'vitest'
import { addMs } from '../../../shared/time.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import {
  claimAttempt,
  completeAlert,
  postponeDelivery,
  skipDelivery,
  startRound,
  storeAttemptResult,
} from '../../../shared/webhook/delivery/delivery-store.ts'
import {
  attemptOf,
  claimOf,
  definedFields,
  dueAtOf,
  dueDelivery,
  rowOf,
  SKIPPED,
} from '../../support/webhook-builders.ts'

describe('skipDelivery', () => {
  it('ends the delivery and takes it off the due work', async () => {
    const { deps, delivery } = await dueDelivery({ attempts: 2 })

    expect(await skipDelivery(deps, delivery)).toBe(true)

    expect(await rowOf(deps, delivery)).toStrictEqual(definedFields({ ...delivery, ...SKIPPED }))
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBeUndefined()
  })

  it.each([
    ['finished', { ...SKIPPED, status: 'succeeded' as const }],
    ['at a later attempt', { attempts: 1 }],
    ['claimed', { claimToken: 'theirs', claimedUntil: '2026-11-20T04:00:30.000Z' as Delivery['claimedUntil'] }],
  ])('is refused when the row is %s', async (_case, difference) => {
    const { deps, delivery } = await dueDelivery(difference)

    expect(await skipDelivery(deps, { ...delivery, attempts: 0 })).toBe(false)
    expect(await rowOf(deps, delivery)).toStrictEqual(definedFields(delivery))
  })
})

describe('startRound', () => {
  it('schedules the same row anew, with eight attempts ahead of it', async () => {
    const { deps, delivery } = await dueDelivery({ ...SKIPPED, status: 'abandoned', attempts: 8 })

    const { applied } = await deps.table.transact({ delivery: startRound(delivery, deps.now()) })

    expect(applied).toBe(true)
    expect(await rowOf(deps, delivery)).toStrictEqual({
      ...delivery,
      status: 'scheduled',
      roundStart: 8,
      nextAttemptAt: deps.now(),
      dueAt: addMs(deps.now(), 120_000),
    })
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBe(addMs(deps.now(), 120_000))
  })

  it.each([
    ['another round has begun', { status: 'scheduled' as const }],
    ['another round has been and ended', { attempts: 16 }],
  ])('is refused when %s', async (_case, difference) => {
    const { deps, delivery } = await dueDelivery({ ...SKIPPED, status: 'abandoned', attempts: 8, ...difference })

    const { applied } = await deps.table.transact({
      delivery: startRound({ ...delivery, status: 'abandoned', attempts: 8 }, deps.now()),
    })

    expect(applied).toBe(false)
    expect(await rowOf(deps, delivery)).toStrictEqual(definedFields(delivery))
  })
})

describe('postponeDelivery', () => {
  it('moves the due time forward once for each old one', async () => {
    const { deps, delivery } = await dueDelivery()
    const dueAt = addMs(deps.now(), 500_000)

    const claims = await Promise.all([1, 2, 3].map(() => postponeDelivery(deps, delivery, dueAt, 1)))

    expect(claims.filter(Boolean)).toHaveLength(1)
    expect(await rowOf(deps, delivery)).toStrictEqual({ ...delivery, dueAt, resends: 1 })
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBe(dueAt)
  })

  it('is refused when the delivery has ended', async () => {
    const { deps, delivery } = await dueDelivery()
    await skipDelivery(deps, delivery)

    expect(await postponeDelivery(deps, delivery, addMs(deps.now(), 500_000), 1)).toBe(false)
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBeUndefined()
  })
})

describe('completeAlert', () => {
  it('leaves the due work of a new round alone', async () => {
    const { deps, delivery } = await dueDelivery({ ...SKIPPED, status: 'abandoned', attempts: 8 })
    await deps.table.transact({ delivery: startRound(delivery, deps.now()) })

    await completeAlert(deps, delivery)

    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBe(addMs(deps.now(), 120_000))
  })

  it('leaves the alert of a later round alone', async () => {
    const { deps, delivery } = await dueDelivery({ attempts: 15 })
    const claimed = await claimAttempt(deps, delivery, claimOf(deps, 'mine'))
    const alertDueAt = addMs(deps.now(), 60_000)
    await storeAttemptResult(deps, claimed ?? delivery, attemptOf(deps, 16), { status: 'abandoned', alertDueAt })

    await completeAlert(deps, { ...delivery, attempts: 8 })

    expect(await dueAtOf(deps, 'alert', delivery.deliveryId)).toBe(alertDueAt)
  })
})
