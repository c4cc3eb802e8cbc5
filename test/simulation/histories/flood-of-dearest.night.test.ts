/**
 * Goal: a client at four times its limit gets at most a fifth more than the limit, pays for every
 * unit, and slows no other client. Method: the whole gateway on the simulation's clock, where each
 * environment has its own processor. The client has 1,000 large payments and sends its dearest
 * requests forty at once. Neighbours create, read and let payments expire at a steady rate, once
 * beside the flood and once without. Nothing here depends on the machine: the same seed gives the
 * same times.
 */
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { memoryRequests } from '../../../infra/local/emulators/memory-table/memory-requests.ts'
import { chunks } from '../../../shared/chunks.ts'
import { requireClient } from '../../../shared/client/client-store.ts'
import { pointsOf } from '../../../shared/client/enforce-rate-limit.ts'
import { addMs, MINUTE_MS, SECOND_MS, timestampOf } from '../../../shared/time.ts'
import { meterTable } from '../../bench/meter-table.ts'
import { storeOpen, succeededPayment } from '../../support/paid-builders.ts'
import { testDeps } from '../../support/test-deps.ts'
import { type HttpRequest, requestAs } from '../world/lambda.ts'
import { rowsOf } from '../world/rows.ts'
import { addTenant, type Tenant } from '../world/tenants.ts'
import { runUntil, type World, waitFor, waitUntil } from '../world/world.ts'
import { startPlay } from './history.ts'

const LIMIT = 4
/**
 * Four calls a second. The flood's creates that pass use a quarter of them, the neighbours' creates
 * half.
 */
const CALLS_PER_MINUTE = 240
const LOAD_SECONDS = 60
const GETS_PER_CREATE = 4
/** By then every payment of a minute has expired and is announced. */
const REST_MS = 3 * MINUTE_MS
const OF_REFERENCE = 200
const FAT_PAYMENTS = 1_000
const AT_ONCE = 40
const REFERENCE = 'dear'

const UNPAID = { method: 'qris', amount: 10_000, currency: 'IDR', expires_in_seconds: 60 }
const FAT = {
  ...UNPAID,
  external_reference: REFERENCE,
  description: '字'.repeat(1_000),
  metadata: { note: incompressible(16 * 1_024 - 11) },
}

/** Stored texts are deflated, and random text does not deflate well. */
function incompressible(bytes: number) {
  return randomBytes(bytes).toString('base64').slice(0, bytes)
}

function bodyOf(key: string, body: object): HttpRequest {
  return { headers: { 'idempotency-key': key }, body: JSON.stringify(body) }
}

function p99(times: readonly number[]) {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN
}

/**
 * The most expensive requests. Each kind has its own part of the minute: the debt of a list would
 * refuse all creates.
 */
function dearest(
  deliveries: readonly string[],
): readonly ((number: number) => readonly [string, HttpRequest])[] {
  return [
    (number) => ['api-create-payment', bodyOf(`flood-${number}`, FAT)],
    (number) => ['api-redeliver-webhook', { id: deliveries[number % deliveries.length] ?? '' }],
    () => ['api-list-payments', { query: { per_page: '100', page: String(FAT_PAYMENTS / 100) } }],
    () => ['api-list-payments', { query: { external_reference: REFERENCE, per_page: '100' } }],
  ]
}

/** Of each kind of request: how many were served, and the read units of the table meanwhile. */
async function flood(
  world: World,
  tenant: Tenant,
  deliveries: readonly string[],
  meter: ReturnType<typeof meterTable>,
) {
  const kinds = dearest(deliveries)
  const results = kinds.map(() => ({ served: 0, reads: 0 }))
  for (const [kind, ask] of kinds.entries()) {
    const result = results[kind] ?? { served: 0, reads: 0 }
    meter.take()
    for (let number = 0; number < (4 * LIMIT * LOAD_SECONDS) / kinds.length; number++) {
      const [name, asked] = ask(number)
      void requestAs(world, tenant, name, asked).then((reply) => {
        if (reply !== undefined && reply.status < 300) result.served++
      })
      if (number % AT_ONCE === AT_ONCE - 1)
        await waitFor(world, (AT_ONCE * SECOND_MS) / (4 * LIMIT))
    }
    result.reads = meter.take().reads
  }
  return results
}

type Times = { readonly create: number[]; readonly get: number[]; readonly due: number[] }

