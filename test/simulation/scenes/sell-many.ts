import { paymentIdForKey, slotOf } from '../../../shared/ids.ts'
import { LEDGER_SHARDS } from '../../../shared/table/schema.ts'
import { observeCreate } from '../watching/observations.ts'
import type { Prng } from '../world/prng.ts'
import { count } from '../world/tally.ts'
import type { Tenant } from '../world/tenants.ts'
import { http } from './http.ts'
import { payOddly } from './odd-rows.ts'
import type { Scene } from './scene.ts'

const CHANNELS = [
  { method: 'qris' },
  { method: 'virtual_account', channel_code: 'BNI' },
  { method: 'virtual_account', channel_code: 'BNI' },
  { method: 'virtual_account', channel_code: 'BCA' },
  { method: 'ewallet', channel_code: 'DANA' },
]

/** Within one look of the sync, or over several. */
const PAID_WITHIN_MS = [30, 30, 20 * 60_000]

/** A key whose payment is credited in one of the shards: a page of fees corrects each shard once. */
const keyOfShard = (prng: Prng, { clientId }: Tenant, shard: number): string => {
  for (;;) {
    const key = `many-${prng.uuid()}`
    if (slotOf(paymentIdForKey(clientId, key), LEDGER_SHARDS) === shard) return key
  }
}

/**
 * One client sells to several customers at the same time, often in one shard of its ledger, and all of them pay within a
 * moment or within minutes. In some cases no callback of it arrives: then the sync credits them, page by page.
 */
export const sellMany = async (scene: Scene, tenant: Tenant, isAtOnce = false): Promise<void> => {
  const { world, seen } = scene
  const { oddities, prng, provider, scheduler } = world
  const shard = oddities.chance(0.6) ? oddities.int(0, LEDGER_SHARDS - 1) : undefined
  const isUnheard = !isAtOnce && oddities.chance(0.4)
  const withinMs = isAtOnce ? 30 : oddities.pick(PAID_WITHIN_MS)
  const sell = async () => {
    const key = shard === undefined ? undefined : keyOfShard(oddities, tenant, shard)
    const body = JSON.stringify({
      ...prng.pick(CHANNELS),
      amount: prng.pick([9_999, 100_000, 250_000]),
      currency: 'IDR',
    })
    const reply = await http(scene, tenant, 'api-create-payment', {
      body,
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
    })
    observeCreate(seen, tenant, key, reply)
    return reply?.status === 201 ? String(reply.body['id']) : undefined
  }
  const ids = await Promise.all(Array.from({ length: prng.int(2, 6) }, sell))
  for (const id of ids.filter((one) => one !== undefined)) {
    const made = provider.findPaymentRequests(id).at(-1)
    if (made === undefined || made.status !== 'REQUIRES_ACTION') continue
    scheduler.after(prng.int(1, withinMs), () => {
      // It may have ended meanwhile.
      if (provider.requestAsItStands(made.payment_request_id)?.request.status !== 'REQUIRES_ACTION') return
      if (isUnheard) provider.orderFault({ target: 'callback', fault: 'lost' })
      payOddly(world, made, () => {
        provider.simulatePayment(made.payment_request_id)
        return true
      })
      count(world.tally, 'sold to several at once')
    })
  }
}
