import { execFileSync } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import * as v from 'valibot'
import { expect, it, vi } from 'vitest'
import {
  onceInMemory,
  type PaymentEvent,
  type Receiver,
  receiveWebhook,
  type SettlementEvent,
  verifyWebhook,
  type WebhookRefused,
} from '../../../docs/examples/receive-webhooks.ts'
import { forNode } from '../../../docs/examples/webhook-servers.ts'
import { EVENT_TYPES, envelopeBody } from '../../../shared/event/event.ts'
import { DeliveryIdSchema, EventIdSchema } from '../../../shared/ids.ts'
import { PAYMENT_STATUSES } from '../../../shared/payment-status.ts'
import { timestampOf } from '../../../shared/time.ts'
import { signatureOf, webhookHeaders } from '../../../shared/webhook/send/webhook-headers.ts'

/*
 * Goal: the code that merchants copy accepts only what the gateway sends, and names each usual
 * mistake. Method: the gateway's bytes and signature, with one change at a time; the tests of the
 * documents send the real POSTs. Code that shares nothing with the gateway checks the gateway's
 * headers.
 */

/** A secret with each of the characters in which base64 and base64url differ. */
const SECRET = `whsec_${'+/v7'.repeat(10)}+/s=`
const EVENT_ID = '01989f6e-0000-7000-8000-000000000001'
const NOW_SECONDS = 1_795_222_800

const BODY = envelopeBody('payment.succeeded', EVENT_ID, timestampOf(Date.UTC(2026, 10, 21, 1)), {
  id: '01989f6e-0000-8000-8000-000000000002',
  description: 'kopi — ☕ / "teh"',
  metadata: { b: 1, a: [2] },
})

/** The compiler compares these names with the types that merchants copy. */
const TYPED_EVENTS: Readonly<Record<(PaymentEvent | SettlementEvent)['event'], true>> = {
  'payment.succeeded': true,
  'payment.failed': true,
  'payment.expired': true,
  'payment.reversed': true,
  'payment.disputed': true,
  'payment.held': true,
  'settlement.recorded': true,
  'settlement.paid': true,
  'settlement.failed': true,
}

const HELD_STATUSES: Readonly<
  Record<
    Extract<PaymentEvent, { event: 'payment.held' | 'payment.disputed' }>['data']['status'],
    true
  >
> = { pending: true, succeeded: true, failed: true, expired: true, cancelled: true }

it('the types of events have every event, and of payment.held every status of a payment', () => {
  expect(Object.keys(TYPED_EVENTS)).toStrictEqual([...EVENT_TYPES])
  expect(Object.keys(HELD_STATUSES)).toStrictEqual([...PAYMENT_STATUSES])
})

