import {
  isOpen,
  type PaymentRequest,
} from '../../../infra/local/provider-simulator/provider-objects.ts'
import { bookExtraRow, payWithRowFaults } from '../scenes/odd-rows.ts'
import { paymentOfReference } from '../world/rows.ts'
import { count } from '../world/tally.ts'
import { hasFault, trace, type World } from '../world/world.ts'
import type { Play } from './play.ts'

export function wrongAmount({ prng }: World, amount: number) {
  return amount > 1 && prng.chance(0.5) ? amount - 1 : amount + 1
}

export async function pay(play: Play) {
  const { world } = play
  const late = hasFault(world, 'paidLate')
  if (late) world.provider.orderFault({ target: 'payment', fault: 'after_expiry', times: 1 })
  const requests = late ? world.provider.findPaymentRequests('') : openRequests(play)
  if (requests.length === 0) return
  // Requests of lost attempts: their payments show the destination of another attempt.
  const lost = requests.filter(({ reference_id: reference, payment_request_id: id }) => {
    const payment = paymentOfReference(world, reference)
    return payment?.['status'] === 'pending' && payment['payment_request_id'] !== id
  })
  const paid = world.prng.pick(world.scenePrng.chance(0.6) && lost.length > 0 ? lost : requests)
  const amount = hasFault(world, 'wrongAmount')
    ? wrongAmount(world, paid.request_amount)
    : paid.request_amount
  trace(
    world,
    () => `the customer pays ${amount} on ${paid.payment_request_id} (${paid.reference_id})`,
  )
  const act = () => world.provider.simulatePayment(paid.payment_request_id, { amount })
  const could = payWithRowFaults(world, paid, () => customerPays(play, act))
  if (could) bookExtraRow(world, paid)
}

function openRequests({ world }: Play) {
  return world.provider.findPaymentRequests('').filter(isOpen)
}

/** False if the provider refused the action. */
export function customerPays({ world }: Play, act: () => unknown) {
  try {
    act()
    count(world.tally, 'customer paid')
    return true
  } catch {
    count(world.tally, 'customer could not pay')
    return false
  }
}

export async function decline(play: Play) {
  const requests = openRequests(play)
  if (requests.length === 0) return
  const { payment_request_id: id } = play.world.prng.pick(requests)
  customerPays(play, () => play.world.provider.failPaymentRequest(id))
}

type How = {
  readonly wrong?: number
  readonly unannounced?: number
  readonly twice?: number
  readonly unseen?: number
  readonly late?: number
}

/**
 * A customer pays a request: perhaps a wrong amount, or late; the callback may be lost, or the
 * payment shown late.
 */
export function payOne(play: Play, paid: PaymentRequest | undefined, how: How = {}) {
  const { prng, provider, scheduler, unseenUntilMs } = play.world
  if (paid === undefined) return
  const { wrong = 0.15, unannounced = 0.1, twice = 0.2, unseen = 0.1, late = 0 } = how
  const { payment_request_id: id, request_amount: asked } = paid
  const amount = prng.chance(wrong) ? wrongAmount(play.world, asked) : asked
  const isUnannounced = prng.chance(unannounced)
  const silence = { target: 'callback', fault: prng.chance(0.8) ? 'lost' : 'wrong_token' } as const
  const isTwice = !isUnannounced && prng.chance(twice)
  const echo = { target: 'callback', fault: 'duplicate' } as const
  if (isUnannounced) provider.orderFault(silence)
  if (isTwice) provider.orderFault(echo)
  const isLate = prng.chance(late)
  if (isLate) provider.orderFault({ target: 'payment', fault: 'after_expiry' })
  const could = customerPays(play, () => provider.simulatePayment(id, { amount }))
  if (isUnannounced && !could) provider.clearFaults(silence)
  if (isTwice && !could) provider.clearFaults(echo)
  if (isLate) provider.clearFaults({ target: 'payment', fault: 'after_expiry' })
  const { latest_payment_id: paidId } = provider.getPaymentRequest(id)
  // A wrong amount that is shown at once is held at once, so it is often shown late.
  if (
    could &&
    paidId !== undefined &&
    prng.chance(amount === asked ? unseen : Math.max(unseen, 0.3))
  )
    unseenUntilMs.set(paidId, scheduler.nowMs() + prng.int(500, 90_000))
}

export function customerActs(play: Play, requests: readonly PaymentRequest[], how: How = {}) {
  const { prng, provider } = play
  if (requests.length === 0) return
  const picked = prng.pick(requests)
  if (prng.chance(0.8)) payOne(play, picked, how)
  else customerPays(play, () => provider.failPaymentRequest(picked.payment_request_id))
}
