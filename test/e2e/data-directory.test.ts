import { expect, it, onTestFinished } from 'vitest'
import { describeOnDynamoDb } from '../support/dynamodb.ts'
import { eventually } from '../support/eventually.ts'
import { isNightly } from '../support/runs.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { startGatewayProcess } from '../support/start-gateway-process.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { VA, worldAt } from './gateway-world.ts'

/*
 * A merchant has all its delivered webhooks sent again, and its endpoints do not answer. The
 * gateway is killed while 32 deliveries to each endpoint are in flight. Eight more for each wait
 * for a free place, and no worker has claimed them. A second gateway starts on the same data, and
 * the endpoints answer it. On a slow machine the kill comes before all places are taken, because no
 * attempt may end before it.
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

async function startGateway(directory: string) {
  const gateway = startGatewayProcess({ args: ['--data', directory] })
  onTestFinished(async () => void (await gateway.end('SIGKILL')))
  return { gateway, world: worldAt(await gateway.ready()) }
}

async function allSucceeded(
  { admin }: ReturnType<typeof worldAt>,
  clientId: string,
): Promise<readonly Delivery[]> {
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

/** The server does not answer while the status is undefined. */
type Server = { ids: string[]; status: number | undefined }

const onDynamoDb = await describeOnDynamoDb()

onDynamoDb('a SIGKILL with 32 deliveries to each endpoint in flight (design section 4)', () => {
  it('loses no delivery, repeats claimed ones within 30 s and makes the others within 75 s of the gateway’s clock, and sends only deliveries in flight twice', async () => {
    const directory = tempDirectory()
    const { promise: killIsDue, resolve: makeKillDue } = Promise.withResolvers<void>()
    const server: Server = { ids: [], status: 200 }
    const { url } = await startScriptedServer((response, { headers }) => {
      server.ids.push(String(headers['x-gateway-delivery-id']))
      if (server.status !== undefined) response.writeHead(server.status).end()
      else if (server.ids.length === 1) setTimeout(makeKillDue, KILL_WITHIN_MS)
    })
    const { gateway, world: firstWorld } = await startGateway(directory)
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

    await gateway.end('SIGKILL')
    const inFlight = server.ids
    server.ids = []
    server.status = 200
    const { world: secondWorld } = await startGateway(directory)
    // A claimed attempt without a recorded result is repeated within this time (design section 9).
    await secondWorld.advance(30)
    await eventually(() => expect(server.ids).toStrictEqual(expect.arrayContaining(inFlight)))
    // The others are found by due work, 60 s after they were due.
    await secondWorld.advance(45)
    const redelivered = await allSucceeded(secondWorld, clientId)

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
})
