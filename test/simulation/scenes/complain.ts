import { rowsOf } from '../world/rows.ts'
import { count } from '../world/tally.ts'
import { trace, type World } from '../world/world.ts'
import { payUnasked } from './conflicting-rows.ts'
import type { Scene } from './http.ts'
import { reverseRandomPayment } from './odd-rows.ts'

/**
 * What every history has: a dispute, a transfer out that names a payment, and money for a payment
 * that has ended.
 */
export async function complain(scene: Scene) {
  const { world } = scene
  reverseRandomPayment(world, 1, undefined, 'chargeback')
  transferOut(world)
  await payUnasked(scene)
}

/** An operator refunds a customer by a transfer from the provider's account. */
function transferOut(world: World) {
  const { scenePrng, provider } = world
  const credited = rowsOf(world, 'PAYMENT', { status: 'succeeded' })
  if (credited.length === 0) return
  const { pk, notional_minor: most } = scenePrng.pick(credited)
  const reference = String(pk).slice('PAYMENT#'.length)
  const amount = scenePrng.int(1, Number(most))
  const row = { type: 'DISBURSEMENT', status: 'SUCCESS', cashflow: 'MONEY_OUT' }
  provider.bookTransaction({ ...row, reference_id: reference, amount })
  trace(world, () => `${amount} is transferred for ${reference}`)
  count(world.tally, 'a transfer names a payment')
}
