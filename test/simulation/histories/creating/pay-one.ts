import type { PaymentRequest } from '../../../../infra/local/provider-simulator/provider-objects.ts'
import { customerPays, wrongAmount } from '../customers.ts'
import type { Play } from '../operations.ts'

type How = {
  readonly wrong?: number
  readonly unheard?: number
  readonly twice?: number
  readonly unseen?: number
  readonly late?: number
}

/**
 * A customer pays a request: perhaps another amount, perhaps after its end, perhaps is the callback lost or comes
 * twice, perhaps the provider shows it some seconds later.
 */
export const payOne = (play: Play, paid: PaymentRequest | undefined, how: How = {}): void => {
  const { prng, provider, scheduler, unseenUntilMs } = play.world
  if (paid === undefined) return
  const { wrong = 0.15, unheard = 0.1, twice = 0.2, unseen = 0.1, late = 0 } = how
  const { payment_request_id: id, request_amount: asked } = paid
  const amount = prng.chance(wrong) ? wrongAmount(play.world, asked) : asked
  const isUnheard = prng.chance(unheard)
  // It is not heard, or not believed.
  const silence = { target: 'callback', fault: prng.chance(0.8) ? 'lost' : 'wrong_token' } as const
  const isTwice = !isUnheard && prng.chance(twice)
  const echo = { target: 'callback', fault: 'duplicate' } as const
  if (isUnheard) provider.orderFault(silence)
  if (isTwice) provider.orderFault(echo)
  const isLate = prng.chance(late)
  if (isLate) provider.orderFault({ target: 'payment', fault: 'after_expiry' })
  const could = customerPays(play, () => provider.simulatePayment(id, { amount }))
  if (isUnheard && !could) provider.clearFaults(silence)
  if (isTwice && !could) provider.clearFaults(echo)
  if (isLate) provider.clearFaults({ target: 'payment', fault: 'after_expiry' })
  const { latest_payment_id: paidId } = provider.getPaymentRequest(id)
  // Wrong money that is seen at once is held at once, and remembered by nobody.
  if (could && paidId !== undefined && prng.chance(amount === asked ? unseen : Math.max(unseen, 0.3)))
    unseenUntilMs.set(paidId, scheduler.nowMs() + prng.int(500, 90_000))
}

/** A person at the customer's end, or none. */
export const customerActs = (play: Play, requests: readonly PaymentRequest[], how: How = {}): void => {
  const { prng, provider } = play.world
  if (requests.length === 0) return
  const picked = prng.pick(requests)
  if (prng.chance(0.8)) payOne(play, picked, how)
  else customerPays(play, () => provider.failPaymentRequest(picked.payment_request_id))
}
