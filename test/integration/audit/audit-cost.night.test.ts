/** Goal: audits and the payout read no more of a payment than design section 9 allows. */
import { expect, it } from 'vitest'
import { auditGateway } from '../../../shared/audit/audit-gateway.ts'
import { addMs, DAY_MS, HOUR_MS } from '../../../shared/time.ts'
import { meteredDeps } from '../../bench/meter-table.ts'
import { storePosted, succeededPayment } from '../../support/paid-builders.ts'
import { payOut, runAudit, sweptNow, withoutFloor } from '../../support/settlement-builders.ts'

/** Whole pages and digest blocks, so that a client's fixed costs count little. */
const PAYMENTS = 1_000

it('reads a payment at most 4 units in its first month, 2.6 each month, and 0.3 after day 100', async () => {
  const { deps, meter } = meteredDeps()
  const client = await withoutFloor(deps)
  const paidFrom = deps.now()
  await storePosted(
    deps,
    Array.from({ length: PAYMENTS }, (_, at) =>
      succeededPayment(client, { paidAt: addMs(paidFrom, at), externalReference: `order-${at}` }),
    ),
  )
  /** One audit reads the shares of all days that were missed. */
  const unitsUntil = async (day: number) => {
    meter.take()
    deps.clock.set(addMs(paidFrom, day * DAY_MS))
    await runAudit(deps, { client_id: client.clientId })
    return meter.take().reads / PAYMENTS
  }

  deps.clock.set(addMs(paidFrom, DAY_MS + HOUR_MS))
  const settlement = await sweptNow(deps, client)
  await auditGateway(deps)
  meter.take()
  await payOut(deps, settlement)
  const payout = meter.take().reads / PAYMENTS
  const firstMonth = payout + (await unitsUntil(30))
  const nextMonths = [await unitsUntil(60), await unitsUntil(90)]
  await unitsUntil(102)
  const laterMonth = (await unitsUntil(462)) / 12

  expect(firstMonth).toBeLessThanOrEqual(4)
  for (const month of nextMonths) expect(month).toBeLessThanOrEqual(2.6)
  expect(laterMonth).toBeLessThanOrEqual(0.3)
})
