import { createHmac, timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'
import type { LocalClock } from '../process/local-clock.ts'
import {
  jsonReply,
  type LocalAnswer,
  type LocalPort,
  type LocalRequest,
  parsedJson,
  startLocalHttpServer,
} from '../process/local-http-server.ts'

const KEPT_DELIVERIES = 10_000

const Behaviour = v.strictObject({
  status: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(200), v.maxValue(599)), 200),
  delay_ms: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(600_000)), 0),
  hang: v.optional(v.boolean(), false),
  close: v.optional(v.boolean(), false),
  times: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
})

type Behaviour = v.InferOutput<typeof Behaviour>

const GOOD_BEHAVIOUR: Behaviour = v.parse(Behaviour, {})

export type InboxSecrets = {
  ofDemo(): string | undefined
  ofDelivery(deliveryId: string): Promise<string | undefined>
}

/**
 * A sample merchant's endpoint. `POST /hooks` records deliveries. `GET /received` shows the last
 * 10,000, `DELETE /received` deletes them. `POST /behaviour` sets the answer of the next `times`
 * deliveries (default: all).
 */
export async function startWebhookInbox(
  options: LocalPort & { readonly secrets: InboxSecrets; readonly clock: LocalClock },
) {
  let behaviour = GOOD_BEHAVIOUR
  let received: object[] = []

  const receive = async (request: LocalRequest): Promise<LocalAnswer> => {
    const isOwn = isSignatureValid(request, options.secrets.ofDemo())
    const deliveryId = String(request.headers['x-gateway-delivery-id'])
    const isValid =
      isOwn || (isSignatureValid(request, await options.secrets.ofDelivery(deliveryId)) ?? isOwn)
    received.push({
      at: new Date(options.clock.nowMs()).toISOString(),
      headers: request.headers,
      body: request.body.toString('utf8'),
      // Null if the inbox has no secret.
      signature_valid: isValid,
    })
    if (received.length > KEPT_DELIVERIES) received.shift()
    const { times, ...settings } = behaviour
    if (times !== undefined)
      behaviour = times > 1 ? { ...settings, times: times - 1 } : GOOD_BEHAVIOUR
    return answerOf(settings)
  }

  const setBehaviour = (request: LocalRequest): LocalAnswer => {
    const sent = parsedJson(request.body)
    // Valibot takes a list for an object.
    const order = v.safeParse(Behaviour, Array.isArray(sent) ? undefined : sent)
    if (!order.success) return jsonReply(400, { message: v.flatten(order.issues) })
    behaviour = order.output
    return jsonReply(200, behaviour)
  }

  const answer = (request: LocalRequest) => {
    switch (`${request.method} ${request.path}`) {
      case 'POST /hooks':
        return receive(request)
      case 'GET /received':
        return jsonReply(200, received)
      case 'DELETE /received':
        received = []
        return jsonReply(200, received)
      case 'POST /behaviour':
        return setBehaviour(request)
      default:
        return jsonReply(404, { message: `no ${request.method} ${request.path} in the inbox` })
    }
  }

  return startLocalHttpServer({ port: options.port, family: options.family, answer })
}

/** As a merchant should: HMAC-SHA256 over the raw bytes, compared in constant time (spec 6.3). */
function isSignatureValid(request: LocalRequest, secret: string | undefined) {
  if (secret === undefined) return null
  const expected = createHmac('sha256', secret).update(request.body).digest('hex')
  const signature = Buffer.from(String(request.headers['x-gateway-signature'] ?? ''))
  return signature.length === expected.length && timingSafeEqual(signature, Buffer.from(expected))
}

function answerOf({
  status,
  delay_ms: delayMs,
  hang,
  close,
}: Omit<Behaviour, 'times'>): LocalAnswer {
  if (hang) return { hang: true }
  if (close) return { close: true, delayMs }
  // With a target, the sender may wrongly follow the redirect.
  const headers: Record<string, string> =
    status >= 300 && status < 400 ? { location: '/hooks' } : {}
  // The gateway keeps this answer, so it has no line break for a terminal.
  const body = JSON.stringify({ received: status < 300 })
  return { status, headers: { 'content-type': 'application/json', ...headers }, body, delayMs }
}
