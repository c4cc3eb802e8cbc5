import type { StoredItem } from '../../../../infra/local/emulators/memory-table/stored-item.ts'
import { passed } from '../../world/drive.ts'
import { invoke } from '../../world/lambda.ts'
import { count } from '../../world/tally.ts'
import { tell, type World } from '../../world/world.ts'
import { voidMovement } from '../odd-rows.ts'
import type { Scene } from '../scene.ts'

const KINDS = [
  'voided',
  'refund',
  'chargeback',
  'chargeback',
  'chargeback',
  'chargeback_reversal',
  'chargeback_reversal',
]

/** Reverses one payment, or a part of it, or wins its dispute. */
const move = (world: World, requestId: string, most: number, paidId: string | undefined): void => {
  const { bookedBack, oddities, provider, tally } = world
  const isVoid = oddities.chance(0.2)
  const kind = oddities.pick(KINDS)
  const amount = oddities.chance(0.7) ? most : oddities.int(1, most)
  try {
    // The provider refuses a void after a second capture.
    if (isVoid && voidMovement(world, requestId, paidId)) return
    const fee = kind === 'chargeback' && oddities.chance(0.5) ? { fee: oddities.int(0, 20_000) } : {}
    const row = provider.reversePayment(requestId, { kind, ...fee, ...(kind !== 'voided' && { amount }) })
    if (row.type !== 'PAYMENT') bookedBack.push(row.id)
    tell(world, () => `${row.amount} of ${requestId} move: ${kind}`)
    count(tally, `overlapping reversals: ${kind}`)
  } catch {
    count(tally, 'money back refused')
  }
}

const isCredited = (item: StoredItem) => item['status'] === 'succeeded' && item['paid_at'] !== undefined

/**
 * Several reversals of one payment overlap within hours: two disputes, a partial dispute and a void, a dispute won for more
 * than was lost. The sync reads them one by one, or several at once.
 */
export const overlappingReversals = async ({ world }: Scene): Promise<void> => {
  const { oddities, prng, provider, table, unshownRows } = world
  const shown = provider.findPaymentRequests('').filter(({ latest_payment_id: id, reference_id: reference }) => {
    const payment = table.item({ pk: `PAYMENT#${reference.slice(0, 36)}`, sk: 'PAYMENT' })
    const isOwn = id !== undefined && payment?.['credited_provider_payment_id'] === id
    return isOwn && isCredited(payment) && !unshownRows.has(id)
  })
  if (shown.length === 0) return
  const { payment_request_id: id, request_amount: most, latest_payment_id: paidId } = prng.pick(shown)
  for (let left = prng.int(2, 5); left > 0; left--) {
    move(world, id, most, paidId)
    if (oddities.chance(0.6)) await invoke(world, 'sync-provider-transactions', {})
    await passed(world, prng.pick([10, 150_000, 7_200_000]))
  }
}
