import { Webhook } from 'standardwebhooks'
import { describe, expect, it as plainIt, vi } from 'vitest'
import { postEvent } from '../../infra/operate/listen/post-event.ts'
import { type ListenIo, runListen } from '../../infra/operate/listen/run-listen.ts'
import type { EventId } from '../../shared/ids.ts'
import { eventually } from '../support/eventually.ts'
import { json, type ReceivedRequest, startScriptedServer } from '../support/scripted-server.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { worldIt as it, QRIS, type World } from './gateway-world.ts'

function aServer(status = 200) {
  return startScriptedServer(json(status, {}))
}

type Run = Pick<ListenIo, 'env'> & { readonly directory?: string; readonly input?: string }

/** Runs the command until `stop`, or until it ends by itself. Its pauses are short. */
function listening(argv: readonly string[], { env, directory = tempDirectory(), input = '' }: Run) {
  const stopping = new AbortController()
  const [said, waits]: [string[], number[]] = [[], []]
  for (const stream of ['log', 'error'] as const)
    vi.spyOn(console, stream).mockImplementation((text) => void said.push(text))
  const sleep = async (ms: number) => {
    waits.push(ms)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const ended = runListen(argv, {
    env,
    directory,
    readInput: async () => input,
    signal: stopping.signal,
    sleep,
  })
  const stop = () => {
    stopping.abort()
    return ended
  }
  return { said, waits, ended, stop }
}

function portOf(url: string) {
  return new URL(url).port
}
function to(url: string) {
  return ['--stage', 'local', '--forward', url]
}
const SINCE = ['--since', '2026-01-01T00:00:00Z']

/** A merchant, the command's settings for it, and payments whose metadata a JSON parser would change. */
async function aMerchant({ urls, merchant, post, pay }: World) {
  const { key, payment, get } = await merchant()
  const paid = async () => {
    const body = `${JSON.stringify(QRIS).slice(0, -1)},"metadata":{"9":1.0,"1":12345678901234567890}}`
    const headers = { authorization: `Bearer ${key}`, 'idempotency-key': crypto.randomUUID() }
    const id = String((await post(`${urls.api}/v1/payments`, body, headers)).body['id'])
    await pay(id)
    await eventually(async () => expect(await payment(id)).toMatchObject({ status: 'succeeded' }))
    return id
  }
  return { key, get, paid, env: { GATEWAY_API_KEY: key, PORT: portOf(urls.api) } }
}

describe('npm run listen', () => {
  it('posts each event once, signed anew, and continues where it ended', async ({ world }) => {
    const { key, get, paid, env } = await aMerchant(world)
    const server = await aServer()
    const run = { env, directory: tempDirectory() }
    const argv = to(`${server.url}/hooks`)

    const first = listening([...argv, ...SINCE], run)
    const one = await paid()
    await eventually(() => expect(server.requests).toHaveLength(1))
    expect(await first.stop()).toBe(0)
    const two = await paid()
    const second = listening(argv, run)
    await eventually(() => expect(server.requests).toHaveLength(2))
    // The feed shows a young event twice, and the command has asked again by now.
    await eventually(() => expect(second.waits.length).toBeGreaterThan(3))
    expect(await second.stop()).toBe(0)

    const secret = /Signing secret: (whsec_\S+)/.exec(first.said.join('\n'))?.[1] ?? ''
    // Throws unless the request is signed with the secret that the command printed.
    const verified = ({ body, headers }: ReceivedRequest) =>
      Object(new Webhook(secret).verify(body, headers as Record<string, string>))
    expect(server.requests.map((request) => verified(request).data.id)).toStrictEqual([one, two])
    expect(second.said.join('\n')).toContain(secret)
    const { text } = await get('/v1/events')
    for (const { body } of server.requests) expect(text).toContain(body)
    expect([...first.said, ...second.said].join('\n')).not.toContain(key)
  })

  it('keeps an event for a server that is not there, and says so', async ({ world }) => {
    const { key, paid, env } = await aMerchant(world)
    await paid()
    const closed = await aServer()
    await closed.close()

    const alone = listening([...to(closed.url), ...SINCE], {
      env: { PORT: env.PORT },
      input: `${key}\n`,
    })
    expect(await alone.ended).toBe(1)
    expect(alone.said.at(-1)).toMatch(
      /^nothing listens at http:\/\/127\.0\.0\.1:\d+\/: start your server$/,
    )
    expect(alone.waits.slice(0, 3)).toStrictEqual([1_000, 2_000, 4_000])
  })

  it('goes on after an event that the server refuses', async ({ world }) => {
    const { paid, env } = await aMerchant(world)
    await paid()
    await paid()

    const run = listening([...to((await aServer(500)).url), ...SINCE], { env })
    const refused = () =>
      run.said.filter((line) => /payment\.succeeded {2}\S+ {2}500 in/.test(line))
    await eventually(() => expect(refused()).toHaveLength(2))

    expect(await run.stop()).toBe(0)
  })
})

describe('npm run listen, refused', () => {
  const FORWARD = to('http://localhost:4000/hooks')

  it('says what to do about a key that is not taken', async ({ world }) => {
    const run = listening(FORWARD, {
      env: { GATEWAY_API_KEY: 'gk_local_unknown', PORT: portOf(world.urls.api) },
    })

    expect(await run.ended).toBe(1)
    expect(run.said.at(-1)).toMatch(
      /refuses the key \(401\).*issue-api-key CLIENT_ID --stage local/,
    )
  })

  plainIt('says where it looked, after twelve tries', async () => {
    const { url, close } = await aServer()
    await close()

    const run = listening(FORWARD, { env: { GATEWAY_API_KEY: 'k', PORT: portOf(url) } })

    expect([await run.ended, run.waits.length]).toStrictEqual([1, 11])
    const says = `${url} cannot be reached (ECONNREFUSED): npm start starts it, and PORT says where it is`
    expect(run.said.at(-1)).toBe(says)
  })

  plainIt('recognises a server that is not there when each of its addresses refuses', async () => {
    const cause = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
    vi.spyOn(globalThis, 'fetch').mockRejectedValueOnce(new TypeError('fetch failed', { cause }))
    const target = { url: 'http://localhost:4000/', signingSecret: 'whsec_x' }
    const event = {
      event: 'payment.succeeded',
      event_id: 'e' as EventId,
      data: { id: '' },
      body: Buffer.from('{}'),
    }

    await expect(postEvent(target, event)).rejects.toThrow(
      'nothing listens at http://localhost:4000/',
    )
  })

  plainIt.each([
    ['no stage', FORWARD.slice(2), 'name the stage'],
    ['a server elsewhere', to('https://shop.example/hooks'), 'on this machine'],
    ['no key', FORWARD, 'set GATEWAY_API_KEY'],
    [
      'a stage without a name of the right form',
      ['--stage', 'No!', ...FORWARD.slice(2)],
      'a name is at most',
    ],
    ['the key as an argument', ['--key', 'gk_local_x', ...FORWARD], "Unknown option '--key'"],
  ])('is called wrongly with %s', async (what, argv, message) => {
    const run = listening(argv, { env: what === 'no key' ? {} : { GATEWAY_API_KEY: 'k' } })

    expect(await run.ended).toBe(2)
    expect(run.said.join('\n')).toContain(message)
  })
})
