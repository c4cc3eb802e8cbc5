import { Webhook } from 'standardwebhooks'
import { describe, expect, it as plainIt, vi } from 'vitest'
import { type ListenIo, postEvent, runListen } from '../../infra/operate/listen/run-listen.ts'
import { eventually } from '../support/eventually.ts'
import { json, type ReceivedRequest, startScriptedServer } from '../support/scripted-server.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { worldIt as it, QRIS, type World } from './gateway-world.ts'

async function aServer(status = 200) {
  const server = await startScriptedServer(json(status, {}))
  const got = (count: number) => eventually(() => expect(server.requests).toHaveLength(count))
  return { ...server, got }
}

type Run = Pick<ListenIo, 'env'> & { readonly directory?: string; readonly input?: string }

/** The command's pauses are short. */
function startListen(
  argv: readonly string[],
  { env, directory = tempDirectory(), input = '' }: Run,
) {
  const controller = new AbortController()
  const [lines, waits]: [string[], number[]] = [[], []]
  for (const stream of ['log', 'error'] as const)
    vi.spyOn(console, stream).mockImplementation((text) => void lines.push(text))
  const sleep = async (ms: number) => {
    waits.push(ms)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const exitCode = runListen(argv, {
    env,
    directory,
    readInput: async () => input,
    signal: controller.signal,
    sleep,
  })
  const stop = async () => {
    controller.abort()
    expect(await exitCode).toBe(0)
  }
  const polls = (more: number) => eventually(() => expect(waits.length).toBeGreaterThan(more))
  return { lines, waits, exitCode, stop, polls }
}

function envOf(url: string, key = 'k') {
  return { env: { GATEWAY_API_KEY: key, PORT: new URL(url).port } }
}
function forwardTo(url: string) {
  return ['--stage', 'local', '--forward', url]
}
const SINCE = ['--since', '2026-01-01T00:00:00Z']

/** A JSON parser would change the metadata of these payments. */
async function aMerchant({ urls, merchant, post, pay }: World) {
  const { key, payment, get } = await merchant()
  const newPaidPayment = async () => {
    const body = `${JSON.stringify(QRIS).slice(0, -1)},"metadata":{"9":1.0,"1":12345678901234567890}}`
    const headers = { authorization: `Bearer ${key}`, 'idempotency-key': crypto.randomUUID() }
    const id = String((await post(`${urls.api}/v1/payments`, body, headers)).body['id'])
    await pay(id)
    await eventually(async () => expect(await payment(id)).toMatchObject({ status: 'succeeded' }))
    return id
  }
  return { key, get, newPaidPayment, ...envOf(urls.api, key) }
}

describe('npm run listen', () => {
  it('posts each event once with a new signature, and continues where the last run ended', async ({
    world,
  }) => {
    const { key, get, newPaidPayment, env } = await aMerchant(world)
    const server = await aServer()
    const run = { env, directory: tempDirectory() }
    const argv = forwardTo(`${server.url}/hooks`)

    const firstRun = startListen([...argv, ...SINCE], run)
    const firstId = await newPaidPayment()
    await server.got(1)
    await firstRun.stop()
    const secondId = await newPaidPayment()
    const secondRun = startListen(argv, run)
    await server.got(2)
    // The feed shows a young event twice, and the command has asked again by now.
    await secondRun.polls(3)
    await secondRun.stop()

    const secret = /Signing secret: (whsec_\S+)/.exec(firstRun.lines.join('\n'))?.[1] ?? ''
    const verified = ({ body, headers }: ReceivedRequest) =>
      Object(new Webhook(secret).verify(body, headers as Record<string, string>))
    expect(server.requests.map((request) => verified(request).data.id)).toStrictEqual([
      firstId,
      secondId,
    ])
    expect(secondRun.lines.join('\n')).toContain(secret)
    const { text } = await get('/v1/events')
    for (const { body } of server.requests) expect(text).toContain(body)
    expect([...firstRun.lines, ...secondRun.lines].join('\n')).not.toContain(key)
  })

  it('ends with a message when no server listens, after growing waits', async ({ world }) => {
    const { key, newPaidPayment, env } = await aMerchant(world)
    await newPaidPayment()
    const closedServer = await aServer()
    await closedServer.close()

    const run = startListen([...forwardTo(closedServer.url), ...SINCE], {
      env: { PORT: env.PORT },
      input: `${key}\n`,
    })
    expect(await run.exitCode).toBe(1)
    expect(run.lines.at(-1)).toMatch(
      /^nothing listens at http:\/\/127\.0\.0\.1:\d+\/: start your server$/,
    )
    expect(run.waits.slice(0, 3)).toStrictEqual([1_000, 2_000, 4_000])
  })

  it('begins with new events, after a jump of the clock too', async ({ world }) => {
    const { newPaidPayment, env } = await aMerchant(world)
    await world.advance(86_400)
    await newPaidPayment()
    await world.advance(2)
    const server = await aServer()

    const directory = tempDirectory()
    const start = () => startListen(forwardTo(server.url), { env, directory })
    const run = start()
    await run.polls(1)
    const newId = await newPaidPayment()

    await server.got(1)
    expect(server.requests[0]?.body).toContain(newId)
    await run.stop()
    // The feed repeats events then.
    await world.advance(301)
    const nextRun = start()
    await nextRun.polls(1)
    await nextRun.stop()
    expect(server.requests).toHaveLength(1)
  })

  it('continues after an event that the server refuses', async ({ world }) => {
    const { newPaidPayment, env } = await aMerchant(world)
    await newPaidPayment()
    await newPaidPayment()

    const run = startListen([...forwardTo((await aServer(500)).url), ...SINCE], { env })
    const refusedLines = () =>
      run.lines.filter((line) => /payment\.succeeded {2}\S+ {2}500 in/.test(line))
    await eventually(() => expect(refusedLines()).toHaveLength(2))

    await run.stop()
  })
})

describe('npm run listen, refused', () => {
  const FORWARD = forwardTo('http://localhost:4000/hooks')

  plainIt('says what to do when the key is refused, and goes on with --since', async () => {
    const { url, requests } = await aServer(401)
    const given = { ...envOf(url), directory: tempDirectory() }
    const run = startListen([...FORWARD, ...SINCE], given)

    expect(await run.exitCode).toBe(1)
    expect(run.lines.at(-1)).toMatch(
      /refuses the key \(401\).*issue-api-key CLIENT_ID --stage local/,
    )
    await startListen(FORWARD, given).exitCode
    expect(requests[1]?.url).toContain('since=2026-01-01')
  })

  plainIt('names the address of the gateway after twelve tries', async () => {
    const { url, close } = await aServer()
    await close()

    const run = startListen(FORWARD, envOf(url))

    expect([await run.exitCode, run.waits.length]).toStrictEqual([1, 11])
    const message = `${url} cannot be reached (ECONNREFUSED): npm start starts it, and PORT says where it is`
    expect(run.lines.at(-1)).toBe(message)
  })

  plainIt('posts what came before the first answer', async () => {
    const server = await aServer()
    const event = { event: 'x', event_id: crypto.randomUUID(), data: {} }
    let timestamp: Date | undefined
    const gateway = await startScriptedServer((response, request) => {
      timestamp ??= new Date()
      const answer = json(200, { data: [{ ...event, timestamp }], next: '', has_more: false })
      setTimeout(() => answer(response, request), 1_100)
    })

    const run = startListen(forwardTo(server.url), envOf(gateway.url))
    await server.got(1)
    await run.stop()
  })

  plainIt('recognises a missing server when each of its addresses refuses', async () => {
    const cause = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
    vi.spyOn(globalThis, 'fetch').mockRejectedValueOnce(new TypeError('fetch failed', { cause }))
    const target = { url: 'http://localhost:4000/', signingSecret: 'whsec_x' }
    const event = { event: 'x', event_id: 'e', body: Buffer.from('{}') } as never

    await expect(postEvent(target, event)).rejects.toThrow(
      'nothing listens at http://localhost:4000/',
    )
  })

  plainIt.each([
    ['no stage', FORWARD.slice(2), 'name the stage'],
    ['a server elsewhere', forwardTo('https://shop.example/hooks'), 'on this machine'],
    ['no key', FORWARD, 'set GATEWAY_API_KEY'],
    ['a stage with an invalid name', ['--stage', 'No!', ...FORWARD.slice(2)], 'a name is at most'],
    // It would be kept for the next run.
    ['no time', [...FORWARD, '--since', 'today'], '--since takes a time'],
    ['the key as an argument', ['--key', 'gk_local_x', ...FORWARD], "Unknown option '--key'"],
  ])('refuses a wrong command line: %s', async (mistake, argv, message) => {
    const run = startListen(argv, { env: mistake === 'no key' ? {} : { GATEWAY_API_KEY: 'k' } })

    expect(await run.exitCode).toBe(2)
    expect(run.lines.join('\n')).toContain(message)
  })
})
