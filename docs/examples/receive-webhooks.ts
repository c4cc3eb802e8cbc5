import { createHmac, timingSafeEqual } from 'node:crypto'
import type { PaymentEvent, SettlementEvent, WebhookEvent } from './webhook-events.ts'

/*
 * Receives the gateway's webhooks. Copy this file and webhook-events.ts; they have no dependencies.
 * It takes the raw bytes, checks the signatures before it parses them, and processes each event
 * once. webhook-servers.ts connects it to servers.
 */

export type * from './webhook-events.ts'

/** Why a request was refused: the code is for programs, the message for their developer. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused'
  readonly code: 'missing_header' | 'changed_body' | 'changed_headers' | 'wrong_secret' | 'too_old'

  constructor(code: WebhookRefused['code'], message: string) {
    super(message)
    this.code = code
  }
}

export type WebhookRequest = {
  /** Their names may be in upper or lower case. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The received bytes, or their text. A parsed body is refused. */
  readonly body: unknown
}

export type Receiver = {
  /**
   * The endpoint's signing secret. Give both secrets while you replace one endpoint with another.
   */
  readonly secrets: readonly string[]
  /**
   * Runs `work` unless it has already succeeded for this event, because a webhook may come more
   * than once. Best is one transaction that inserts the id and does the work. Roll it back if the
   * work throws.
   */
  readonly once: (eventId: string, work: () => Promise<void>) => Promise<void>
  /** Processes an event of a payment. Test events and unknown events are answered without it. */
  readonly handle: (event: PaymentEvent) => Promise<void>
  readonly handleSettlement?: (event: SettlementEvent) => Promise<void>
  /**
   * Gets every refusal, and every error of `once` and `handle`. Default: prints it to standard
   * error.
   */
  readonly report?: (error: unknown) => void
}

/** Answers one request. The gateway sends it again unless the answer is 2xx. */
export async function receiveWebhook(
  { secrets, once, handle, handleSettlement, report = print }: Receiver,
  request: WebhookRequest,
): Promise<{ readonly status: number; readonly body: string }> {
  try {
    const event = verifyWebhook(request, secrets)
    if (isPaymentEvent(event)) await once(event.event_id, () => handle(event))
    else if (handleSettlement && isSettlementEvent(event))
      await once(event.event_id, () => handleSettlement(event))
    return { status: 200, body: 'ok' }
  } catch (error) {
    report(error)
    if (error instanceof WebhookRefused)
      return { status: 401, body: `${error.code}: ${error.message}` }
    return { status: 500, body: 'not handled; send it again' }
  }
}

/** A refusal is one line without a stack, because strangers can cause many. */
function print(error: unknown): void {
  console.error(
    error instanceof WebhookRefused ? `webhook refused: ${error.code}: ${error.message}` : error,
  )
}

/**
 * Checks the signatures of a request with your secrets. Returns its event, or throws
 * `WebhookRefused`.
 */
export function verifyWebhook(
  { headers, body }: WebhookRequest,
  secrets: readonly string[],
  nowSeconds = Date.now() / 1_000,
): WebhookEvent {
  const header = (name: string) => headerOf(headers, name)
  const bytes = rawBytes(body)
  // The last header is the only signature with a time, and so the only one that stops a replay.
  for (const name of ['X-Gateway-Signature', 'webhook-signature']) {
    if (header(name.toLowerCase()) === undefined) {
      throw new WebhookRefused(
        'missing_header',
        `no ${name}: a proxy removed it, or the sender is not the gateway`,
      )
    }
  }
  const signature = header('x-gateway-signature') ?? ''
  // Anybody can sign with an empty secret.
  const known = secrets.filter((one) => one.trim() !== '')
  if (known.length === 0)
    throw new WebhookRefused('wrong_secret', 'no secret is set: take that of your endpoint')
  const secret = known.find((one) => isSame(signatureOf(one, bytes), signature))
  if (secret === undefined) throw diagnosed(bytes, signature, known, header('content-length'))
  const event: WebhookEvent = JSON.parse(bytes.toString('utf8'))
  const standard = {
    id: header('webhook-id') ?? '',
    seconds: header('webhook-timestamp') ?? '',
    signatures: header('webhook-signature') ?? '',
  }
  verifyStandard(standard, { secret, bytes, event, nowSeconds })
  return event
}

function headerOf(headers: WebhookRequest['headers'], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? []
  return typeof value === 'string' ? value : value?.[0]
}

