import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { commandOf } from '../../infra/local/process/process-record.ts'
import { describeWithDynamoDb } from '../support/dynamodb.ts'
import { eventually } from '../support/eventually.ts'
import { isNightly } from '../support/runs.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { type Banner, startGatewayProcess } from '../support/start-gateway-process.ts'
import { merchantAt, spawnGateway, VA, worldAt } from './gateway-world.ts'

/*
 * Goal: after a gateway is interrupted, killed or restarted on its data, no process is left and no
 * port is in use. No payment and no delivery is lost or doubled. Method: one process after the
 * other. A merchant has its webhooks sent again, and its endpoints do not answer. The kill comes
 * while 32 deliveries to each endpoint are in flight. Eight more for each wait for a free place; no
 * worker has claimed them. The endpoints answer the next gateway. On a slow machine the kill comes
 * before all places are taken, because no attempt may end before it.
 */

const ENDPOINTS = isNightly ? 4 : 1
const PAYMENTS = 40
const DELIVERIES = ENDPOINTS * PAYMENTS
/** The local gateway makes at most 32 attempts at a time to one endpoint. */
const IN_FLIGHT = ENDPOINTS * 32
/** After the first attempt began. An attempt ends after ten seconds. */
const KILL_WITHIN_MS = 5_000

type Delivery = {
  readonly delivery_id: string
  readonly status: string
  readonly attempts: readonly { readonly error: string | null }[]
}

async function allSucceeded({ admin }: ReturnType<typeof worldAt>, clientId: string) {
  return eventually(async () => {
    const pages = [1, 2].map((page) =>
      admin('list-deliveries', { client_id: clientId, per_page: 100, page }),
    )
    const deliveries = (await Promise.all(pages)).flatMap(
      ({ body }) => body['data'] as readonly Delivery[],
    )
    const succeeded = deliveries.filter(({ status }) => status === 'succeeded')
    // A delivery that is listed between the two reads moves others to the next page.
    expect(new Set(succeeded.map(({ delivery_id: id }) => id)).size).toBe(DELIVERIES)
    return succeeded
  })
}

const onDynamoDb = await describeWithDynamoDb()

