import { expect, it, onTestFinished } from 'vitest'
import { describeOnDynamoDb } from '../support/dynamodb.ts'
import { eventually } from '../support/eventually.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { startGatewayProcess } from '../support/start-gateway-process.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { VA, worldAt } from './gateway-world.ts'

/*
 * A merchant has 150 delivered webhooks sent again, and its endpoints do not answer. The gateway is killed while 120 of
 * these deliveries are in flight: twenty to each of six endpoints. Five more for each endpoint wait for a free place. A
 * second gateway starts on the same data, and the endpoints answer it. On a slow machine the kill comes before all places
 * are taken, because no attempt may end before it.
 */

const ENDPOINTS = 6
const PAYMENTS = 25
const DELIVERIES = ENDPOINTS * PAYMENTS
/** The local gateway makes at most twenty attempts at a time to one endpoint. */
const IN_FLIGHT = ENDPOINTS * 20
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
    const all = (await Promise.all(pages)).flatMap(
      ({ body }) => body['data'] as readonly Delivery[],
    )
    expect(all.map(({ status }) => status)).toStrictEqual(Array(DELIVERIES).fill('succeeded'))
    return all
  })
}

/** The deliveries that the merchant's server got, and how it answers: never while the status is undefined. */
type Server = { got: string[]; status: number | undefined }

const onDynamoDb = await describeOnDynamoDb()

onDynamoDb('a SIGKILL with 120 deliveries in flight (design section 4)', () => {
  it('loses none, makes each again within 30 s of the gateway’s clock, and sends only those in flight twice', async () => {
    const directory = tempDirectory()
    const { promise: isLate, resolve: late } = Promise.withResolvers<void>()
    const server: Server = { got: [], status: 200 }
    const { url } = await startScriptedServer((response, { headers }) => {
      server.got.push(String(headers['x-gateway-delivery-id']))
      if (server.status !== undefined) response.writeHead(server.status).end()
      else if (server.got.length === 1) setTimeout(late, KILL_WITHIN_MS)
    })
    const { gateway, world: before } = await startGateway(directory)
    const merchant = await before.merchant(
      Array.from({ length: ENDPOINTS }, (_, n) => `${url}/hooks/${n}`),
    )
    for (let paid = 0; paid < PAYMENTS; paid++)
      await before.pay(String((await merchant.create(VA)).body['id']))
    const delivered = await allSucceeded(before, merchant.clientId)

    server.got = []
    server.status = undefined
    const headers = { authorization: `Bearer ${merchant.key}` }
    const redeliver = ({ delivery_id: id }: Delivery) =>
      before.post(`${before.urls.api}/v1/webhook_deliveries/${id}/redeliver`, '', headers)
    const inFlightAll = async () => {
      await Promise.all(delivered.map(redeliver))
      await eventually(() =>
        expect(server.got.length === IN_FLIGHT || server.status === 200).toBe(true),
      )
    }
    await Promise.race([isLate, inFlightAll()])

    await gateway.end('SIGKILL')
    const inFlight = server.got
    server.got = []
    server.status = 200
    const { world: after } = await startGateway(directory)
    // An attempt without a recorded result is repeated within this time (design section 9).
    await after.advance(30)
    const all = await allSucceeded(after, merchant.clientId)

    expect(new Set(inFlight).size).toBe(inFlight.length)
    // A worker may have claimed one more attempt and died before its POST left.
    const isCut = ({ attempts }: Delivery) => attempts.some(({ error }) => error === 'unknown')
    expect(all.filter(isCut).map(({ delivery_id: id }) => id)).toStrictEqual(
      expect.arrayContaining(inFlight),
    )
    // Each other attempt after the kill was sent once. On a slow machine one may time out, and there is one more.
    const earlier = new Map(delivered.map(({ delivery_id: id, attempts }) => [id, attempts.length]))
    const recorded = all.map(({ delivery_id: id, attempts }) => {
      const answered = attempts.filter(({ error }) => error !== 'unknown')
      return [id, answered.length - (earlier.get(id) ?? 0)]
    })
    const sent = Map.groupBy(server.got, (id) => id)
    expect(all.map(({ delivery_id: id }) => [id, sent.get(id)?.length ?? 0])).toStrictEqual(
      recorded,
    )
  })
})
