import * as v from 'valibot'
import { CHANNELS } from '../../../shared/channel/channels.ts'
import { DeliveryIdSchema, derivedUuid, EventIdSchema } from '../../../shared/ids.ts'
import { encodeCursor } from '../../../shared/page.ts'
import { timestampOf } from '../../../shared/time.ts'
import { webhookHeaders } from '../../../shared/webhook/send/webhook-headers.ts'
import { localCaller, type ReceivedWebhook } from '../local-caller.ts'
import { startLocalCloud } from '../local-cloud.ts'
import { qrisString } from '../provider-simulator/requests/qris-string.ts'
import { exampleWalk } from './example-walk.ts'
import { isJson, type Json } from './json-schema-of.ts'
import type { RecordedAnswer, WalkResult } from './walk.ts'

export type RecordedWebhook = {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}
export type Recording = {
  readonly answers: readonly RecordedAnswer[]
  readonly webhooks: readonly RecordedWebhook[]
}

/** Public, so that a reader can verify the example webhooks. */
export const EXAMPLE_SECRET = `whsec_${Buffer.from('for examples, and of no endpoint').toString('base64')}`

/**
 * Every recording of `exampleWalk` gives the same text: ids, times and the provider's random values
 * are made stable, and webhooks are signed again.
 */
export async function recordExamples(): Promise<Recording> {
  const cloud = await startLocalCloud({ port: 0, startsAtMs: BEGIN_MS })
  try {
    return stableRecording(await exampleWalk(localCaller(cloud)), stableExamples())
  } finally {
    await cloud.close()
  }
}

function stableRecording(
  { answers, webhooks }: WalkResult,
  stableBody: (body: Json) => Json,
): Recording {
  return {
    answers: answers.map((answer) => ({ ...answer, body: stableBody(answer.body) })),
    webhooks: webhooks.map((webhook) => stableWebhook(webhook, stableBody)),
  }
}

const Body = v.looseObject({ event: v.string(), event_id: EventIdSchema, timestamp: v.string() })

/** Signs the webhook again, as one attempt directly after the event. */
function stableWebhook(
  { headers, body }: ReceivedWebhook,
  stableBody: (body: Json) => Json,
): RecordedWebhook {
  const ids = stableBody({ id: headers['x-gateway-delivery-id'] })
  const event = v.parse(Body, stableBody(v.parse(Body, JSON.parse(body))))
  const signedHeaders = webhookHeaders(
    {
      eventName: event.event,
      eventId: event.event_id,
      deliveryId: v.parse(DeliveryIdSchema, ids['id']),
    },
    {
      body: Buffer.from(JSON.stringify(event)),
      signingSecret: EXAMPLE_SECRET,
      sentAtMs: Date.parse(event.timestamp),
    },
  )
  const lowerCase = Object.entries(signedHeaders).map(([name, value]) => [
    name.toLowerCase(),
    value,
  ])
  return { headers: Object.fromEntries(lowerCase), body: event }
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const INBOX = /^http:\/\/127\.0\.0\.1:\d+\/hooks$/
const CHECKOUT = /^http:\/\/127\.0\.0\.1:\d+\/checkout/

/** The middle of a month, when no daily schedule runs. */
const BEGIN_MS = Date.UTC(2026, 0, 15, 3)

/** Longer than a recording takes, and shorter than the clock jumps within a recording. */
const STEP_MS = 10 * 60_000

/**
 * Numbers ids in order of appearance, replaces the provider's random values, and rounds away the
 * duration of the recording.
 */
function stableExamples(): (body: Json) => Json {
  const ids = new Map<string, string>()

  const stableId = (id: string) => {
    const uuid = ids.get(id) ?? derivedUuid('example', String(ids.size + 1))
    ids.set(id, uuid)
    return uuid
  }

  const sinceBegin = (time: string) => Math.round((Date.parse(time) - BEGIN_MS) / STEP_MS) * STEP_MS

  const stableText = (text: string) => {
    if (TIME.test(text)) return timestampOf(BEGIN_MS + sinceBegin(text))
    return text
      .replace(INBOX, 'https://shop.example/hooks')
      .replace(CHECKOUT, 'https://checkout.example')
      .replaceAll(UUID, stableId)
  }

  const stableValue = (value: unknown): unknown => {
    if (typeof value === 'string') return stableText(value)
    if (Array.isArray(value)) return value.map(stableValue)
    return isJson(value) ? stableObject(value) : value
  }

  const stableObject = (value: Json): Json => {
    const fields = Object.fromEntries(
      Object.entries(value).map(([name, content]) => [name, stableValue(content)]),
    )
    return {
      ...fields,
      ...expiryOf(value, String(fields['created_at'])),
      ...(value['method'] === 'qris' && {
        payment_destination: qrisString(Number(value['notional_minor']), 'EXAMPLE'),
      }),
      ...('duration_ms' in value && { duration_ms: 42 }),
      ...nextOf(value),
    }
  }

  /** A cursor contains ids and times. */
  const nextOf = ({ next }: Json): Json => {
    const position: unknown =
      typeof next === 'string'
        ? JSON.parse(Buffer.from(next, 'base64url').toString('utf8'))
        : undefined
    return isJson(position) ? { next: encodeCursor(stableObject(position)) } : {}
  }

  return stableObject
}

/** How long the customers of each channel have, in ascending order. */
const LIVES_MS = [
  ...new Set(CHANNELS.flatMap(({ timings }) => timings.map(({ expiryMs }) => expiryMs))),
].toSorted((a, b) => a - b)

function expiryOf(
  { created_at: createdAt, expires_at: expiresAt }: Json,
  stableCreated: string,
): Json {
  if (typeof createdAt !== 'string' || typeof expiresAt !== 'string') return {}
  const leftMs = Date.parse(expiresAt) - Date.parse(createdAt)
  // On a slow machine `created_at` is many seconds later than the life's begin, before the request.
  const lifeMs = LIVES_MS.find((candidate) => candidate >= leftMs) ?? leftMs
  return { expires_at: timestampOf(Date.parse(stableCreated) + lifeMs) }
}