onDynamoDb('a gateway with a data directory (design section 6)', () => {
  const data = mkdtempSync(join(tmpdir(), 'gateway-data-'))
  const start = { args: ['--data', data] }
  let firstGateway: ReturnType<typeof startGatewayProcess>
  let firstBanner: Banner
  let nextGateway: typeof firstGateway
  let nextBanner: Banner
  let keptPayment: Awaited<ReturnType<ReturnType<typeof merchantAt>['create']>>

  afterAll(async () => {
    await firstGateway.end('SIGKILL')
    await nextGateway?.end('SIGKILL')
    rmSync(data, { recursive: true })
  })

  it('starts after a SIGTERM during the previous start', async () => {
    const interrupted = spawnGateway(start)
    await eventually(() => expect(interrupted.output()).toContain('Starting'))

    const [code] = await interrupted.end('SIGTERM')
    firstGateway = startGatewayProcess(start)
    firstBanner = await firstGateway.ready()

    expect(code).toBe(0)
    expect(interrupted.output()).not.toContain('Try it')
  })

  it('keeps running when a second gateway is refused the directory', async () => {
    const secondGateway = spawnGateway(start)

    expect(await secondGateway.exited).toStrictEqual([1, null])
    expect(secondGateway.output()).toContain(
      `is in use by another gateway (process ${firstGateway.pid})`,
    )
    await worldAt(firstBanner).advance(3_600)
  })

  it('loses no delivery at a SIGKILL, repeats claimed ones within 30 s and makes the others within 75 s of the gateway’s clock, and sends only deliveries in flight twice', async () => {
    const { promise: killIsDue, resolve: makeKillDue } = Promise.withResolvers<void>()
    // The server does not answer while the status is undefined.
    const server: { ids: string[]; status?: number | undefined } = { ids: [], status: 200 }
    const { url } = await startScriptedServer((response, { headers }) => {
      server.ids.push(String(headers['x-gateway-delivery-id']))
      if (server.status !== undefined) response.writeHead(server.status).end()
      else if (server.ids.length === 1) setTimeout(makeKillDue, KILL_WITHIN_MS)
    })
    const firstWorld = worldAt(firstBanner)
    const { clientId, create, key } = await firstWorld.merchant(
      Array.from({ length: ENDPOINTS }, (_, n) => `${url}/hooks/${n}`),
    )
    for (let count = 1; count <= PAYMENTS; count++)
      await firstWorld.pay(String((await create(VA)).body['id']))
    const delivered = await allSucceeded(firstWorld, clientId)

    server.ids = []
    server.status = undefined
    const headers = { authorization: `Bearer ${key}` }
    const redeliver = ({ delivery_id: id }: Delivery) =>
      firstWorld.post(`${firstWorld.urls.api}/v1/webhook_deliveries/${id}/redeliver`, '', headers)
    const fillPlaces = async () => {
      await Promise.all(delivered.map(redeliver))
      await eventually(() =>
        expect(server.ids.length === IN_FLIGHT || server.status === 200).toBe(true),
      )
    }
    await Promise.race([killIsDue, fillPlaces()])

    keptPayment = await merchantAt(firstBanner).create(VA, 'kept')
    // The kill follows the reply at once: a payment with a reply must be kept.
    await firstGateway.end('SIGKILL')
    const inFlight = server.ids
    server.ids = []
    server.status = 200
    await expect.poll(() => commandOf(firstBanner.tablePid)).toBeUndefined()
    nextGateway = startGatewayProcess(start)
    nextBanner = await nextGateway.ready()
    const nextWorld = worldAt(nextBanner)
    // A claimed attempt without a recorded result is repeated within this time (design section 9).
    await nextWorld.advance(30)
    await eventually(() => expect(server.ids).toStrictEqual(expect.arrayContaining(inFlight)))
    // The others are found by due work, 60 s after they were due.
    await nextWorld.advance(45)
    const redelivered = await allSucceeded(nextWorld, clientId)

    expect(new Set(inFlight).size).toBe(inFlight.length)
    // A worker may have claimed one more attempt and died before its POST left.
    const wasInFlight = ({ attempts }: Delivery) =>
      attempts.some(({ error }) => error === 'unknown')
    expect(redelivered.filter(wasInFlight).map(({ delivery_id: id }) => id)).toStrictEqual(
      expect.arrayContaining(inFlight),
    )
    // Each other attempt after the kill was sent once. On a slow machine an attempt may time out,
    // and another follows.
    const attemptsBefore = new Map(
      delivered.map(({ delivery_id: id, attempts }) => [id, attempts.length]),
    )
    const recorded = redelivered.map(({ delivery_id: id, attempts }) => {
      const known = attempts.filter(({ error }) => error !== 'unknown')
      return [id, known.length - (attemptsBefore.get(id) ?? 0)]
    })
    const sent = Map.groupBy(server.ids, (id) => id)
    expect(redelivered.map(({ delivery_id: id }) => [id, sent.get(id)?.length ?? 0])).toStrictEqual(
      recorded,
    )
  })

  it('keeps client, payments, clock and provider after a kill, and DynamoDB Local ends', async () => {
    expect(nextBanner.tablePid).not.toBe(firstBanner.tablePid)
    const replay = await merchantAt(nextBanner).create(VA, 'kept')
    const { now } = Object(await (await fetch(`${nextBanner.lambda}/_local/clock`)).json())
    const creates = await worldAt(nextBanner).createCalls()

    expect(nextBanner.apiKey).toBe(firstBanner.apiKey)
    expect([keptPayment.status, replay.status, replay.body['id']]).toStrictEqual([
      201,
      200,
      keptPayment.body['id'],
    ])
    expect(Date.parse(now) - Date.now()).toBeGreaterThan(3_500_000)
    expect(creates).toBeLessThanOrEqual(PAYMENTS + 1)
  })

  it('a SIGINT during load ends all processes and frees the ports', async () => {
    const { api, lambda, provider, inbox, tablePid } = nextBanner
    const load = Promise.allSettled(
      Array.from({ length: 100 }, (_, n) => merchantAt(nextBanner).create(VA, `load-${n}`)),
    )

    expect(await nextGateway.end('SIGINT')).toStrictEqual([0, null])
    await load

    await expect.poll(() => commandOf(tablePid)).toBeUndefined()
    for (const url of [api, lambda, provider, inbox])
      expect([url, await fetch(url).catch(() => 'nothing')]).toStrictEqual([url, 'nothing'])
  })
})
