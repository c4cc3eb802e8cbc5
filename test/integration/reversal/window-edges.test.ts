import { describe, expect, it } from 'vitest'
import { countReversal } from '../../../shared/ledger/reversal-store.ts'
import { settlementsOfPayment } from '../../../shared/settlement/settlement-store.ts'
import { readWindow } from '../../../shared/settlement/window-store.ts'
import { addMs, DAY_MS, type Timestamp } from '../../../shared/time.ts'
import { dispute } from '../../support/dispute-builders.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aSucceededPayment, sweptNow, withFloor } from '../../support/settlement-builders.ts'

/** Five payments of one client, each a millisecond after the last. The first window ends between the third and the fourth. */
const paidEachMillisecond = async () => {
  const deps = memoryDeps()
  const client = await withFloor(deps)
  const start = deps.now()
  const paid = []
  for (const ms of [0, 1, 2, 3, 4]) paid.push(await aSucceededPayment(deps, client, { paidAt: addMs(start, ms) }))
  const end = addMs(start, 3)
  /** Sweeps when what was paid before then is 24 hours old. */
  const sweepUntil = (time: Timestamp) => {
    deps.clock.set(addMs(time, DAY_MS - 1))
    return sweptNow(deps, client)
  }
  return { deps, client, paid, end, sweepUntil }
}

describe('money that goes back at the edge of a window (spec 2.3: start included, end excluded)', () => {
  it.each(['before', 'after'])('is deducted from its own window %s the sweep of the window before', async (when) => {
    const { deps, client, paid, end, sweepUntil } = await paidEachMillisecond()
    const [, , last, first] = paid
    if (last === undefined || first === undefined) throw new Error('there are five payments')

    await dispute(deps, last)
    if (when === 'before') await dispute(deps, first)
    const swept = await sweepUntil(end)
    if (when === 'after') await dispute(deps, first)
    const next = await sweepUntil(addMs(end, 2))

    expect(swept).toMatchObject({ periodEnd: end, paymentCount: 2 })
    expect(next).toMatchObject({ periodStart: end, paymentCount: 1 })
    expect(await settlementsOfPayment(deps, client.clientId, addMs(end, -1))).toMatchObject([{ periodEnd: end }])
    expect(await settlementsOfPayment(deps, client.clientId, end)).toMatchObject([{ periodStart: end }])
    await expectBalanced(deps, client.clientId)
  })

  it('is numbered at the end of what was swept, and refused a millisecond before it', async () => {
    const { deps, client, end, sweepUntil } = await paidEachMillisecond()
    await sweepUntil(end)
    const window = await readWindow(deps, client.clientId)
    const number = (paidAt: Timestamp) => deps.table.write(countReversal(client.clientId, paidAt, window))

    const outcomes = [await number(addMs(end, -1)), await number(end)]

    expect(outcomes).toMatchObject([{ applied: false }, { applied: true }])
  })
})