function rawBytes(body: unknown): Buffer {
  if (typeof body === 'string') return Buffer.from(body, 'utf8')
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  throw new WebhookRefused('changed_body', 'the body was already parsed: pass its raw bytes')
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * The gateway's own signature: hex HMAC-SHA256 of the raw body, keyed with the whole secret,
 * `whsec_` included.
 */
function signatureOf(secret: string, bytes: Buffer): string {
  return createHmac('sha256', secret).update(bytes).digest('hex')
}

/** Finds the likely cause of a wrong signature: the common mistake that would explain it. */
function diagnosed(
  bytes: Buffer,
  signature: string,
  secrets: readonly string[],
  contentLength: string | undefined,
): WebhookRefused {
  const matches = (secret: string, body: Buffer) => isSame(signatureOf(secret, body), signature)
  const misspelt = secrets.some((secret) =>
    spellingsOf(secret).some((other) => matches(other, bytes)),
  )
  if (misspelt) {
    return new WebhookRefused(
      'wrong_secret',
      'take the whole secret, with whsec_ and without spaces or quotes',
    )
  }
  const compact = compacted(bytes.toString('utf8'))
  if (compact !== undefined && secrets.some((secret) => matches(secret, compact))) {
    return new WebhookRefused(
      'changed_body',
      'the secret is right, but the body was reformatted: take raw bytes',
    )
  }
  if (contentLength !== undefined && Number(contentLength) !== bytes.length) {
    const sizes = `Content-Length is ${contentLength}, but the body has ${bytes.length} bytes`
    return new WebhookRefused('changed_body', `${sizes}: a proxy or parser changed it`)
  }
  if (compact?.equals(bytes) !== true) {
    return new WebhookRefused(
      'changed_body',
      'not compact JSON: it was reformatted, or the gateway did not send it',
    )
  }
  return new WebhookRefused(
    'wrong_secret',
    'signed with another secret: check yours, or it is not from the gateway',
  )
}

function spellingsOf(secret: string): readonly string[] {
  const bare = secret.trim().replaceAll(/^["']|["']$/g, '')
  return [bare, `whsec_${bare}`]
}

/** Compact JSON, as the gateway writes it. Undefined if the text is not JSON. */
function compacted(text: string): Buffer | undefined {
  try {
    return Buffer.from(JSON.stringify(JSON.parse(text)), 'utf8')
  } catch {
    return undefined
  }
}

/** How far a signed timestamp may differ from this clock, as in Standard Webhooks. */
const TOLERANCE_SECONDS = 300

type StandardHeaders = {
  readonly id: string
  readonly seconds: string
  readonly signatures: string
}

type Signed = {
  readonly secret: string
  readonly bytes: Buffer
  readonly event: WebhookEvent
  readonly nowSeconds: number
}

/**
 * Checks the signature of Standard Webhooks. It also covers an id and the time, so that no request
 * can be replayed.
 */
function verifyStandard(
  { id, seconds, signatures }: StandardHeaders,
  { secret, bytes, event, nowSeconds }: Signed,
): void {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key)
    .update(`${id}.${seconds}.`)
    .update(bytes)
    .digest('base64')
  const isSigned = signatures.split(' ').some((one) => isSame(one, `v1,${expected}`))
  if (!isSigned || id !== event.event_id) {
    throw new WebhookRefused(
      'changed_headers',
      'the webhook-* headers do not fit the body: a proxy or a stranger changed them',
    )
  }
  const age = Math.round(nowSeconds - Number(seconds))
  if (!(Math.abs(age) <= TOLERANCE_SECONDS)) {
    throw new WebhookRefused(
      'too_old',
      `signed ${age} seconds ago: set this server's clock, or it is a replay`,
    )
  }
}

function isPaymentEvent(event: WebhookEvent): event is PaymentEvent {
  return event.event.startsWith('payment.')
}

function isSettlementEvent(event: WebhookEvent): event is SettlementEvent {
  return event.event.startsWith('settlement.')
}

const REMEMBERED = 10_000

/**
 * `once` for experiments: it loses the ids when the process ends. In production, store them in your
 * database.
 */
export function onceInMemory(): Receiver['once'] {
  const works = new Map<string, Promise<void>>()
  return async (eventId, work) => {
    const running = works.get(eventId) ?? work()
    works.set(eventId, running)
    const [oldest] = works.keys()
    if (works.size > REMEMBERED && oldest !== undefined) works.delete(oldest)
    try {
      await running
    } catch (error) {
      // Another call may have started the work again. That one stays.
      if (works.get(eventId) === running) works.delete(eventId)
      throw error
    }
  }
}