async function askSteadily(world: World, tenant: Tenant, times: Times) {
  const ends = new Map<string, number>()
  for (let second = 0; second < LOAD_SECONDS; second++) {
    const startedMs = world.scheduler.nowMs()
    const created = await requestAs(
      world,
      tenant,
      'api-create-payment',
      bodyOf(`own-${startedMs}`, UNPAID),
    )
    if (created?.status !== 201) throw new Error('a neighbour was refused')
    times.create.push(world.scheduler.nowMs() - startedMs)
    const id = String(created.body['id'])
    for (let read = 0; read < GETS_PER_CREATE; read++) {
      const askedMs = world.scheduler.nowMs()
      if ((await requestAs(world, tenant, 'api-get-payment', { id }))?.status !== 200)
        throw new Error('it cannot read')
      times.get.push(world.scheduler.nowMs() - askedMs)
    }
    ends.set(id, Date.parse(String(created.body['expires_at'])))
    await waitUntil(world, startedMs + SECOND_MS)
  }
  return ends
}

async function prepare(world: World, tenant: Tenant) {
  for (let number = 0; number < OF_REFERENCE; number++) {
    const body = { ...UNPAID, external_reference: REFERENCE }
    void requestAs(world, tenant, 'api-create-payment', bodyOf(`before-${number}`, body))
    await world.scheduler.runFor(SECOND_MS / LIMIT)
  }
  await world.scheduler.runFor(REST_MS)
  const now = () => timestampOf(world.scheduler.nowMs())
  const deps = testDeps({ requests: memoryRequests(world.table), now })
  const client = await requireClient(deps, tenant.clientId)
  const metadata = JSON.stringify(FAT.metadata)
  const fat = Array.from({ length: FAT_PAYMENTS }, (_, at) => ({
    ...succeededPayment(client, { paidAt: addMs(now(), at), externalReference: REFERENCE }),
    metadata,
    description: FAT.description,
  }))
  // A transaction has room for so many payments with their deliveries.
  for (const some of chunks(fat, 10)) await storeOpen(deps, some)
  await world.scheduler.runFor(REST_MS)
  return rowsOf(world, 'DELIVERY', { client_id: tenant.clientId }).map((row) =>
    String(row['delivery_id']),
  )
}

/** The time of due work begins at the end of a payment. */
async function timesOf(world: World, neighbours: readonly Tenant[]) {
  const times: Times = { create: [], get: [], due: [] }
  const asking = neighbours.map((tenant) => askSteadily(world, tenant, times))
  await world.scheduler.runFor(LOAD_SECONDS * SECOND_MS + REST_MS)
  for (const ends of await Promise.all(asking)) {
    for (const [id, endMs] of ends) {
      const firstMs = world.merchants.received.find(({ body }) =>
        body.includes(`"id":"${id}"`),
      )?.atMs
      times.due.push((firstMs ?? Number.POSITIVE_INFINITY) - endMs)
    }
  }
  return times
}

describe('beside a client at four times its limit with its dearest requests', () => {
  it('creates, reads and due work of others are as fast as without it, and all it reads is charged', async () => {
    const { world, tenants } = await startPlay({ seed: 4 })
    world.callsPerMinute = CALLS_PER_MINUTE
    const flooder = await runUntil(world, addTenant(world, 2, 1))
    const neighbours = [...tenants.slice(0, 1), await runUntil(world, addTenant(world, 3, 1))]
    const deliveries = await prepare(world, flooder)
    const meter = meterTable(world.table)

    const without = await timesOf(world, neighbours)
    const quiet = meter.take().reads / (LOAD_SECONDS + REST_MS / SECOND_MS)
    const flooding = flood(world, flooder, deliveries, meter)
    const beside = await timesOf(world, neighbours)
    const results = await flooding
    const answered = results.map(({ served }) => served)

    const [creates = 0] = answered
    expect(Math.min(...answered)).toBeGreaterThan(0)
    expect(Math.max(...answered)).toBeLessThanOrEqual(
      (1.2 * LIMIT * LOAD_SECONDS) / answered.length,
    )
    // Every unit of the lists is charged: the points of these seconds pay for all reads.
    const seconds = LOAD_SECONDS / results.length
    for (const { reads } of results.slice(-2))
      expect(pointsOf(reads - quiet * seconds)).toBeLessThanOrEqual(1.2 * LIMIT * seconds)
    // A refused create writes nothing.
    expect(rowsOf(world, 'PAYMENT', { client_id: flooder.clientId })).toHaveLength(
      OF_REFERENCE + FAT_PAYMENTS + creates,
    )
    for (const what of ['create', 'get', 'due'] as const) {
      expect(p99(beside[what]) / p99(without[what]), `p99 of ${what}`).toBeLessThanOrEqual(1.2)
    }
  })
})