function standardOf(secret: string, body: string, seconds = NOW_SECONDS, id = EVENT_ID) {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`,
  }
}

function headersOf(body = BODY, secret = SECRET, seconds = NOW_SECONDS) {
  return {
    'content-length': String(Buffer.byteLength(body)),
    'X-Gateway-Signature': signatureOf(secret, Buffer.from(body)),
    ...standardOf(secret, body, seconds),
  }
}

function verdict(
  headers: Readonly<Record<string, string>>,
  body: unknown,
  secrets: readonly string[] = [SECRET],
) {
  try {
    return verifyWebhook({ headers, body }, secrets, NOW_SECONDS).event_id
  } catch (error) {
    return (error as WebhookRefused).code
  }
}

function omit(headers: Readonly<Record<string, string>>, name: string) {
  return Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name))
}

const OTHER_SECRET = `whsec_${randomBytes(32).toString('base64')}`
const parsedBody: unknown = JSON.parse(BODY)

it.each<[string, string, ...Parameters<typeof verdict>]>([
  ['the bytes as they came', EVENT_ID, headersOf(), Buffer.from(BODY)],
  ['their text', EVENT_ID, headersOf(), BODY],
  ['a secret that is not set', 'wrong_secret', headersOf(BODY, ''), BODY, ['']],
  ['a second secret, as in an exchange', EVENT_ID, headersOf(), BODY, [OTHER_SECRET, SECRET]],
  [
    'a captured delivery without its signed time',
    'missing_header',
    { 'X-Gateway-Signature': headersOf()['X-Gateway-Signature'] },
    BODY,
  ],
  ['no signed time', 'missing_header', omit(headersOf(), 'webhook-signature'), BODY],
  [
    'one of several standard signatures',
    EVENT_ID,
    { ...headersOf(), 'webhook-signature': `v1,x ${headersOf()['webhook-signature']} v1a,y` },
    BODY,
  ],
  ['a timestamp five minutes old', EVENT_ID, headersOf(BODY, SECRET, NOW_SECONDS - 300), BODY],
  ['no signature', 'missing_header', omit(headersOf(), 'X-Gateway-Signature'), BODY],
  ['another secret', 'wrong_secret', headersOf(BODY, OTHER_SECRET), BODY],
  ['the right secret with a line end', 'wrong_secret', headersOf(), BODY, [`${SECRET}\n`]],
  ['the right secret without whsec_', 'wrong_secret', headersOf(), BODY, [SECRET.slice(6)]],
  ['a body that was parsed', 'changed_body', headersOf(), parsedBody],
  [
    'a body that was parsed and written with spaces',
    'changed_body',
    headersOf(),
    JSON.stringify(parsedBody, null, 1),
  ],
  ['a body cut short', 'changed_body', headersOf(), BODY.slice(0, -1)],
  ['one letter changed', 'wrong_secret', headersOf(), BODY.replace('teh', 'the')],
  [
    'a later timestamp put in',
    'changed_headers',
    { ...headersOf(), 'webhook-timestamp': String(NOW_SECONDS + 1) },
    BODY,
  ],
  [
    'an id that is signed and not the event’s',
    'changed_headers',
    { ...headersOf(), ...standardOf(SECRET, BODY, NOW_SECONDS, 'evt') },
    BODY,
  ],
  ['a timestamp taken off', 'changed_headers', omit(headersOf(), 'webhook-timestamp'), BODY],
  ['a timestamp too old', 'too_old', headersOf(BODY, SECRET, NOW_SECONDS - 301), BODY],
  ['a timestamp too far ahead', 'too_old', headersOf(BODY, SECRET, NOW_SECONDS + 301), BODY],
  ['a timestamp that is no number', 'too_old', headersOf(BODY, SECRET, Number.NaN), BODY],
])('verifyWebhook, which merchants copy: %s: %s', (_, expected, headers, body, secrets) => {
  expect(verdict(headers, body, secrets)).toBe(expected)
})

function aReceiver(fails = 0) {
  const handledIds: string[] = []
  const errors: unknown[] = []
  let failuresLeft = fails
  const handle = async ({ event_id: id }: PaymentEvent) => {
    await Promise.resolve()
    if (failuresLeft-- > 0) throw new Error('the database is away')
    handledIds.push(id)
  }
  const report = (error: unknown) => void errors.push(error)
  const receiver: Receiver = { secrets: [SECRET], once: onceInMemory(), handle, report }
  return { receiver, handledIds, errors }
}

it('receiveWebhook handles an event once that comes several times, at once and later, also after work that failed', async () => {
  const { receiver, handledIds, errors } = aReceiver(1)
  const request = { headers: headersOf(BODY, SECRET, Math.floor(Date.now() / 1_000)), body: BODY }

  const failure = await receiveWebhook(receiver, request)
  const concurrent = await Promise.all(
    Array.from({ length: 4 }, () => receiveWebhook(receiver, request)),
  )
  const repeat = await receiveWebhook(receiver, request)

  expect([failure, ...concurrent, repeat].map(({ status }) => status)).toStrictEqual([
    500, 200, 200, 200, 200, 200,
  ])
  expect(handledIds).toStrictEqual([EVENT_ID])
  expect(errors).toStrictEqual([new Error('the database is away')])
})

it.each([
  ['stops reading after 256 KB', endless, 'writeHead', [413, { connection: 'close' }], 1],
  ['survives a request that its sender breaks off', brokenOff, 'destroy', [], 0],
] as const)('the receiver in a server %s', async (_, bodyOf, method, given, ends) => {
  const { receiver, handledIds } = aReceiver()
  const called = vi.fn((): unknown => response)
  const response = { [method]: called, end: vi.fn() }
  const request = Object.assign(bodyOf(), { headers: {} })

  await forNode(receiver)(request as never, response as never)

  expect(called).toHaveBeenCalledExactlyOnceWith(...given)
  expect(response.end).toHaveBeenCalledTimes(ends)
  expect(handledIds).toStrictEqual([])
})

async function* brokenOff() {
  yield Buffer.from('{"event"')
  throw new Error('aborted')
}

async function* endless() {
  for (;;) yield Buffer.alloc(65_536)
}

it('the gateway’s headers verify with Standard Webhooks, beside those of the specification (6.2, 6.3)', () => {
  const [body, hexKey] = [Buffer.from(BODY), `hexkey:${Buffer.from(SECRET).toString('hex')}`]
  const deliveryId = v.parse(DeliveryIdSchema, '2f1d3c1c-5b7e-4f6f-8f37-1f0a6f8b9c2d')
  const event = {
    eventName: 'payment.held#id#open',
    eventId: v.parse(EventIdSchema, EVENT_ID),
    deliveryId,
  }
  const headersAt = (sentAtMs: number) =>
    webhookHeaders(event, { body, signingSecret: SECRET, sentAtMs })
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')

  for (const library of [new Webhook(SECRET), new Webhook(key, { format: 'raw' })]) {
    expect(library.verify(body, headersAt(Date.now()))).toStrictEqual(parsedBody)
  }
  // The key of the specification is the whole text of the secret.
  const openssl = execFileSync('openssl', ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', hexKey], {
    input: body,
  })
  expect(headersAt(1_700_000_000_999)).toStrictEqual({
    'Content-Type': 'application/json',
    'X-Gateway-Event': 'payment.held',
    'X-Gateway-Signature': openssl.toString().trim().split(' ').at(-1),
    'X-Gateway-Delivery-Id': deliveryId,
    'webhook-id': EVENT_ID,
    'webhook-timestamp': '1700000000',
    'webhook-signature': headersAt(1_700_000_000_000)['webhook-signature'],
  })
})
