/**
 * Goal: whatever a merchant's endpoint does, it gets its eight attempts at the spec's waits, and nobody else waits for
 * it (spec 6.4). Method: one payment announced to five endpoints that misbehave each in its own way, and one that
 * works, on the one clock; signatures checked by openssl and by the published library of Standard Webhooks.
 */
import { execFileSync } from 'node:child_process'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { describe, expect, onTestFinished } from 'vitest'
import { selfSignedCertificate, startHttpsServer, startTcpServer } from '../support/https-servers.ts'
import { worldIt as it, VA, type World } from './gateway-world.ts'

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
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/hooks`, posts }
}

type Attempt = { at: string; http_status: number | null; error: string | null; response_body: string | null }
type Shown = { readonly url: string; readonly status: string; readonly attempts: readonly Attempt[] }

const deliveriesOf = async ({ admin }: World, clientId: string) => {
  const { body } = await admin('list-deliveries', { client_id: clientId, per_page: 100 })
  return body['data'] as Shown[]
}

const opensslHmac = (secret: string, body: Buffer) =>
  execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret, '-r'], { input: body }).toString().slice(0, 64)

const WAITS = [60, 120, 240, 480, 960, 1_920, 3_840]

describe('endpoints that misbehave', { timeout: 120_000 }, () => {
  it('get eight attempts each at the waits of the spec, then one alert each, and hold up nobody', async ({ world }) => {
    const recorders = [await startRecorder(500), await startRecorder(302), await startRecorder(204)] as const
    const [failing, redirecting, working] = recorders
    const closing = await startTcpServer((socket) => socket.once('data', () => socket.destroy()))
    const tls = await startHttpsServer(selfSignedCertificate('localhost'))
    const ends: Readonly<Record<string, string>> = {
      [failing.url]: 'http_status/500',
      [redirecting.url]: 'http_status/302',
      [`http://127.0.0.1:${closing}/hooks`]: 'connection/null',
      [`https://localhost:${tls.port}/hooks`]: 'tls/null',
      'https://no-such-host.invalid/hooks': 'dns/null',
      [working.url]: 'null/204',
    }
    const { clientId, create, endpoints } = await world.merchant(Object.keys(ends))
    const { body: created } = await create({ ...VA, metadata: { note: 'ünïcode ✓', big: 1 } })
    await world.pay(String(created['id']))

    const attemptsMade = async () =>
      new Map((await deliveriesOf(world, clientId)).map(({ url, attempts }) => [url, attempts.length]))
    for (const [at, wait] of [0, ...WAITS].entries()) {
      if (wait > 0) await world.advance(wait)
      const expected = Object.keys(ends).map((url): [string, number] => [url, url === working.url ? 1 : at + 1])
      await expect.poll(attemptsMade, { timeout: 15_000 }).toStrictEqual(new Map(expected))
    }

    const deliveries = await deliveriesOf(world, clientId)
    for (const { url, status, attempts } of deliveries) {
      const errors = new Set(attempts.map(({ error, http_status: http }) => `${error}/${http}`))
      const times = attempts.map(({ at }) => Date.parse(at) / 1_000)
      const early = times.slice(1).filter((time, index) => time - (times[index] ?? 0) < (WAITS[index] ?? 0))
      expect([url, [...errors], early]).toStrictEqual([url, [ends[url]], []])
      expect([url, status]).toStrictEqual([url, url === working.url ? 'succeeded' : 'abandoned'])
    }
    expect(deliveries.find(({ url }) => url === failing.url)?.attempts[0]?.response_body).toBe('x'.repeat(1_024))

    const misbehaving = endpoints.filter(({ url }) => url !== working.url)
    const alertsOf = async (endpoint: unknown) =>
      (await world.alerts()).filter((alert) => JSON.stringify(alert).includes(String(endpoint))).map(({ kind }) => kind)
    for (const { endpoint_id: id } of misbehaving) {
      await expect.poll(() => alertsOf(id)).toStrictEqual(['delivery.abandoned'])
    }

    const posts = recorders.flatMap((recorder) => recorder.posts)
    expect(posts).toHaveLength(17)
    expect(new Set(posts.map(({ body }) => body.toString('hex'))).size).toBe(1)
    for (const recorder of recorders) {
      const secret = String(endpoints.find(({ url }) => url === recorder.url)?.['signing_secret'])
      expect(new Set(recorder.posts.map(({ headers }) => headers['x-gateway-delivery-id'])).size).toBe(1)
      for (const { body, headers } of recorder.posts) {
        expect(headers['x-gateway-signature']).toBe(opensslHmac(secret, body))
        expect(headers['x-gateway-event']).toBe('payment.succeeded')
        // By the machine's own time, however far the gateway's clock has jumped.
        const library = new Webhook(secret)
        expect(library.verify(body, headers as Record<string, string>)).toMatchObject({
          event_id: headers['webhook-id'],
        })
      }
    }
  })

  it('hold up no other endpoint of the same client when they hang, and get everything once they answer', async ({
    world,
  }) => {
    let answers = false
    const hanging = await startTcpServer((socket) => {
      socket.once('data', () => answers && socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
    })
    const working = await startRecorder(200)
    const { clientId, create, endpoints } = await world.merchant([`http://127.0.0.1:${hanging}/hooks`, working.url])
    const created = await Promise.all(Array.from({ length: 20 }, () => create(VA)))

    await Promise.all(created.map(({ body }) => world.pay(String(body['id']))))

    // The hanging endpoint holds its attempts for ten seconds each; all twenty others are there long before.
    await expect.poll(() => working.posts.length, { timeout: 9_000 }).toBe(20)
    const hung = async () => (await deliveriesOf(world, clientId)).filter(({ url }) => url !== working.url)
    expect((await hung()).every(({ status }) => status === 'scheduled')).toBe(true)

    // Twenty attempts end together, and one of them says that what follows belongs into the slow lane.
    const slowId = String(endpoints.find(({ url }) => url !== working.url)?.['endpoint_id'])
    const said = (code: string) =>
      world.cloud.log.lines().filter((line) => line.includes(code) && line.includes(slowId))
    await expect.poll(() => said('endpoint.slow').length, { timeout: 20_000 }).toBe(1)
    await expect.poll(async () => (await hung()).every(({ attempts }) => attempts.length === 1)).toBe(true)
    answers = true
    await world.advance(60)

    // Delivered to by the workers of that lane: its first answer is what brings it back.
    await expect.poll(async () => (await hung()).every(({ status }) => status === 'succeeded')).toBe(true)
    expect(said('endpoint.answers_again')).toHaveLength(1)
    expect((await hung()).map(({ attempts }) => attempts.length)).toStrictEqual(created.map(() => 2))
  })
})
