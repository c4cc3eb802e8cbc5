import { observeCreate } from '../watching/observations.ts'
import { count } from '../world/tally.ts'
import type { Tenant } from '../world/tenants.ts'
import { http } from './http.ts'
import type { Scene } from './scene.ts'

const CHANNELS = [{ method: 'qris' }, { method: 'virtual_account', channel_code: 'BNI' }]

/** One client sells to several customers at the same time, and all of them pay within a moment. */
export const sellMany = async (scene: Scene, tenant: Tenant): Promise<void> => {
  const { world, seen } = scene
  const { prng, provider, scheduler } = world
  const sell = async () => {
    const asked = { ...prng.pick(CHANNELS), amount: prng.pick([100_000, 250_000]), currency: 'IDR' }
    const reply = await http(scene, tenant, 'api-create-payment', { body: JSON.stringify(asked) })
    observeCreate(seen, tenant, undefined, reply)
    return reply?.status === 201 ? String(reply.body['id']) : undefined
  }
  const ids = await Promise.all(Array.from({ length: prng.int(2, 4) }, sell))
  for (const id of ids.filter((one) => one !== undefined)) {
    const made = provider.findPaymentRequests(id).at(-1)
    if (made === undefined || made.status !== 'REQUIRES_ACTION') continue
    scheduler.after(prng.int(1, 30), () => {
      // Somebody may have ended it meanwhile.
      if (provider.requestAsItStands(made.payment_request_id)?.request.status !== 'REQUIRES_ACTION') return
      provider.simulatePayment(made.payment_request_id)
      count(world.tally, 'sold to several at once')
    })
  }
}
