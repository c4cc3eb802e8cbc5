import { describe, expect, it } from 'vitest'
import { eventKey } from '../../../shared/table/keys.ts'
import { timestampOf } from '../../../shared/time.ts'
import { findDelivery, skipDelivery, startRound } from '../../../shared/webhook/delivery/delivery-store.ts'

import { beforeFirst } from '../../support/intercept-table.ts'
import { drainQueue, rowOf, SKIPPED } from '../../support/webhook-builders.ts'
import { ASKING, type Asking, aFinished } from './finished-delivery.ts'

describe.each(Object.keys(ASKING) as Asking[])('the rounds of a delivery, begun %s (design section 8)', (by) => {
  const { wait } = ASKING[by]
  const arrange = async (...given: Parameters<typeof aFinished>) => {
    const finished = await aFinished(...given)
    return { ...finished, again: finished[by] }
  }
  const inProgress = {
    status: 422,
    body: { message: 'the delivery is in progress', code: 'validation', action_hint: wait },
  }

  it('is begun ten times on one UTC day, and again on the next', async () => {
    const { deps, delivery, again } = await arrange()
    deps.clock.set(timestampOf(Date.UTC(2026, 10, 23, 1)))
    const round = async () => {
      const { status, body } = await again()
      await drainQueue(deps)
      return status === 200 ? status : body
    }
    const begun: unknown[] = []
    for (let asked = 0; asked < 11; asked++) begun.push(await round())
    const row = await rowOf(deps, delivery)
    deps.clock.set(timestampOf(Date.UTC(2026, 10, 24)))

    expect(begun.slice(0, 10)).toStrictEqual(Array.from({ length: 10 }, () => 200))
    expect(begun[10]).toMatchObject({
      message: '10 rounds of the delivery were begun today',
      action_hint: 'Correct the endpoint, and redeliver after 00:00 UTC.',
    })
    expect(row).toMatchObject({ status: 'succeeded', rounds: 10, roundsOn: '2026-11-23' })
    expect(await round()).toBe(200)
    expect(await rowOf(deps, delivery)).toMatchObject({ rounds: 1, roundsOn: '2026-11-24' })
  })

  it('is refused when a round was begun and skipped meanwhile, which leaves status and attempts as they were', async () => {
    const { deps, delivery, again } = await arrange(SKIPPED)
    const theirs = async () => {
      await deps.table.transact({ theirs: startRound(delivery, deps.now()) })
      const begun = await findDelivery(deps, delivery.deliveryId)
      if (begun) await skipDelivery(deps, begun)
    }

    expect(await again(beforeFirst(deps, 'transact', theirs))).toStrictEqual(inProgress)
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'skipped', rounds: 1 })
  })

  it('moves the end of its event once in 20 days, however often it is sent again', async () => {
    const { deps, event, again } = await arrange()
    deps.clock.advance(30 * 86_400)
    const ttl = async () => (await deps.table.get(eventKey(event.paymentId, event.name)))?.['ttl']
    await again()
    const moved = await ttl()
    deps.clock.advance(19 * 86_400)
    await drainQueue(deps)
    await again()
    const kept = await ttl()
    await drainQueue(deps)
    deps.clock.advance(2 * 86_400)
    await again()

    expect(kept).toBe(moved)
    expect(await ttl()).toBe(Number(moved) + 21 * 86_400)
  })
})
