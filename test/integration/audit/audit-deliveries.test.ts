import { describe, expect, it } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { deliveryIdFor, eventIdFor, subjectOfPayment } from '../../../shared/ids.ts'
import type { Item } from '../../../shared/table/attributes.ts'
import { attemptKey, deliveryKey, endpointKey } from '../../../shared/table/keys.ts'
import { put, update } from '../../../shared/table/step.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import {
  findDelivery,
  insertDelivery,
  newDelivery,
} from '../../../shared/webhook/delivery/delivery-store.ts'
import { aLoneClient } from '../../support/settlement-builders.ts'
import { creditedPayment } from '../../support/synced-payment.ts'
import { erase } from '../../support/tampering.ts'
import { attemptOf, deliver, storedEndpoint } from '../../support/webhook-builders.ts'

async function deliveredPayment() {
  const { deps, client } = await aLoneClient()
  const { clientId } = client
  const { endpointId } = await storedEndpoint(deps, { clientId })
  const { payment } = await creditedPayment(deps, client)
  const deliveryId = deliveryIdFor(
    eventIdFor(subjectOfPayment(payment.paymentId), 'payment.succeeded'),
    endpointId,
  )
  const delivery = await findDelivery(deps, deliveryId)
  if (delivery) await deliver(deps, delivery)
  deps.clock.advance(1)
  const differencesNow = async () => (await auditLedger(deps, clientId)).differences
  return { deps, clientId, endpointId, deliveryId, differencesNow }
}
type Delivered = Awaited<ReturnType<typeof deliveredPayment>>

function changeDelivery(set: Item) {
  return (delivered: Delivered) => update(deliveryKey(delivered.deliveryId), { set })
}
function changeEndpointUrl(delivered: Delivered) {
  return update(endpointKey(delivered), { set: { url: 'https://other.example' } })
}

describe('the audit of deliveries', () => {
  it.each([
    ['more rounds than attempts', 'round_start', changeDelivery({ roundStart: 2 })],
    ['a success without an attempt', 'attempts', changeDelivery({ attempts: 0 })],
    [
      'a next attempt of a delivery that has succeeded',
      'next_attempt_at',
      changeDelivery({ nextAttemptAt: '2026-01-01T00:00:00.000Z' }),
    ],
    ['an endpoint whose address was altered', 'url', changeEndpointUrl],
    ['a claim without its end', 'claim_token', changeDelivery({ claimToken: 'x' })],
    [
      'a claim that no worker holds',
      'claimed_until',
      changeDelivery({ claimToken: 'x', claimedUntil: '2099-01-01T00:00:00.000Z' }),
    ],
    [
      'a claim of a delivery that has ended',
      'claimed_until',
      changeDelivery({ claimToken: 'x', claimedUntil: '2026-01-01T00:00:00.000Z' }),
    ],
    ['more rounds on a day than ten', 'rounds', changeDelivery({ rounds: 11 })],
    ['rounds of a later day', 'rounds_on', changeDelivery({ rounds: 1, roundsOn: '2099-01-01' })],
  ])('finds %s', async (_, attribute, step) => {
    const delivered = await deliveredPayment()
    await delivered.deps.table.write(step(delivered))

    const found = await delivered.differencesNow()
    expect(found.filter(({ what }) => what.startsWith('delivery'))).toMatchObject([
      { what: `delivery.${attribute}`, id: delivered.deliveryId },
    ])
  })

  it('finds a deleted delivery until it is made again, or its retention ends', async () => {
    const { deps, deliveryId, differencesNow } = await deliveredPayment()
    const lost = await findDelivery(deps, deliveryId)
    await erase(deps, deliveryKey(deliveryId))

    const expected = expect.stringMatching(/^of payment.succeeded of payment /)
    expect(await differencesNow()).toStrictEqual([
      { what: 'delivery', id: deliveryId, expected, found: null },
    ])
    if (lost) {
      const again = { ...lost, name: lost.eventName, enabled: true }
      await deps.table.write(insertDelivery(newDelivery(again, again, deps.now())))
    }
    expect(await differencesNow()).toStrictEqual([])
    await erase(deps, deliveryKey(deliveryId))
    deps.clock.pass(91 * DAY_MS)
    expect((await differencesNow()).filter(({ what }) => what === 'delivery')).toStrictEqual([])
  })

  it('finds an attempt that is said to be of another time', async () => {
    const delivered = await deliveredPayment()
    const { deps, deliveryId } = delivered
    await deps.table.write(changeDelivery({ attempts: 2 })(delivered))
    const attempt = attemptOf(deps, 2, { at: addMs(deps.now(), DAY_MS) })
    await deps.table.write(put(attemptKey(deliveryId, 2), attempt))

    const found = expect.objectContaining({ what: 'attempt.at', id: deliveryId })
    expect(await delivered.differencesNow()).toContainEqual(found)
  })
})
