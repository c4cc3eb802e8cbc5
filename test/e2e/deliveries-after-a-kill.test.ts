import { expect, it, onTestFinished } from 'vitest'
import { describeOnDynamoDb } from '../support/dynamodb.ts'
import { eventually } from '../support/eventually.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { startGatewayProcess } from '../support/start-gateway-process.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { VA, worldAt } from './gateway-world.ts'

/*
 * A gateway is killed while 120 deliveries are in flight: twenty to each of six endpoints that do not answer. Five more
 * for each endpoint wait for a free place. A second gateway starts on the same data, and the endpoints answer it.
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
  const all = (await Promise.all(pages)).flatMap(({ body }) => body['data'] as readonly Delivery[])
  const outcomeOf = ({ status, attempts }: Delivery) =>
    [...attempts.map(({ error }) => error ?? 'answered'), status].join(', ')
  return Object.fromEntries(
    [...Map.groupBy(all, outcomeOf)].map(([outcome, some]) => [outcome, some.length]),
  )
}

const onDynamoDb = await describeOnDynamoDb()

onDynamoDb('a SIGKILL with 120 deliveries in flight (design section 4)', () => {
  it('loses none, makes each again within 30 s of the gateway’s clock, and sends only those in flight twice', async () => {
    const directory = tempDirectory()
    /** The deliveries that the merchant's server got, and how it answers: never while the status is undefined. */
    const server: { got: string[]; status?: number | undefined } = { got: [], status: 500 }
    const { url } = await startScriptedServer((response, { headers }) => {
      server.got.push(String(headers['x-gateway-delivery-id']))
      if (server.status !== undefined) response.writeHead(server.status).end()
    })
    const { gateway, world: before } = await startGateway(directory)
    const { clientId, create } = await before.merchant(
      Array.from({ length: ENDPOINTS }, (_, n) => `${url}/hooks/${n}`),
    )
    // One after the other, so that each payment's messages are sent within their second, on a slow machine too.
    for (let paid = 1; paid <= PAYMENTS; paid++) {
      await before.pay(String((await create(VA)).body['id']))
      await eventually(() => expect(server.got).toHaveLength(paid * ENDPOINTS))
    }
    await eventually(async () =>
      expect(await outcomes(before, clientId)).toStrictEqual({
        'http_status, scheduled': DELIVERIES,
      }),
    )
    // All second attempts are due at the same moment: 120 are in flight before the first of them times out.
    server.status = undefined
    server.got = []
    // The wait after a first failure, and one second.
    await before.advance(61)
    await eventually(() => expect(server.got).toHaveLength(IN_FLIGHT))

    await gateway.end('SIGKILL')
    const inFlight = server.got
    server.got = []
    server.status = 200
    const { world: after } = await startGateway(directory)
    // An attempt without a recorded result is repeated within this time (design section 9).
    await after.advance(30)
    await eventually(async () => {
      // A worker may have claimed one more attempt and died before its POST left.
      const { 'http_status, unknown, answered, succeeded': again = 0, ...others } = await outcomes(
        after,
        clientId,
      )
      expect(again).toBeGreaterThanOrEqual(IN_FLIGHT)
      expect(others).toStrictEqual(
        again < DELIVERIES ? { 'http_status, answered, succeeded': DELIVERIES - again } : {},
      )
    })
    expect(new Set(inFlight).size).toBe(inFlight.length)
    expect(new Set(server.got).size).toBe(DELIVERIES)
    expect(server.got).toHaveLength(DELIVERIES)
  }, 120_000)
})
