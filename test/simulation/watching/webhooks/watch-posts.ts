import { createHmac } from 'node:crypto'
import { text } from '../../../support/recount/books.ts'
import { meet } from '../../sometimes/situations.ts'
import { deliveryRow } from '../../world/rows.ts'
import type { World } from '../../world/world.ts'
import type { Observations } from '../observations.ts'
import { watchClocks } from '../rules.ts'

/** Libraries take nothing else: standard base64 of 32 bytes. */
const SECRET = /^whsec_([A-Za-z0-9+/]{43}=)$/

/** Checked at every POST: what libraries for Standard Webhooks need to believe it, and the time of now (design section 8). */
export const watchPosts = (world: World, seen: Observations): void => {
  const apartMs = watchClocks(world)
  /** Of each endpoint, as its registration has made it. */
  const secrets = new Map<string, string>()

  world.onChange.push(({ key, before, after }) => {
    if (!key.pk.startsWith('ENDPOINTS#') || after === undefined) return
    const id = text(after, 'endpoint_id')
    if (after['deleted_at'] !== undefined && after['sealed_secret'] !== undefined)
      seen.problems.push(`endpoint ${id} is deleted, and its secret is kept`)
    if (before !== undefined || !key.sk.startsWith('ENDPOINT#')) return
    const secret = world.seals.get(text(after, 'sealed_secret'))?.secret ?? ''
    secrets.set(id, secret)
    if (!SECRET.test(secret)) seen.problems.push(`endpoint ${id} has a secret that libraries refuse`)
  })

  world.onPost.push(({ headers, body }) => {
    const id = headers['X-Gateway-Delivery-Id'] ?? ''
    const tell = (what: string) => void seen.problems.push(`delivery ${id} ${what}`)
    const row = deliveryRow(world, id)
    const [webhookId, timestamp] = [headers['webhook-id'], headers['webhook-timestamp']]
    if (webhookId !== row?.['event_id'] || headers['X-Gateway-Event'] !== text(row ?? {}, 'event_name').split('#')[0])
      tell('is posted as another event')
    if (Math.abs(Number(timestamp) * 1_000 - world.scheduler.nowMs()) > apartMs() + 1_000)
      tell('is posted with another time than now')
    const [, encoded] = SECRET.exec(secrets.get(text(row ?? {}, 'endpoint_id')) ?? '') ?? []
    if (encoded === undefined) return
    const signed = createHmac('sha256', Buffer.from(encoded, 'base64'))
      .update(`${webhookId}.${timestamp}.${body.toString('utf8')}`)
      .digest('base64')
    if (headers['webhook-signature'] !== `v1,${signed}`) tell('is posted with a signature that a library refuses')
  })

  watchLanes(world, seen)
}

type HandedOut = { readonly firstMs: number; slow: boolean }

const attemptOf = (deliveryId: unknown, attempt: unknown): string => `${String(deliveryId)} ${String(attempt)}`

/** Checked at every POST: no worker of the common lane is held for an endpoint that was known to hang. */
const watchLanes = (world: World, seen: Observations): void => {
  /** In the world's time: the mark itself was written by a clock that may be wrong. */
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
    if (handed?.slow === true) meet(world, 'an attempt goes through the slow lane')
    if (handed && !handed.slow && marked !== undefined && handed.firstMs > marked) {
      seen.problems.push(`attempt ${attempt} held a worker of the common lane`)
    }
  })
}
