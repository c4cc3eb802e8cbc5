import { describe, expect, it } from 'vitest'
import { addMs } from '../../../shared/time.ts'
import type { Delivery, DeliveryAttempt } from '../../../shared/webhook/delivery/delivery.ts'
import {
  claimAttempt,
  findDelivery,
  insertDelivery,
  listAttempts,
  storeAttemptResult,
} from '../../../shared/webhook/delivery/delivery-store.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import {
  attemptOf,
  CLAIM_MS,
  claimOf,
  definedFields,
  dueAtOf,
  dueDelivery,
  rowOf,
  SKIPPED,
} from '../../support/webhook-builders.ts'

describe('insertDelivery', () => {
  it('leaves a delivery that is there as it is', async () => {
    const { deps, delivery } = await dueDelivery({ attempts: 3 })

    const outcome = await deps.table.write(insertDelivery({ ...delivery, attempts: 0 }))

    expect(outcome).toMatchObject({ applied: false, item: { attempts: 3, status: 'scheduled' } })
    expect(await rowOf(deps, delivery)).toStrictEqual(delivery)
  })
})

describe('claimAttempt', () => {
  it('takes the next attempt for as long as the claim says', async () => {
    const { deps, delivery } = await dueDelivery()

    const claimed = await claimAttempt(deps, delivery, claimOf(deps, 'mine'))

    expect(claimed).toStrictEqual({ ...delivery, claimToken: 'mine', claimedUntil: addMs(deps.now(), CLAIM_MS) })
    expect(await rowOf(deps, delivery)).toStrictEqual(claimed)
  })

  it.each([
    ['is finished', SKIPPED],
    ['has made that attempt', { attempts: 1 }],
    ['is not due yet', { nextAttemptAt: '2026-11-20T04:00:00.001Z' as Delivery['nextAttemptAt'] }],
    [
      'is claimed, however long ago',
      { claimToken: 'theirs', claimedUntil: '2026-11-01T00:00:00.000Z' as Delivery['claimedUntil'] },
    ],
  ])('is refused when the row %s', async (_case, difference) => {
    const { deps, delivery } = await dueDelivery(difference)

    const claimed = await claimAttempt(deps, { ...delivery, attempts: 0 }, claimOf(deps, 'mine'))

    expect(claimed).toBeUndefined()
    expect(await rowOf(deps, delivery)).toStrictEqual(definedFields(delivery))
  })

  it('makes no row where there is none', async () => {
    const { deps, delivery } = await dueDelivery()
    const absent = { ...delivery, deliveryId: crypto.randomUUID() as Delivery['deliveryId'] }

    expect(await claimAttempt(deps, absent, claimOf(deps, 'mine'))).toBeUndefined()
    expect(await findDelivery(deps, absent.deliveryId)).toBeUndefined()
  })

  it('knows its own claim again when the answer was lost and the SDK asks twice', async () => {
    const { deps, delivery } = await dueDelivery()
    const claim = claimOf(deps, 'mine')
    await claimAttempt(deps, delivery, claim)

    const again = await claimAttempt(deps, delivery, claim)

    expect(again).toStrictEqual({ ...delivery, claimToken: 'mine', claimedUntil: claim.until })
  })
})

describe('storeAttemptResult', () => {
  const claimedDelivery = async (overrides: Partial<Delivery> = {}) => {
    const { deps, delivery } = await dueDelivery(overrides)
    const claimed = await claimAttempt(deps, delivery, claimOf(deps, 'mine'))
    if (!claimed) throw new Error('not claimed')
    return { deps, delivery, claimed }
  }

  it('ends a delivery that succeeded and takes it off the due work', async () => {
    const { deps, delivery, claimed } = await claimedDelivery()
    const attempt: DeliveryAttempt = { number: 1, at: deps.now(), durationMs: 7, httpStatus: 204, responseBody: '' }

    expect(await storeAttemptResult(deps, claimed, attempt, { status: 'succeeded' })).toBe(true)

    expect(await rowOf(deps, delivery)).toStrictEqual(
      definedFields({ ...delivery, ...SKIPPED, status: 'succeeded', attempts: 1 }),
    )
    expect(await listAttempts(deps, delivery.deliveryId)).toStrictEqual([attempt])
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBeUndefined()
  })

  it('schedules the next attempt, due work two minutes behind it, and forgets earlier resends', async () => {
    const { deps, delivery, claimed } = await claimedDelivery({ resends: 4 })
    const nextAttemptAt = addMs(deps.now(), 60_000)

    await storeAttemptResult(deps, claimed, attemptOf(deps, 1), { status: 'scheduled', nextAttemptAt })

    const dueAt = addMs(deps.now(), 180_000)
    expect(await rowOf(deps, delivery)).toStrictEqual({ ...delivery, attempts: 1, nextAttemptAt, dueAt, resends: 0 })
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBe(dueAt)
  })

  it('abandons into due work of kind alert', async () => {
    const { deps, delivery, claimed } = await claimedDelivery({ attempts: 7 })
    const alertDueAt = addMs(deps.now(), 60_000)

    await storeAttemptResult(deps, claimed, attemptOf(deps, 8), { status: 'abandoned', alertDueAt })

    expect(await rowOf(deps, delivery)).toStrictEqual(
      definedFields({ ...delivery, status: 'abandoned', attempts: 8, nextAttemptAt: undefined, dueAt: alertDueAt }),
    )
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

  it('writes nothing when the attempt was recorded as lost meanwhile', async () => {
    const { deps, delivery, claimed } = await claimedDelivery()
    const lost = attemptOf(deps, 1, { error: 'unknown', httpStatus: undefined, responseBody: undefined })
    await storeAttemptResult(deps, claimed, lost, { status: 'scheduled', nextAttemptAt: addMs(deps.now(), 60_000) })
    const before = await rowOf(deps, delivery)

    const stored = await storeAttemptResult(deps, claimed, attemptOf(deps, 1), { status: 'succeeded' })

    expect(stored).toBe(false)
    expect(await rowOf(deps, delivery)).toStrictEqual(before)
    expect(await listAttempts(deps, delivery.deliveryId)).toStrictEqual([definedFields(lost)])
  })

  it('writes row and attempt in one transaction', async () => {
    const { deps, claimed } = await claimedDelivery()
    const sizes: (number | undefined)[] = []
    const watched = interceptTable(deps, {
      before: (call) => sizes.push('steps' in call ? call.steps.length : undefined),
    })

    await storeAttemptResult(watched, claimed, attemptOf(deps, 1), { status: 'succeeded' })

    expect(sizes).toStrictEqual([2])
  })

  it('does not take a delivery nobody has claimed', async () => {
    const { deps, delivery } = await dueDelivery()

    await expect(storeAttemptResult(deps, delivery, attemptOf(deps, 1), { status: 'succeeded' })).rejects.toThrow(
      'claim',
    )
  })
})
