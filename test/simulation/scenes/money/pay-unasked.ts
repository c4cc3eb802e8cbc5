import { count } from '../../world/tally.ts'
import { tell, type World } from '../../world/world.ts'
import type { Scene } from '../scene.ts'

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

/**
 * A customer pays what has ended, or another amount than was asked for, and no callback tells of it. For hours the
 * provider has no answer about that money, or does not show it; meanwhile its row is settled, or turns.
 */
export const payUnasked = ({ world }: Scene): Promise<void> => {
  const { oddities, prng, provider, scheduler } = world
  const late = ended(world)
  const isLate = late.length > 0 && prng.chance(0.8)
  const requests = isLate ? late : open(world)
  if (requests.length === 0) return Promise.resolve()
  const { payment_request_id: id, request_amount: asked } = prng.pick(requests)
  const amount = isLate ? asked : asked + oddities.int(1, 9)
  if (isLate) provider.orderFault({ target: 'payment', fault: 'after_expiry', times: 1 })
  provider.orderFault({ target: 'callback', fault: 'lost' })
  provider.orderFault({ target: 'transactions', fault: 'fee_late', value: oddities.int(60, 5_000) })
  try {
    provider.simulatePayment(id, { amount })
  } catch {
    provider.clearFaults({ target: 'callback', fault: 'lost' })
    provider.clearFaults({ target: 'transactions', fault: 'fee_late' })
    return Promise.resolve()
  }
  const untilMs = scheduler.nowMs() + oddities.int(HOUR_MS, 4 * HOUR_MS)
  const says = oddities.pick(['nothing', 'nothing', 'not found'] as const)
  world.withheld.set(String(provider.requestAsItStands(id)?.request.latest_payment_id), { untilMs, says })
  if (says === 'nothing') world.withheld.set(id, { untilMs, says })
  if (oddities.chance(0.2)) {
    const turn = () => void provider.reversePayment(id, { kind: oddities.pick(['voided', 'reversed']) })
    scheduler.after(oddities.int(60_000, 2 * HOUR_MS), turn)
  }
  tell(world, () => `somebody pays ${amount} on ${id}, and nobody can be asked about it`)
  count(world.tally, 'paid and nobody can be asked about it')
  return Promise.resolve()
}
