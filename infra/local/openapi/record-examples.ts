import * as v from 'valibot'
import { DeliveryIdSchema, EventIdSchema } from '../../../shared/ids.ts'
import { webhookHeaders } from '../../../shared/webhook/send/webhook-headers.ts'
import { localCaller, type ReceivedWebhook } from '../local-caller.ts'
import { startLocalCloud } from '../local-cloud.ts'
import { exampleWalk, type Recorded, type Walked } from './example-walk.ts'
import type { Json } from './json-schema-of.ts'
import { stableExamples } from './stable-examples.ts'

export type RecordedWebhook = { readonly headers: Readonly<Record<string, string>>; readonly body: Json }
export type Recording = { readonly answers: readonly Recorded[]; readonly webhooks: readonly RecordedWebhook[] }

const HOUR = 3_600
const DAY = 24 * HOUR

/** In the middle of a UTC day, so that no daily schedule runs during the recording. */
const BEGIN_HOUR_UTC = 3

/** The secret that the webhooks of the examples are signed with, so that a reader can verify them. */
export const EXAMPLE_SECRET = `whsec_${Buffer.from('for examples, and of no endpoint').toString('base64')}`

/**
 * Records the answers and webhooks of a local gateway during `exampleWalk`. Every recording gives the same text: ids,
 * times and the provider's random values are made stable, and webhooks are signed again.
 */
export const recordExamples = async (): Promise<Recording> => {
  const cloud = await startLocalCloud({ port: 0 })
  try {
    const caller = localCaller(cloud)
    const secondOfDay = Math.floor(cloud.clock.nowMs() / 1_000) % DAY
    await caller.advance(DAY + BEGIN_HOUR_UTC * HOUR - secondOfDay)
    const beganMs = cloud.clock.nowMs()
    return stableRecording(await exampleWalk(caller, `${cloud.urls.inbox}/hooks`), stableExamples(beganMs))
  } finally {
    await cloud.close()
  }
}

const stableRecording = ({ answers, webhooks }: Walked, stable: (body: Json) => Json): Recording => ({
  answers: answers.map((answer) => ({ ...answer, body: stable(answer.body) })),
  webhooks: webhooks.map((webhook) => stableWebhook(webhook, stable)),
})

const Body = v.looseObject({ event: v.string(), event_id: EventIdSchema, timestamp: v.string() })

/** Signs the webhook again, as one attempt directly after the event. */
const stableWebhook = ({ headers, body }: ReceivedWebhook, stable: (body: Json) => Json): RecordedWebhook => {
  const ids = stable({ id: headers['x-gateway-delivery-id'] })
  const said = v.parse(Body, stable(v.parse(Body, JSON.parse(body))))
  const signed = webhookHeaders(
    { eventName: said.event, eventId: said.event_id, deliveryId: v.parse(DeliveryIdSchema, ids['id']) },
    {
      body: Buffer.from(JSON.stringify(said)),
      signingSecret: EXAMPLE_SECRET,
      sentAtMs: Date.parse(said.timestamp),
    },
  )
  const lowerCase = Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value])
  return { headers: Object.fromEntries(lowerCase), body: said }
}
