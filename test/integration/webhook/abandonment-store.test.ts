import { describe, expect, it } from 'vitest'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import type { ClaimedAlert } from '../../../shared/webhook/delivery/abandonment.ts'
import {
  claimAlert,
  closeAlert,
  endAlert,
  findAlertGroup,
  freeAbandonment,
  listAbandonments,
  postponeAbandonment,
  putAbandonment,
  removeAbandonment,
  takeOverAlert,
} from '../../../shared/webhook/delivery/abandonment-store.ts'
import { storeAttemptResult } from '../../../shared/webhook/delivery/attempt-store.ts'
import { claimAttempt, freeAlert, startRound } from '../../../shared/webhook/delivery/delivery-store.ts'
import { ABANDONED, attemptOf, claimOf, dueAtOf, dueDelivery, oweAlert, rowOf } from '../../support/webhook-builders.ts'

describe('the rows of alerts', () => {
  const open = async () => {
    const { deps, delivery, endpoint } = await dueDelivery(ABANDONED)
    const { clientId, endpointId } = endpoint
    const { deliveryId, createdAt, attempts } = delivery
    const row = { clientId, endpointId, deliveryId, createdAt, attempts, since: deps.now() }
    await deps.table.write(putAbandonment(row))
    const claimedUntil = addMs(deps.now(), MINUTE_MS)
    const alert: ClaimedAlert = { clientId, endpointId, alertId: deps.newId(), named: [row], claimedUntil }
    return { deps, delivery, row, alert }
  }

  it('refuse a message while another one is open, and when one went out since', async () => {
    const { deps, row, alert } = await open()
    expect(await claimAlert(deps, undefined, alert)).toBe(true)

    const other = { ...alert, alertId: deps.newId() }
    expect(await claimAlert(deps, await findAlertGroup(deps, row.endpointId), other)).toBe(false)
    await closeAlert(deps, alert, row)
    expect(await claimAlert(deps, undefined, other)).toBe(false)
  })

  it('take a claim whose answer was lost for our own', async () => {
    const { deps, alert } = await open()
    await claimAlert(deps, undefined, alert)

    expect(await claimAlert(deps, undefined, alert)).toBe(true)
  })

  it('let one worker take over a message, and refuse its end to the one before', async () => {
    const { deps, row, alert } = await open()
    await claimAlert(deps, undefined, alert)
    const until = addMs(deps.now(), 2 * MINUTE_MS)

    expect(await takeOverAlert(deps, alert, until)).toBe(true)
    expect(await takeOverAlert(deps, alert, addMs(until, 1))).toBe(false)
    expect(await closeAlert(deps, alert, row)).toBe(false)
    expect(await takeOverAlert(deps, { ...alert, claimedUntil: until, alertId: 'another' }, until)).toBe(false)
    expect(await closeAlert(deps, { ...alert, claimedUntil: until }, row)).toBe(true)
    expect(await takeOverAlert(deps, { ...alert, claimedUntil: until }, until)).toBe(false)
  })

  it('end a message although a new round has taken the row', async () => {
    const { deps, delivery, row, alert } = await open()
    await claimAlert(deps, undefined, alert)
    await deps.table.transact({ delivery: startRound(delivery, deps.now()) })

    expect(await closeAlert(deps, alert, row)).toBe(true)

    expect(await rowOf(deps, delivery)).toMatchObject({ dueAt: addMs(deps.now(), 120_000) })
    expect(await listAbandonments(deps, row.endpointId)).toStrictEqual([])
    expect((await findAlertGroup(deps, row.endpointId))?.alertId).toBeUndefined()
  })

  it('refuse to move or to end what was moved or told meanwhile', async () => {
    const { deps, row: bound } = await open()
    const row = { ...bound, dueAt: deps.now() }
    const later = addMs(deps.now(), 1_000)
    await deps.table.transact({ row: freeAbandonment(bound, row.dueAt) })

    expect(await postponeAbandonment(deps, row, later)).toBe(true)
    expect(await postponeAbandonment(deps, row, later)).toBe(false)
    expect(await dueAtOf(deps, 'alert', row.deliveryId)).toBe(later)
    expect(await removeAbandonment(deps, row)).toMatchObject({ applied: true })
    expect(await removeAbandonment(deps, row)).toMatchObject({ applied: false })
    expect(await postponeAbandonment(deps, { ...row, dueAt: later }, later)).toBe(false)
  })

  it.each(['freed by another worker', 'taken by a new round', 'put off by due work'])(
    'refuse to free an alert that was %s',
    async (what) => {
      const { deps, delivery } = await open()
      await oweAlert(deps, delivery)
      const owing = await rowOf(deps, delivery)
      if (what.startsWith('freed')) await deps.table.transact(freeAlert(owing, deps.now()))
      if (what.startsWith('taken')) await deps.table.transact({ delivery: startRound(owing, deps.now()) })
      if (what.startsWith('put off')) await oweAlert(deps, delivery, addMs(deps.now(), 60_000))

      const outcome = await deps.table.transact(freeAlert(owing, deps.now()))
      expect(outcome).toMatchObject({ applied: false, refusedBy: 'delivery' })
    },
  )
})

describe('endAlert', () => {
  it('leaves the due work of a new round alone', async () => {
    const { deps, delivery } = await dueDelivery(ABANDONED)
    await deps.table.transact({ delivery: startRound(delivery, deps.now()) })

    await deps.table.write(endAlert(delivery))

    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBe(addMs(deps.now(), 120_000))
  })

  it('leaves the alert of a later round alone', async () => {
    const { deps, delivery } = await dueDelivery({ attempts: 15 })
    const claimed = await claimAttempt(deps, delivery, claimOf(deps, 'mine'))
    if (!claimed) throw new Error('not claimed')
    const after = { status: 'abandoned', since: deps.now(), alertDueAt: deps.now() } as const
    await storeAttemptResult(deps, claimed, attemptOf(deps, 16), after)

    await deps.table.write(endAlert({ ...delivery, attempts: 8 }))

    expect(await rowOf(deps, delivery)).toMatchObject({ dueAt: deps.now() })
  })
})
