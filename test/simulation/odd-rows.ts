import type { PaymentRequest } from '../../infra/local/provider-simulator/provider-objects.ts'
import { stageOf } from './reversal-stages.ts'
import type { StoredItem } from './sim-table/stored-item.ts'
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

const KINDS = ['voided', 'reversed', 'refund', 'chargeback', 'chargeback'] as const

/** One of those at the rarest places as often as one of those that are everywhere. */
const drawAtStage = (world: World, payments: readonly StoredItem[]): StoredItem | undefined => {
  const byStage = Map.groupBy(payments, (payment) => stageOf(world, payment))
  return payments.length === 0 ? undefined : world.oddities.pick(world.oddities.pick([...byStage.values()]))
}

const isDisputed = ({ reversal }: StoredItem): boolean => {
  const { wholeAt, whole } = Object(reversal)
  return wholeAt !== undefined && Object(whole).kind === 'chargeback'
}

/**
 * Some time after a payment its money goes back, whole or in part, once or more often; and a dispute is won, all of it,
 * in part, or twice.
 */
export const takeBack = (world: World, probability: number): void => {
  const { oddities, provider } = world
  if (!oddities.chance(probability)) return
  const credited = world.table.items('PAYMENT#').filter((item) => item['status'] === 'succeeded' && item['paid_at'])
  const isWon = oddities.chance(0.4)
  const disputed = credited.filter(isDisputed)
  const payment = drawAtStage(world, isWon && disputed.length > 0 ? disputed : credited)
  const paid = provider
    .findPaymentRequests('')
    .find(({ latest_payment_id: id }) => id !== undefined && id === payment?.['credited_payment_id'])
  if (paid === undefined) return
  const { payment_request_id: id, request_amount: most } = paid
  const kind = isWon ? 'chargeback_reversal' : oddities.pick(KINDS)
  const isPart = kind !== 'voided' && kind !== 'reversed' && oddities.chance(isWon ? 0.15 : 0.4)
  try {
    const row = provider.reversePayment(id, { kind, ...(isPart && { amount: oddities.int(1, most) }) })
    if (row.type !== 'PAYMENT') world.bookedBack.push(row.id)
    tell(world, () => `${row.amount} of ${id} go back: ${kind}`)
    count(world.tally, `money back: ${kind}`)
  } catch {
    count(world.tally, 'money back refused')
  }
}
