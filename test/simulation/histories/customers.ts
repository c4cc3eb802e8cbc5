import { bookOddities, payOddly } from '../scenes/odd-rows.ts'
import { count } from '../world/tally.ts'
import { strikes, tell, type World } from '../world/world.ts'
import type { Play } from './operations.ts'

const openRequests = ({ world }: Play) =>
  world.provider.findPaymentRequests('').filter(({ status }) => status === 'REQUIRES_ACTION' || status === 'PENDING')

/** Of attempts that were lost: their payments wait to be paid at another destination. */
const overtaken = ({ world }: Play, requests: ReturnType<typeof openRequests>) =>
  requests.filter(({ reference_id: reference, payment_request_id: id }) => {
    const payment = world.table.item({ pk: `PAYMENT#${reference.slice(0, 36)}`, sk: 'PAYMENT' })
    return payment?.['status'] === 'pending' && payment['payment_request_id'] !== id
  })

/** A rupiah less, or more. */
export const wrongAmount = ({ prng }: World, amount: number): number =>
  amount > 1 && prng.chance(0.5) ? amount - 1 : amount + 1

/** Customers pay whatever request is open, also one of an attempt that our merchant never saw. */
export const pay = async (play: Play): Promise<void> => {
  const { world } = play
  const late = strikes(world, 'paidLate')
  if (late) world.provider.orderFault({ target: 'payment', fault: 'after_expiry', times: 1 })
  const requests = late ? world.provider.findPaymentRequests('') : openRequests(play)
  if (requests.length === 0) return
  const lost = world.oddities.chance(0.6) ? overtaken(play, requests) : []
  const paid = world.prng.pick(lost.length > 0 ? lost : requests)
  const amount = strikes(world, 'wrongAmount') ? wrongAmount(world, paid.request_amount) : paid.request_amount
  tell(world, () => `the customer pays ${amount} on ${paid.payment_request_id} (${paid.reference_id})`)
  const act = () => world.provider.simulatePayment(paid.payment_request_id, { amount })
  const could = payOddly(world, paid, () => customerPays(play, act))
  if (could) bookOddities(world, paid)
}

/** Whether the provider let the customer. */
export const customerPays = ({ world }: Play, act: () => unknown): boolean => {
  try {
    act()
    count(world.tally, 'customer paid')
    return true
  } catch {
    count(world.tally, 'customer could not pay')
    return false
  }
}

export const decline = async (play: Play): Promise<void> => {
  const requests = openRequests(play)
  if (requests.length === 0) return
  try {
    play.world.provider.failPaymentRequest(play.world.prng.pick(requests).payment_request_id)
  } catch {
    count(play.world.tally, 'customer could not decline')
  }
}
