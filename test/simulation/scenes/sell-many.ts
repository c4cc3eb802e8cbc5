import { paymentIdForKey, slotOf } from '../../../shared/ids.ts'
import { LEDGER_SHARDS } from '../../../shared/table/schema.ts'
import { text } from '../../support/recount/books.ts'
import { operate } from '../world/lambda.ts'
import type { Prng } from '../world/prng.ts'
import { rowsOf, stageOf } from '../world/rows.ts'
import { count } from '../world/tally.ts'
import type { Tenant } from '../world/tenants.ts'
import { waitFor } from '../world/world.ts'
import { createAs, type Scene } from './http.ts'
import { payWithRowFaults, reverseRandomPayment } from './odd-rows.ts'

const CHANNELS = [
  { method: 'qris' },
  { method: 'virtual_account', channel_code: 'BNI' },
  { method: 'virtual_account', channel_code: 'BNI' },
  { method: 'virtual_account', channel_code: 'BCA' },
  { method: 'ewallet', channel_code: 'DANA' },
]

export async function sellMany(scene: Scene, tenant: Tenant, isAtOnce = false) {
  const { world, scenePrng, prng, provider, scheduler } = scene
  const shard = scenePrng.chance(0.6) ? scenePrng.int(0, LEDGER_SHARDS - 1) : undefined
  const isUnannounced = !isAtOnce && scenePrng.chance(0.4)
  const withinMs = isAtOnce ? 30 : scenePrng.pick([30, 30, 20 * 60_000])
  const sell = async () => {
    const key = shard === undefined ? undefined : keyOfShard(scenePrng, tenant, shard)
    const asked = {
      ...prng.pick(CHANNELS),
      amount: prng.pick([9_999, 100_000, 250_000]),
      currency: 'IDR',
    }
    const reply = await createAs(scene, tenant, key, JSON.stringify(asked))
    return reply?.status === 201 ? String(reply.body['id']) : undefined
  }
  const ids = await Promise.all(Array.from({ length: prng.int(2, 6) }, sell))
  for (const id of ids.filter((paymentId) => paymentId !== undefined)) {
    const made = provider.findPaymentRequests(id).at(-1)
    if (made === undefined || made.status !== 'REQUIRES_ACTION') continue
    const { payment_request_id: requestId } = made
    scheduler.after(prng.int(1, withinMs), () => {
      if (provider.storedRequest(requestId)?.request.status !== 'REQUIRES_ACTION') return
      if (isUnannounced) provider.orderFault({ target: 'callback', fault: 'lost' })
      payWithRowFaults(world, made, () => provider.simulatePayment(requestId) !== undefined)
      count(world.tally, 'sold to several at once')
    })
  }
}

function keyOfShard(prng: Prng, { clientId }: Tenant, shard: number) {
  for (;;) {
    const key = `many-${prng.uuid()}`
    if (slotOf(paymentIdForKey(clientId, key), LEDGER_SHARDS) === shard) return key
  }
}

export async function reverseTogether(scene: Scene) {
  const { world, scenePrng } = scene
  await sellMany(scene, world.prng.pick(scene.tenants))
  await waitFor(world, world.prng.pick([10 * 60_000, 3 * 3_600_000]))
  const credited = rowsOf(world, 'PAYMENT', { status: 'succeeded' })
  if (credited.length === 0) return
  const clientId = scenePrng.pick(credited)['client_id']
  const own = credited.filter((payment) => payment['client_id'] === clientId)
  const unsettled = own.filter(
    (payment) =>
      ['open', 'posted'].includes(stageOf(world, payment)) && payment['reversal'] === undefined,
  )
  const meant = (unsettled.length > 1 ? unsettled : own).slice(-4).map(({ pk }) => pk)
  for (const pk of meant) reverseRandomPayment(world, 1, (payment) => payment['pk'] === pk)
  count(world.tally, `reversed together: ${meant.length}`)
  if (world.prng.chance(0.5)) return
  const [one] = meant
  await Promise.all([
    operate(world, 'trigger-settlement', { client_id: clientId }),
    operate(world, 'refresh-payment', {
      payment_id: text({ one }, 'one').slice('PAYMENT#'.length),
    }),
  ])
}
