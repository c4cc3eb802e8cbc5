/**
 * Goal: whatever a merchant's endpoint does, it gets its eight attempts at the spec's waits, and nobody else waits for
 * it (spec 6.4). Method: one payment announced to seven endpoints that misbehave each in its own way, and one that
 * works, on the one clock; signatures checked by openssl.
 */
import { execFileSync } from 'node:child_process'
import { createServer, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startWorld, VA, type World } from '../support/gateway-world.ts'
import { selfSignedCertificate, startHttpsServer, startTcpServer } from '../support/https-servers.ts'

let world: World

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

type Post = { readonly body: Buffer; readonly headers: IncomingMessage['headers'] }

/** Keeps the raw bytes of everything it is sent, and answers with one status. */
const startRecorder = async (status: number) => {
  const posts: Post[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      posts.push({ body: Buffer.concat(chunks), headers: request.headers })
      response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end('x'.repeat(3_000))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the recorder has no port')
  return { url: `http://127.0.0.1:${address.port}/hooks`, posts }
}

type Shown = {
  readonly url: string
  readonly status: string
  readonly attempts: readonly {
    number: number
    at: string
    http_status: number | null
    error: string | null
    response_body: string | null
  }[]
}

const deliveriesOf = async (clientId: string) => {
  const { body } = await world.admin('list-deliveries', { client_id: clientId, per_page: 100 })
  return body['data'] as Shown[]
}

const opensslHmac = (secret: string, body: Buffer) =>
  execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret, '-r'], { input: body }).toString().slice(0, 64)

const WAITS = [60, 120, 240, 480, 960, 1_920, 3_840]

describe('endpoints that misbehave', () => {
  it('get eight attempts each at the waits of the spec, then one alert each, and hold up nobody', async () => {
    const [failing, redirecting, working] = [
      await startRecorder(500),
      await startRecorder(302),
      await startRecorder(204),
    ]
    const closing = await startTcpServer((socket) => socket.once('data', () => socket.destroy()))
    const tls = await startHttpsServer(selfSignedCertificate('localhost'))
    const urls = [
      failing.url,
      redirecting.url,
      `http://127.0.0.1:${closing}/hooks`,
      `https://localhost:${tls.port}/hooks`,
      'https://no-such-host.invalid/hooks',
      working.url,
    ]
    const merchant = await world.merchant(urls)
    const { body: created } = await merchant.create({ ...VA, metadata: { note: 'ünïcode ✓', big: 1 } })
    await world.pay(String(created['id']))

    const settled = (count: number) => async () => {
      const made = new Map((await deliveriesOf(merchant.clientId)).map(({ url, attempts }) => [url, attempts.length]))
      return urls.every((url) => made.get(url) === (url === working.url ? 1 : count))
    }
    await expect.poll(settled(1), { timeout: 15_000 }).toBe(true)
    for (const [at, wait] of WAITS.entries()) {
      await world.advance(wait)
      await expect.poll(settled(at + 2), { timeout: 15_000 }).toBe(true)
    }

    const deliveries = await deliveriesOf(merchant.clientId)
    const errors = Object.fromEntries(
      deliveries.map(({ url, attempts }) => [
        url,
        [...new Set(attempts.map(({ error, http_status: status }) => `${error}/${status}`))],
      ]),
    )
    expect(errors).toStrictEqual({
      [failing.url]: ['http_status/500'],
      [redirecting.url]: ['http_status/302'],
      [`http://127.0.0.1:${closing}/hooks`]: ['connection/null'],
      [`https://localhost:${tls.port}/hooks`]: ['tls/null'],
      'https://no-such-host.invalid/hooks': ['dns/null'],
      [working.url]: ['null/204'],
    })
    for (const { url, status, attempts } of deliveries) {
      expect([url, status]).toStrictEqual([url, url === working.url ? 'succeeded' : 'abandoned'])
      const gaps = attempts
        .slice(1)
        .map(({ at }, index) => (Date.parse(at) - Date.parse(attempts[index]?.at ?? '')) / 1_000)
      for (const [index, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual(WAITS[index] ?? 0)
    }
    expect(deliveries.find(({ url }) => url === failing.url)?.attempts[0]?.response_body).toBe('x'.repeat(1_024))

    const ids = new Set(merchant.endpoints.map((endpoint) => String(endpoint['endpoint_id'])))
    await expect
      .poll(
        async () =>
          (await world.alerts()).filter((alert) => [...ids].some((id) => JSON.stringify(alert).includes(id))).length,
      )
      .toBe(5)

    const posts = [...failing.posts, ...redirecting.posts, ...working.posts]
    expect(posts).toHaveLength(17)
    expect(new Set(posts.map(({ body }) => body.toString('hex'))).size).toBe(1)
    for (const recorder of [failing, redirecting, working]) {
      const secret = String(merchant.endpoints.find((endpoint) => endpoint['url'] === recorder.url)?.['signing_secret'])
      expect(new Set(recorder.posts.map(({ headers }) => headers['x-gateway-delivery-id'])).size).toBe(1)
      for (const { body, headers } of recorder.posts) {
        expect(headers['x-gateway-signature']).toBe(opensslHmac(secret, body))
        expect(headers['x-gateway-event']).toBe('payment.succeeded')
      }
    }
  }, 120_000)

  it('hold up no other endpoint of the same client when they hang', async () => {
    const hanging = await startTcpServer(() => undefined)
    const working = await startRecorder(200)
    const merchant = await world.merchant([`http://127.0.0.1:${hanging}/hooks`, working.url])
    const created = await Promise.all(Array.from({ length: 20 }, () => merchant.create(VA)))

    await Promise.all(created.map(({ body }) => world.pay(String(body['id']))))

    // The hanging endpoint holds its attempts for ten seconds each; all twenty others are there long before.
    await expect.poll(() => working.posts.length, { timeout: 9_000 }).toBe(20)
    const hung = (await deliveriesOf(merchant.clientId)).filter(({ url }) => url !== working.url)
    expect(hung.every(({ status }) => status === 'scheduled')).toBe(true)
  }, 60_000)
})
