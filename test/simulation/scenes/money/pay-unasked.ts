import { meet } from '../../sometimes/meet.ts'
import { tell, type World } from '../../world/world.ts'
import type { Scene } from '../scene.ts'
import { standStillInSync } from './go-on-late.ts'

const HOUR_MS = 3_600_000
const CLOSED = ['expired', 'cancelled', 'failed']

/** Requests of payments that have ended without money: nobody looks at those by itself any more. */
const ended = ({ provider, table }: World) =>
  provider.findPaymentRequests('').filter(({ reference_id: reference, latest_payment_id: paid }) => {
    const payment = table.item({ pk: `PAYMENT#${reference.slice(0, 36)}`, sk: 'PAYMENT' })
    return paid === undefined && CLOSED.includes(String(payment?.['status']))
  })

const open = ({ provider }: World) =>
  provider.findPaymentRequests('').filter(({ status }) => status === 'REQUIRES_ACTION')

/** Whether it can be paid without a callback, and without an answer of the provider about it. */
const pay = (
  world: World,
  request: ReturnType<typeof open>[number],
  isLate: boolean,
  settlesInSeconds: number,
): boolean => {
  const { oddities, provider, scheduler } = world
  const { payment_request_id: id, request_amount: asked } = request
  const amount = isLate ? asked : asked + oddities.int(1, 9)
  if (isLate) provider.orderFault({ target: 'payment', fault: 'after_expiry', times: 1 })
  provider.orderFault({ target: 'callback', fault: 'lost' })
  provider.orderFault({ target: 'transactions', fault: 'fee_late', value: settlesInSeconds })
  try {
    provider.simulatePayment(id, { amount })
  } catch {
    provider.clearFaults({ target: 'callback', fault: 'lost' })
    provider.clearFaults({ target: 'transactions', fault: 'fee_late' })
    return false
  }
  const untilMs = scheduler.nowMs() + oddities.int(HOUR_MS, 4 * HOUR_MS)
  const says = oddities.pick(['nothing', 'nothing', 'not found', 'too often'] as const)
  world.withheld.set(String(provider.requestAsItStands(id)?.request.latest_payment_id), { untilMs, says })
  if (says !== 'not found') world.withheld.set(id, { untilMs, says })
  if (oddities.chance(0.2)) {
    const turn = () => void provider.reversePayment(id, { kind: oddities.pick(['voided', 'reversed']) })
    scheduler.after(oddities.int(60_000, 2 * HOUR_MS), turn)
  }
  tell(world, () => `${amount} is paid on ${id}, and the provider answers nothing about it`)
  meet(world, 'a payment is made that the provider answers nothing about')
  return true
}

/**
 * Customers pay what has ended, or other amounts than were asked for, and no callback tells of it. For hours the provider
 * has no answer about that money, does not show it, or refuses the question; meanwhile its row is settled, or turns, and
 * its reader may stand still.
 */
export const payUnasked = async (scene: Scene): Promise<void> => {
  const { world } = scene
  const { oddities, prng } = world
  const late = ended(world)
  const isLate = late.length > 0 && prng.chance(0.8)
  const requests = isLate ? late : open(world)
  const standsStill = prng.chance(0.4)
  const settlesInSeconds = standsStill ? oddities.int(20, 140) : oddities.int(60, 5_000)
  const paid = requests.slice(-prng.int(1, 3)).filter((request) => pay(world, request, isLate, settlesInSeconds))
  if (standsStill && paid.length > 0) await standStillInSync(scene, prng.int(100, 900))
}
