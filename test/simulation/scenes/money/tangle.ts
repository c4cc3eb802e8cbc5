import type { StoredItem } from '../../../../infra/local/emulators/memory-table/stored-item.ts'
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

/** What becomes of one payment's money next, all of it or a part. */
const move = (world: World, requestId: string, most: number, paidId: string | undefined): void => {
  const { bookedBack, oddities, provider, tally } = world
  const isVoid = oddities.chance(0.2)
  const kind = oddities.pick(KINDS)
  const amount = oddities.chance(0.7) ? most : oddities.int(1, most)
  try {
    // Refused where the request was paid once more since then.
    if (isVoid && voidMovement(world, requestId, paidId)) return
    const fee = kind === 'chargeback' && oddities.chance(0.5) ? { fee: oddities.int(0, 20_000) } : {}
    const row = provider.reversePayment(requestId, { kind, ...fee, ...(kind !== 'voided' && { amount }) })
    if (row.type !== 'PAYMENT') bookedBack.push(row.id)
    tell(world, () => `${row.amount} of ${requestId} move: ${kind}`)
    count(tally, `tangled: ${kind}`)
  } catch {
    count(tally, 'money back refused')
  }
}

const isCredited = (item: StoredItem) => item['status'] === 'succeeded' && item['paid_at'] !== undefined

/**
 * The money of one payment goes back and comes again several times within hours: disputed twice, disputed in part and
 * voided, won more than was lost. The sync hears of it one by one, or of several at once.
 */
export const tangle = async ({ world }: Scene): Promise<void> => {
  const { oddities, prng, provider, scheduler, table, unshownRows } = world
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
    await new Promise<void>((resolve) => void scheduler.after(prng.pick([10, 150_000, 7_200_000]), resolve))
  }
}
