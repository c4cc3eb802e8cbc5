import { reportSituation } from '../sometimes/report-situation.ts'
import { deliveryRow } from '../world/rows.ts'
import type { World } from '../world/world.ts'

const attemptOf = (deliveryId: unknown, attempt: unknown): string => `${String(deliveryId)} ${String(attempt)}`

type HandedOut = { readonly firstMs: number; slow: boolean }

/** Checked at every POST: no worker of the common lane posts to an endpoint that was already marked as slow. */
export const watchLanes = (world: World): void => {
  /** When endpoints were marked, in the world's time: the clock that wrote the mark may be wrong. */
  const markedAtMs = new Map<string, number>()
  const handedOut = new Map<string, HandedOut>()

  world.onChange.push(({ key, before, after }) => {
    if (!key.sk.startsWith('ENDPOINT#') || before?.['slow_since'] === after?.['slow_since']) return
    const endpointId = String(after?.['endpoint_id'])
    if (after?.['slow_since'] === undefined) markedAtMs.delete(endpointId)
    else markedAtMs.set(endpointId, world.scheduler.nowMs())
  })

  world.onHandedOut.push((queue, messages) => {
    if (queue !== 'webhooks' && queue !== 'webhooks-slow') return
    for (const { body } of messages) {
      const message = JSON.parse(body) as Readonly<Record<string, unknown>>
      const attempt = attemptOf(message['delivery_id'], message['attempt'])
      const known = handedOut.get(attempt) ?? { firstMs: world.scheduler.nowMs(), slow: false }
      handedOut.set(attempt, { ...known, slow: known.slow || queue === 'webhooks-slow' })
    }
  })

  world.onPost.push(({ headers }) => {
    const deliveryId = headers['X-Gateway-Delivery-Id']
    const row = deliveryRow(world, deliveryId)
    // A late POST of an attempt that was recorded as lost is not the next attempt.
    if (row?.['claim_token'] === undefined) return
    const attempt = attemptOf(deliveryId, Number(row?.['attempts']) + 1)
    const handed = handedOut.get(attempt)
    const marked = markedAtMs.get(String(row?.['endpoint_id']))
    if (handed?.slow === true) reportSituation(world, 'an attempt goes through the slow lane')
    if (handed && !handed.slow && marked !== undefined && handed.firstMs > marked) {
      world.problems.push(`attempt ${attempt} of a slow endpoint held a worker of the common lane`)
    }
  })
}
