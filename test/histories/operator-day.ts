import { DAYS_TO_PAYOUT } from '../../infra/local/demo-walk.ts'
import type { Prng } from '../simulation/world/prng.ts'
import type { GatewayCalls } from './gateway-calls.ts'
import type { Client } from './plan-payments.ts'

const DAY_SECONDS = 86_400
const TRIES = 3

/**
 * Days later: fees become final, each client is settled, and most of its settlements are paid out, each asked for until
 * an operator says that it is.
 */
export const operatorDay = async (calls: GatewayCalls, clients: readonly Client[], draw: Prng): Promise<void> => {
  await calls.advance(DAYS_TO_PAYOUT * DAY_SECONDS)
  for (let tried = 0; tried < TRIES; tried++) {
    const synced = await calls.invoke('sync-provider-transactions')
    if (synced !== undefined) break
  }
  // The nightly sweep, or an operator for each client; sometimes both at once.
  if (draw.chance(0.5)) await calls.invoke('sweep-settlements')
  for (const client of clients) {
    await calls.settle(client)
    const recorded = await calls.invoke('list-settlements', { client_id: client.id, per_page: 100 })
    const { data } = recorded?.body ?? {}
    for (const settlement of Array.isArray(data) ? data : []) {
      const named = { id: String(settlement.id), net: Number(settlement.net_minor) }
      if (settlement.status !== 'recorded' || draw.chance(0.2)) continue
      for (let tried = 0; tried < TRIES; tried++) {
        const outcome = await calls.markPaid(client, named)
        if (outcome?.outcome !== 'unknown') break
      }
    }
  }
}
