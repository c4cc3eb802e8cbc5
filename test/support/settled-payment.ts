import { minor } from '../../shared/money.ts'
import { makeFeeFinal } from '../../shared/payment/fee/fee-store.ts'
import { settleClient } from '../../shared/settlement/settle-client.ts'
import type { Settlement } from '../../shared/settlement/settlement.ts'
import { addMs, HOUR_MS } from '../../shared/time.ts'
import { creditedPayment, type SyncWorld } from './synced-payment.ts'

/** A payment that was credited, got its actual fee and was swept a day later. Moves the wall clock. */
export const aSettled = async ({ deps, client }: SyncWorld): Promise<Settlement> => {
  const { payment } = await creditedPayment(deps, client)
  await makeFeeFinal(deps, payment, { status: 'actual', feeMinor: minor(4_440) })
  deps.clock.set(addMs(deps.now(), 25 * HOUR_MS))
  const { settlements } = await settleClient(deps, client.clientId, { by: 'auto' })
  const settlement = settlements.at(-1)
  if (settlement === undefined) throw new Error('nothing was settled')
  return settlement
}
