import type { PaymentRequest } from '../../infra/local/provider-simulator/provider-objects.ts'
import { count } from './tally.ts'
import { tell, type World } from './world.ts'

const TYPES = ['REFUND', 'CHARGEBACK', 'CHARGEBACK_REVERSAL', 'ADJUSTMENT_DEDUCT', 'WITHDRAWAL', 'TYPE_OF_TOMORROW']
const STATUSES = ['SUCCESS', 'SUCCESS', 'PENDING', 'FAILED', 'VOIDED', 'REVERSED', 'STATUS_OF_TOMORROW']

/**
 * What a provider books beside the payment that was just made: another row that names it, of any type and status, or no
 * fee at all for the next one. None of it may move money, stop the sync or hide a payment.
 */
export const bookOddities = (world: World, paid: Pick<PaymentRequest, 'reference_id'>): void => {
  const { oddities, provider } = world
  if (oddities.chance(0.1)) provider.orderFault({ target: 'transactions', fault: 'fee', value: 0 })
  if (!oddities.chance(0.15)) return
  const type = oddities.pick(TYPES)
  const status = oddities.pick(STATUSES)
  const reference = oddities.chance(0.7) ? paid.reference_id : 'order 17'
  provider.bookTransaction({ type, status, reference_id: reference, amount: -oddities.int(1, 100_000) })
  tell(world, () => `the provider books a ${type} (${status}) for ${reference}`)
  count(world.tally, 'odd row booked')
}

const KINDS = ['voided', 'reversed', 'refund', 'chargeback', 'chargeback_reversal'] as const

/** Some time after a payment its money goes back, whole or in part, once or more often. */
export const takeBack = (world: World): void => {
  const { oddities, provider } = world
  if (!oddities.chance(0.15)) return
  const paid = provider.findPaymentRequests('').filter((request) => request.latest_payment_id !== undefined)
  if (paid.length === 0) return
  const { payment_request_id: id, request_amount: most } = oddities.pick(paid)
  const kind = oddities.pick(KINDS)
  const isPart = kind !== 'voided' && kind !== 'reversed' && oddities.chance(0.4)
  try {
    const row = provider.reversePayment(id, { kind, ...(isPart && { amount: oddities.int(1, most) }) })
    tell(world, () => `${row.amount} of ${id} go back: ${kind}`)
    count(world.tally, `money back: ${kind}`)
  } catch {
    count(world.tally, 'money back refused')
  }
}
