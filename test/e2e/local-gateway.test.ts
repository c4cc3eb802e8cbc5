import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demoWalk } from '../../infra/local/demo-walk.ts'
import { localAws } from '../../infra/local/emulators/dynamodb-local.ts'
import { type LocalCloud, startLocalCloud } from '../../infra/local/local-cloud.ts'
import { eventually } from '../support/eventually.ts'

let cloud: LocalCloud

beforeAll(async () => {
  cloud = await startLocalCloud({ port: 0 })
})
afterAll(() => cloud.close())

const api = (path: string, init: RequestInit = {}) => fetch(`${cloud.urls.api}${path}`, init)

const invoke = async (name: string, payload: object): Promise<{ status: number; body: Record<string, unknown> }> => {
  const url = `${cloud.urls.lambda}/2015-03-31/functions/gateway-local-${name}/invocations`
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(payload) })
  return (await answer.json()) as { status: number; body: Record<string, unknown> }
}

const text = async (path: keyof LocalCloud['urls'], route: string, init: RequestInit = {}) =>
  (await fetch(`${cloud.urls[path]}${route}`, init)).text()

const advance = (seconds: number) =>
  text('lambda', '/_local/clock', { method: 'POST', body: JSON.stringify({ advance_seconds: seconds }) })

/** A merchant of its own, whose endpoint is the inbox. */
const aMerchant = async () => {
  const operator = 'test'
  const { body: client } = await invoke('create-client', { operator, name: 'Test Merchant' })
  const { body: key } = await invoke('issue-api-key', { operator, client_id: client['client_id'] })
  const { body: endpoint } = await invoke('register-endpoint', {
    operator,
    client_id: client['client_id'],
    url: `${cloud.urls.inbox}/hooks`,
    event_types: ['*'],
  })
  return {
    clientId: String(client['client_id']),
    endpointId: String(endpoint['endpoint_id']),
    headers: { authorization: `Bearer ${String(key['api_key'])}`, 'content-type': 'application/json' },
  }
}

describe('the local gateway and pages on the web (design section 6)', () => {
  const DOORS = ['api', 'lambda', 'provider', 'inbox'] as const
  const PATHS = { api: '/v1/balance', lambda: '/_local/clock', provider: '/_simulator/calls', inbox: '/received' }

  /** As a browser would be made to: `fetch` would put in a Host of its own. */
  const status = async (door: (typeof DOORS)[number], headers: Record<string, string>): Promise<number> => {
    const request = get(`${cloud.urls[door]}${PATHS[door]}`, { headers, setHost: headers['host'] !== '' })
    const [answer]: IncomingMessage[] = await once(request, 'response')
    answer?.resume()
    return answer?.statusCode ?? 0
  }

  it.each(DOORS)('answers 403 on the port of the %s to a name that only leads here', async (door) => {
    const { port } = new URL(cloud.urls[door])
    const served = door === 'api' ? 401 : 200

    for (const host of [`evil.example:${port}`, 'evil.example', `127.0.0.1.evil.example:${port}`, '0.0.0.0', '']) {
      expect([host, await status(door, { host })]).toStrictEqual([host, 403])
    }
    for (const host of [`127.0.0.1:${port}`, 'localhost', 'LocalHost:1', '[::1]:3000']) {
      expect([host, await status(door, { host })]).toStrictEqual([host, served])
    }
  })

  it.each(DOORS)('answers 403 on the port of the %s to a page of any origin but our four ports', async (door) => {
    const served = door === 'api' ? 401 : 200

    for (const origin of [
      'null',
      'https://evil.example',
      'http://127.0.0.1',
      'http://localhost:1',
      'http://[::1]:1x',
    ]) {
      expect([origin, await status(door, { origin })]).toStrictEqual([origin, 403])
    }
    for (const url of Object.values(cloud.urls)) {
      const { port } = new URL(url)
      for (const origin of [url, `http://localhost:${port}`, `http://[::1]:${port}`]) {
        expect([origin, await status(door, { origin })]).toStrictEqual([origin, served])
      }
    }
  })

  it('moves no clock and makes no client for a page elsewhere', async () => {
    const before = JSON.parse(await text('lambda', '/_local/clock')) as { now: string }

    const refused = await fetch(`${cloud.urls.lambda}/_local/clock`, {
      method: 'POST',
      headers: { origin: 'https://evil.example', 'content-type': 'text/plain' },
      body: JSON.stringify({ advance_seconds: 86_400 }),
    })
    const after = JSON.parse(await text('lambda', '/_local/clock')) as { now: string }

    expect(await refused.json()).toMatchObject({ code: 'forbidden' })
    expect(refused.headers.get('cache-control')).toBe('no-store')
    expect(refused.headers.get('x-content-type-options')).toBe('nosniff')
    expect(Date.parse(after.now) - Date.parse(before.now)).toBeLessThan(60_000)
  })

  it('keeps its table from whoever does not know the access key of this start', async () => {
    const own = localAws(cloud.table.endpoint)
    const tablesFor = async (accessKeyId: string) => {
      const client = new DynamoDBClient({ ...own, credentials: { accessKeyId, secretAccessKey: 'local' } })
      const { TableNames } = await client.send(new ListTablesCommand({}))
      client.destroy()
      return TableNames
    }

    expect(await tablesFor(own.credentials.accessKeyId)).toStrictEqual([cloud.table.name])
    expect(await tablesFor('local')).toStrictEqual([])
  })
})

