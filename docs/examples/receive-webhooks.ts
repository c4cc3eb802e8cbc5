import { createHmac, timingSafeEqual } from 'node:crypto'

/*
 * Receives the gateway's webhooks: one file without dependencies, to be copied. It takes the raw bytes, checks the
 * signatures before anything is parsed, and works once for each event. webhook-servers.ts has the servers.
 */

/** The fields of a payment that this file knows. There may be more: ignore what you do not use. */
export type PaymentData = {
  readonly id: string
  readonly status: 'succeeded' | 'failed' | 'expired'
  readonly external_reference?: string
  readonly notional_minor: number
  readonly xendit_fee_minor: number
  readonly hexolus_markup_minor: number
  readonly client_net_minor: number
  readonly fee_status: 'estimated' | 'actual' | 'assumed'
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly paid_at?: string
}

type Told = { readonly event_id: string; readonly timestamp: string }

type StatusEvent = Told & {
  readonly event: 'payment.succeeded' | 'payment.failed' | 'payment.expired'
  readonly data: PaymentData
}

/** Money of a succeeded payment was taken back, or returned after a dispute was won. Sent only to endpoints that name this event. */
type ReversedEvent = Told & {
  readonly event: 'payment.reversed'
  readonly data: PaymentData & {
    readonly type: 'refund' | 'chargeback' | 'reversal' | 'dispute_won'
    readonly amount_minor: number
    readonly taken_back_minor: number
  }
}

export type PaymentEvent = StatusEvent | ReversedEvent

/** The operator tests the endpoint. No payment belongs to it. */
export type TestEvent = Told & {
  readonly event: 'gateway.test'
  readonly data: { readonly client_id: string; readonly endpoint_id: string }
}

export type WebhookEvent = PaymentEvent | TestEvent

/** Why a request was refused. The code is for programs, the message for the developer of the receiver. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused'
  readonly code: 'missing_header' | 'changed_body' | 'changed_headers' | 'wrong_secret' | 'too_old'

  constructor(code: WebhookRefused['code'], message: string) {
    super(message)
    this.code = code
  }
}

export type WebhookRequest = {
  /** In upper or lower case. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The received bytes, or their text. A parsed body is refused. */
  readonly body: unknown
}

export type Receiver = {
  /** The endpoint's signing secret; several while you move from one endpoint to another. */
  readonly secrets: readonly string[]
  /**
   * Runs `work` unless it has already succeeded for this event: webhooks come at least once. Best is one transaction
   * that inserts the id, does the work, and is rolled back when the work throws.
   */
  readonly once: (eventId: string, work: () => Promise<void>) => Promise<void>
  /** Gets events of payments. Tests and events of unknown types are answered without it. */
  readonly handle: (event: PaymentEvent) => Promise<void>
  /** Gets refusals and what `handle` threw. Without it they go to standard error. */
  readonly report?: (error: unknown) => void
}

/** Answers one request. The gateway sends it again unless the answer is 2xx. */
export const receiveWebhook = async (
  { secrets, once, handle, report = print }: Receiver,
  request: WebhookRequest,
): Promise<{ readonly status: number; readonly body: string }> => {
  try {
    const event = verifyWebhook(request, secrets)
    if (isOfPayment(event)) await once(event.event_id, () => handle(event))
    return { status: 200, body: 'ok' }
  } catch (error) {
    report(error)
    if (error instanceof WebhookRefused) return { status: 401, body: `${error.code}: ${error.message}` }
    return { status: 500, body: 'not handled; send it again' }
  }
}

const isOfPayment = (event: WebhookEvent): event is PaymentEvent => event.event.startsWith('payment.')

/** What strangers send is a line and no stack. */
const print = (error: unknown): void =>
  console.error(error instanceof WebhookRefused ? `webhook refused: ${error.code}: ${error.message}` : error)

/** For how long a signed timestamp is good, into the past and the future, as Standard Webhooks has it. */
const TOLERANCE_SECONDS = 300

/** Checks a request against your secrets; answers its event, or throws `WebhookRefused`. */
export const verifyWebhook = (
  { headers, body }: WebhookRequest,
  secrets: readonly string[],
  nowSeconds = Date.now() / 1_000,
): WebhookEvent => {
  const header = (name: string) => headerOf(headers, name)
  const bytes = rawBytes(body)
  const signature = header('x-gateway-signature')
  if (signature === undefined) {
    throw new WebhookRefused('missing_header', 'no X-Gateway-Signature: not from the gateway, or a proxy took it off')
  }
  const secret = secrets.find((one) => isSame(signatureOf(one, bytes), signature))
  if (secret === undefined) throw whyNot(bytes, signature, secrets, header('content-length'))
  const event: WebhookEvent = JSON.parse(bytes.toString('utf8'))
  const signatures = header('webhook-signature')
  if (signatures !== undefined) {
    const stamped = { id: header('webhook-id') ?? '', seconds: header('webhook-timestamp') ?? '', signatures }
    verifyStandard(stamped, { secret, bytes, event, nowSeconds })
  }
  return event
}

