import { expect, it, onTestFinished } from 'vitest'
import { describeOnDynamoDb } from '../support/dynamodb.ts'
import { eventually } from '../support/eventually.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { startGatewayProcess } from '../support/start-gateway-process.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { VA, worldAt } from './gateway-world.ts'

/*
 * A gateway is killed while 120 deliveries are in flight: twenty to each of six endpoints that do
 * not answer. Five more for each endpoint wait for a free place. A second gateway starts on the
 * same data, and the endpoints answer it.
 */

const ENDPOINTS = 6
const PAYMENTS = 25
const DELIVERIES = ENDPOINTS * PAYMENTS
/** The local gateway makes at most twenty attempts at a time to one endpoint. */
const IN_FLIGHT = ENDPOINTS * 20

type Delivery = {
  readonly status: string
  readonly attempts: readonly { readonly error: string | null }[]
}

async function startGateway(directory: string) {
  const gateway = startGatewayProcess({ args: ['--data', directory] })
  onTestFinished(async () => void (await gateway.end('SIGKILL')))
  return { gateway, world: worldAt(await gateway.ready()) }
}

async function outcomes(
  { admin }: ReturnType<typeof worldAt>,
  clientId: string,
): Promise<Record<string, number>> {
  const pages = [1, 2].map((page) =>
    admin('list-deliveries', { client_id: clientId, per_page: 100, page }),
  )
  const deliveries = (await Promise.all(pages)).flatMap(
    ({ body }) => body['data'] as readonly Delivery[],
  )
  const outcomeOf = ({ status, attempts }: Delivery) =>
    [...attempts.map(({ error }) => error ?? 'answered'), status].join(', ')
  return Object.fromEntries(
    [...Map.groupBy(deliveries, outcomeOf)].map(([outcome, group]) => [outcome, group.length]),
  )
}

const onDynamoDb = await describeOnDynamoDb()

onDynamoDb('a SIGKILL with 120 deliveries in flight (design section 4)', () => {
  it('loses no delivery, repeats each within 30 s of the gateway’s clock, and sends only deliveries in flight twice', async () => {
    const directory = tempDirectory()
    /**
     * The deliveries that the merchant's server received, and its answer: none while the status is
     * undefined.
     */
    const server: { ids: string[]; status?: number | undefined } = { ids: [], status: 500 }
    const { url } = await startScriptedServer((response, { headers }) => {
      server.ids.push(String(headers['x-gateway-delivery-id']))
      if (server.status !== undefined) response.writeHead(server.status).end()
    })
    const { gateway, world: firstWorld } = await startGateway(directory)
    const { clientId, create } = await firstWorld.merchant(
      Array.from({ length: ENDPOINTS }, (_, n) => `${url}/hooks/${n}`),
    )
    // One payment at a time, so that each payment's messages are sent within their second, on a
    // slow machine too.
    for (let count = 1; count <= PAYMENTS; count++) {
      await firstWorld.pay(String((await create(VA)).body['id']))
      await eventually(() => expect(server.ids).toHaveLength(count * ENDPOINTS))
    }
    await eventually(async () =>
      expect(await outcomes(firstWorld, clientId)).toStrictEqual({
        'http_status, scheduled': DELIVERIES,
      }),
    )
    // All second attempts are due at the same moment: 120 are in flight before the first of them
    // times out.
    server.status = undefined
    server.ids = []
    // The wait after a first failure, and one second.
    await firstWorld.advance(61)
    await eventually(() => expect(server.ids).toHaveLength(IN_FLIGHT))

    await gateway.end('SIGKILL')
    const inFlight = server.ids
    server.ids = []
    server.status = 200
    const { world: secondWorld } = await startGateway(directory)
    // An attempt without a recorded result is repeated within this time (design section 9).
    await secondWorld.advance(30)
    await eventually(async () => {
      // A worker may have claimed one more attempt and died before its POST left.
      const { 'http_status, unknown, answered, succeeded': repeated = 0, ...otherOutcomes } =
        await outcomes(secondWorld, clientId)
      expect(repeated).toBeGreaterThanOrEqual(IN_FLIGHT)
      expect(otherOutcomes).toStrictEqual(
        repeated < DELIVERIES ? { 'http_status, answered, succeeded': DELIVERIES - repeated } : {},
      )
    })
    expect(new Set(inFlight).size).toBe(inFlight.length)
    expect(new Set(server.ids).size).toBe(DELIVERIES)
    expect(server.ids).toHaveLength(DELIVERIES)
  }, 120_000)
})