describe('the local gateway as a whole (design section 6)', () => {
  it('walks a payment from its creation to webhook, settlement and payout', async () => {
    const told: string[] = []

    await demoWalk(cloud, (line) => told.push(line))

    expect(told.filter((line) => line.includes('balance  '))).toStrictEqual([
      '   balance      pending IDR 145850, available 0, in settlement 0, paid out 0',
      '   balance      pending IDR 0, available 0, in settlement 145410, paid out 0',
      '   balance      pending IDR 0, available 0, in settlement 0, paid out 145410',
    ])
  })

  it('answers many concurrent requests, each with an id of its own', async () => {
    const { headers } = await aMerchant()

    const answers = await Promise.all(Array.from({ length: 500 }, () => api('/v1/balance', { headers })))

    expect(new Set(answers.map(({ status }) => status))).toStrictEqual(new Set([200]))
    expect(new Set(answers.map((answer) => answer.headers.get('x-request-id'))).size).toBe(500)
    await Promise.all(answers.map((answer) => answer.arrayBuffer()))
  })

  it.each([
    ['GET', '/nowhere'],
    ['DELETE', '/v1/payments'],
    ['GET', '/v1/payments/'],
  ])('answers %s %s in the envelope', async (method, path) => {
    const answer = await api(path, { method })

    expect([answer.status, await answer.json()]).toStrictEqual([
      404,
      { message: 'resource not found', code: 'not_found' },
    ])
  })

  it('refuses a payload over 10 MB as API Gateway does', async () => {
    const answer = await api('/v1/payments', { method: 'POST', body: Buffer.alloc(10 * 1024 * 1024 + 1) })

    expect([answer.status, await answer.json()]).toStrictEqual([413, { message: 'Request Entity Too Large' }])
  })

  it('answers operators’ actions through the Lambda Invoke API', async () => {
    const { clientId } = await aMerchant()

    const { status, body } = await invoke('get-client', { client_id: clientId })

    expect([status, body['name']]).toStrictEqual([200, 'Test Merchant'])
  })

  it('runs a schedule’s function on demand with {}', async () => {
    expect(await invoke('check-due-work', {})).toMatchObject({ failed: 0 })
  })

  it('refuses a jump that is no forward jump', async () => {
    for (const body of ['{"advance_seconds":-1}', '{"advance_seconds":"1"}', '{}', 'x', '{"advance_seconds":1e400}']) {
      const answer = await fetch(`${cloud.urls.lambda}/_local/clock`, { method: 'POST', body })
      expect([body, answer.status]).toStrictEqual([body, 400])
    }
  })

  it('keeps a log that names requests by their template and holds no key', async () => {
    const { headers } = await aMerchant()
    await api('/v1/payments/00000000-0000-4000-8000-000000000000', { headers })

    const log = await text('lambda', '/_local/log')

    expect(log).toContain('GET /v1/payments/{id}')
    expect(log).not.toContain(headers.authorization.slice('Bearer '.length))
  })
})

describe('a delivery that fails, on the one clock (spec 6.4)', () => {
  it('is tried eight times at its waits, however far the clock jumps, then abandoned with one alert', async () => {
    const { clientId, endpointId } = await aMerchant()
    await fetch(`${cloud.urls.inbox}/behaviour`, { method: 'POST', body: '{"status":500}' })
    const attempts = async () => {
      const { body } = await invoke('list-deliveries', { client_id: clientId, endpoint_id: endpointId })
      const [delivery] = body['data'] as { status: string; attempts: unknown[] }[]
      return [delivery?.status, delivery?.attempts.length]
    }

    await invoke('send-test-event', { operator: 'test', client_id: clientId, endpoint_id: endpointId })
    await eventually(async () => expect(await attempts()).toStrictEqual(['scheduled', 1]))
    for (const [at, waitSeconds] of [60, 120, 240, 480, 960, 1_920, 3_840].entries()) {
      // A wait longer than SQS can hold a message is taken in hops, each of which asks the row again.
      for (let left = waitSeconds; left > 0; left -= 900) await advance(Math.min(left, 900))
      const expected = at < 6 ? ['scheduled', at + 2] : ['abandoned', 8]
      await eventually(async () => expect(await attempts()).toStrictEqual(expected))
    }

    await eventually(async () => {
      const alerts = JSON.parse(await text('lambda', '/_local/alerts')) as { kind: string; message: string }[]
      expect(alerts.filter(({ message }) => message.includes(endpointId)).map(({ kind }) => kind)).toStrictEqual([
        'delivery.abandoned',
      ])
    })
    await fetch(`${cloud.urls.inbox}/behaviour`, { method: 'POST', body: '{}' })
  })
})