/** Spec of the gateway: hex HMAC-SHA256 of the raw body, keyed with the secret's whole text, `whsec_` included. */
const signatureOf = (secret: string, bytes: Buffer): string => createHmac('sha256', secret).update(bytes).digest('hex')

const isSame = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

type Stamped = { readonly id: string; readonly seconds: string; readonly signatures: string }

type Signed = {
  readonly secret: string
  readonly bytes: Buffer
  readonly event: WebhookEvent
  readonly nowSeconds: number
}

/** Standard Webhooks: the same bytes once more, with an id and the time of this attempt, so that none can be replayed. */
const verifyStandard = ({ id, seconds, signatures }: Stamped, { secret, bytes, event, nowSeconds }: Signed): void => {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${seconds}.`).update(bytes).digest('base64')
  const isSigned = signatures.split(' ').some((one) => isSame(one, `v1,${expected}`))
  if (!isSigned || id !== event.event_id) {
    throw new WebhookRefused('changed_headers', 'the webhook- headers were not signed together with this body')
  }
  const age = Math.round(nowSeconds - Number(seconds))
  if (!(Math.abs(age) <= TOLERANCE_SECONDS)) {
    throw new WebhookRefused('too_old', `signed ${age} seconds ago by this clock: sent again by a stranger, or set it`)
  }
}

const rawBytes = (body: unknown): Buffer => {
  if (typeof body === 'string') return Buffer.from(body, 'utf8')
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  throw new WebhookRefused('changed_body', 'the body was parsed before it came here: take its raw bytes')
}

const headerOf = (headers: WebhookRequest['headers'], name: string): string | undefined => {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? []
  return typeof value === 'string' ? value : value?.[0]
}

/** A signature that does not match is no proof of what is wrong; which change would make it match often is. */
const whyNot = (
  bytes: Buffer,
  signature: string,
  secrets: readonly string[],
  contentLength: string | undefined,
): WebhookRefused => {
  const matches = (secret: string, body: Buffer) => isSame(signatureOf(secret, body), signature)
  const misspelt = secrets.some((secret) => spellingsOf(secret).some((other) => matches(other, bytes)))
  if (misspelt) {
    return new WebhookRefused('wrong_secret', 'the key is the whole text of the secret: whsec_ and no space or quote')
  }
  const compact = compacted(bytes.toString('utf8'))
  if (compact !== undefined && secrets.some((secret) => matches(secret, compact))) {
    return new WebhookRefused('changed_body', 'the secret is right, but the body was parsed and written anew')
  }
  if (contentLength !== undefined && Number(contentLength) !== bytes.length) {
    const came = `Content-Length says ${contentLength} bytes and here are ${bytes.length}`
    return new WebhookRefused('changed_body', `${came}: the body was changed on its way`)
  }
  if (compact?.equals(bytes) !== true) {
    return new WebhookRefused(
      'changed_body',
      'the gateway writes no such JSON: it was written anew, or is a stranger’s',
    )
  }
  return new WebhookRefused('wrong_secret', 'signed with a secret that is not among yours, or not by the gateway')
}

const spellingsOf = (secret: string): readonly string[] => {
  const bare = secret.trim().replaceAll(/^["']|["']$/g, '')
  return [bare, `whsec_${bare}`]
}

/** JSON as the gateway writes it; undefined when it is none. */
const compacted = (text: string): Buffer | undefined => {
  try {
    return Buffer.from(JSON.stringify(JSON.parse(text)), 'utf8')
  } catch {
    return undefined
  }
}

const REMEMBERED = 10_000

/** `once` for trying things out: it forgets when the process ends. Keep the ids in your database instead. */
export const onceInMemory = (): Receiver['once'] => {
  const works = new Map<string, Promise<void>>()
  return async (eventId, work) => {
    const begun = works.get(eventId) ?? work()
    works.set(eventId, begun)
    const [oldest] = works.keys()
    if (works.size > REMEMBERED && oldest !== undefined) works.delete(oldest)
    try {
      await begun
    } catch (error) {
      // Not the one that was begun anew meanwhile.
      if (works.get(eventId) === begun) works.delete(eventId)
      throw error
    }
  }
}
