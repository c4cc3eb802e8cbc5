/*
 * Goal: whatever stands between gateway and provider may misbehave, and no customer is shown two
 * destinations, no money is credited twice, and none is lost. Method: the real adapter speaks over
 * sockets with a proxy that spoils one answer in one way, before or after the provider's effect.
 * `verdicts.json` names the ways of each outcome. `npm test` plays a sample, `npm run drill` all.
 */

import { createServer, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { syncProviderTransactions } from '../../shared/sync/sync-run.ts'
import { API, aPaymentBody, CALLBACK, CALLBACK_TOKEN, call } from '../support/api-event.ts'
import {
  listen,
  selfSignedCertificate,
  startTcpServer,
  startTlsServer,
} from '../support/https-servers.ts'
import { sampleOf } from '../support/runs.ts'
import { ANSWER_FORMS } from './answer-forms.ts'
import { CALLBACK_WAYS } from './callback-ways.ts'
import { createDrillWorld, type DrillWorld } from './drill-world.ts'
import VERDICTS from './verdicts.json' with { type: 'json' }

const KEY = { 'idempotency-key': 'drill-1' }
const BODIES = {
  DANA: aPaymentBody({ method: 'ewallet', channel_code: 'DANA' }),
  OVO: aPaymentBody({
    method: 'ewallet',
    channel_code: 'OVO',
    customer: { phone: '+6281234567890' },
  }),
}
type DrillChannel = keyof typeof BODIES

function createOnce({ deps, caller }: DrillWorld, channel: DrillChannel) {
  return call(deps, API.createPayment, { caller, headers: KEY, body: BODIES[channel] })
}

/** Makes a second payment, so that the proxy keeps an answer about a payment that is not ours. */
async function keptCreate(world: DrillWorld, channel: DrillChannel) {
  const { caller, deps, core } = world
  await call(deps, API.createPayment, { caller, body: BODIES[channel] })
  return { status: 201, body: core.storedRequests().at(-1)?.request }
}

/** How many requests of the payment can be paid now. `others`: made before it. */
function payable({ core }: DrillWorld, others: number) {
  return core
    .storedRequests()
    .slice(others)
    .filter(({ request }) => ['REQUIRES_ACTION', 'PENDING'].includes(request.status))
}

const TRIES = 3
const APART_MS = 70_000

/** The merchant repeats the create until it is answered; leases and pauses end meanwhile. */
async function repeatCreate(world: DrillWorld, channel: DrillChannel) {
  let answer = await createOnce(world, channel)
  for (let tries = 1; tries < TRIES && answer.status >= 400; tries++) {
    await world.clock.runFor(APART_MS)
    answer = await createOnce(world, channel)
  }
  return answer
}

/** Customers pay everything that can be paid. Callbacks are sent at once. */
async function payEverything(world: DrillWorld, others: number) {
  const requests = payable(world, others)
  for (const { id } of requests) world.core.simulatePayment(id)
  await world.clock.runFor(1)
  await Promise.all(world.state.sent)
  return requests.length
}

/** Payments that were credited, and captures that are held for an operator. */
function creditedAndHeld({ outside }: DrillWorld) {
  const credited = outside.stored
    .items('PAYMENT#')
    .filter(({ status }) => status === 'succeeded').length
  const held = outside.stored
    .items('SUSPENSE#')
    .filter(({ kind, status }) => kind === 'money' && status === 'open').length
  return `${credited} credited, ${held} held`
}

async function syncAfter({ deps, clock }: DrillWorld, minutes: number) {
  await clock.runFor(minutes * 60_000)
  await syncProviderTransactions(deps)
}

const FORMS = Object.keys(ANSWER_FORMS)
const WHENS = ['before', 'after'] as const

function expectVerdict(name: string, verdict: string) {
  const known = Object.entries(VERDICTS.ways).find(([, names]) => names.includes(name))
  expect(`${name}: ${verdict}`).toBe(`${name}: ${known?.[0]}`)
}

/** What the gateway answers, how many payable requests stand upstream, what is credited. */
async function createVerdict(
  world: Awaited<ReturnType<typeof createDrillWorld>>,
  channel: DrillChannel,
  others: number,
  heal: () => void,
) {
  const first = await createOnce(world, channel)
  heal()
  const standing = payable(world, others).length
  await world.clock.runFor(1_000)
  const soon = await createOnce(world, channel)
  const beside = payable(world, others).length
  const last = await repeatCreate(world, channel)
  const shown = new Set(
    [first, soon, last].flatMap(({ body }) => body['payment_destination'] ?? []),
  )
  expect(shown.size).toBeLessThanOrEqual(1)
  expect(last.status).toBeLessThan(300)
  const paid = await payEverything(world, others)
  await syncAfter(world, 10)
  return `${first.status} with ${standing} payable, a second later ${soon.status} with ${beside}; ${paid} paid: ${creditedAndHeld(world)}`
}

const CREATES = (['DANA', 'OVO'] as const).flatMap((channel) =>
  FORMS.flatMap((form) => WHENS.map((when) => [channel, form, when] as const)),
)
it.each(sampleOf(CREATES, 7))(
  'a create by %s survives: %s, %s the effect',
  async (channel, form, when) => {
    const world = await createDrillWorld()
    const kept = await keptCreate(world, channel)
    world.state.spoiling = { operation: 'POST /v3/payment_requests', form, when, kept }

    const verdict = await createVerdict(world, channel, 1, () => {
      world.state.spoiling = undefined
    })

    expectVerdict(`create ${channel}, ${form}, ${when}`, verdict)
  },
)

const CONNECTIONS: Readonly<Record<string, () => Promise<string>>> = {
  'a name that nobody knows': async () => 'https://provider.invalid',
  'a refused port': async () => {
    const server = createServer()
    const port = await listen(server)
    server.close()
    return `https://127.0.0.1:${port}`
  },
  'closed in the handshake': () => atTcp((socket) => socket.destroy()),
  'a silent handshake': () => atTcp(() => undefined),
  'no TLS': () => atTcp((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
  'a certificate of nobody': async () =>
    `https://127.0.0.1:${await startTlsServer(selfSignedCertificate('127.0.0.1'), () => undefined)}`,
}

async function atTcp(behave: (socket: Socket) => unknown) {
  return `https://127.0.0.1:${await startTcpServer((socket) => void behave(socket))}`
}

it.each(sampleOf(Object.keys(CONNECTIONS), 7))('a create survives: %s', async (name) => {
  const world = await createDrillWorld({ baseUrl: (await CONNECTIONS[name]?.()) ?? '' })

  const verdict = await createVerdict(world, 'DANA', 0, () => {
    world.state.baseUrl = undefined
  })

  expectVerdict(`connection, ${name}`, verdict)
})

const CANCEL_FORMS = [
  'closed without an answer',
  'silence',
  'half the body with its own length',
  'HTML 403',
  '500 SERVER_ERROR',
]
const CANCELS = CANCEL_FORMS.flatMap((form) => WHENS.map((when) => [form, when] as const))
it.each(sampleOf(CANCELS, 7))('a cancel survives: %s, %s the effect', async (form, when) => {
  const world = await createDrillWorld()
  const other = await keptCreate(world, 'DANA')
  const { id } = (await createOnce(world, 'DANA')).body
  const cancel = () => call(world.deps, API.cancelPayment, { caller: world.caller, id: String(id) })
  const kept = { status: 200, body: { ...other.body, status: 'CANCELED' } }
  world.state.spoiling = { operation: '/cancel', form, when, kept }

  const first = await cancel()
  world.state.spoiling = undefined
  const standing = payable(world, 1).length
  await world.clock.runFor(1_000)
  const again = await cancel()

  const [ended] = [payable(world, 1).length]
  const shown = await call(world.deps, API.getPayment, { caller: world.caller, id: String(id) })
  expectVerdict(
    `cancel, ${form}, ${when}`,
    `${first.status} with ${standing} payable, again ${again.status} with ${ended}: ${String(shown.body['status'])}`,
  )
})

/** A list has no effect, so it is spoilt once. */
const LIST_FORMS = FORMS.filter(
  (form) =>
    !/^(half the body, then|an empty 201|a 204|HTML 404|HTML 502|JSON 400|409|503|429 of|a header|a body)/.test(
      form,
    ),
)
it.each(sampleOf(LIST_FORMS, 7))(
  'money whose callback was lost is found after: %s',
  async (form) => {
    const world = await createDrillWorld()
    await syncAfter(world, 0)
    await createOnce(world, 'DANA')
    world.state.isHeard = false
    await payEverything(world, 0)
    world.state.spoiling = { operation: 'GET /transactions', form, when: 'after' }

    await syncAfter(world, 5)
    const spoilt = creditedAndHeld(world)
    world.state.spoiling = undefined
    for (const minutes of [5, 5, 5]) await syncAfter(world, minutes)

    expectVerdict(`list, ${form}`, `${spoilt}; then ${creditedAndHeld(world)}`)
  },
)

it.each(sampleOf(Object.keys(CALLBACK_WAYS), 7))('a callback survives: %s', async (name) => {
  const world = await createDrillWorld()
  await createOnce(world, 'DANA')
  world.state.isHeard = false
  await payEverything(world, 0)
  const genuine = world.state.callbacks.at(-1) ?? ''
  const post = (
    body: string | Buffer,
    headers: Readonly<Record<string, string>>,
    asBase64 = false,
  ) => call(world.deps, CALLBACK, { body, headers, asBase64 })

  const statuses: number[] = []
  for (const answer of (await CALLBACK_WAYS[name]?.(post, genuine)) ?? [])
    statuses.push(answer.status)
  const spoilt = creditedAndHeld(world)
  await post(genuine, { 'x-callback-token': CALLBACK_TOKEN })
  await syncAfter(world, 10)

  expectVerdict(
    `callback, ${name}`,
    `${[...new Set(statuses)].join(' ')}: ${spoilt}; then ${creditedAndHeld(world)}`,
  )
})
