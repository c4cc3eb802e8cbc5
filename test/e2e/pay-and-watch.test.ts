import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, onTestFinished, it as plainIt } from 'vitest'
import { banner } from '../../infra/local/banner.ts'
import { startLocalHttpServer } from '../../infra/local/process/local-http-server.ts'
import { eventually } from '../support/eventually.ts'
import { outputOf, runTool } from '../support/run-tool.ts'
import { worldIt as it, VA, type World } from './gateway-world.ts'
import { runScripts } from './run-scripts.ts'

const COMMANDS = join(import.meta.dirname, '../../infra/local/commands')
const UNKNOWN = '00000000-0000-4000-8000-000000000000'

function portOf(url: string, offset = 0) {
  return String(Number(new URL(url).port) - offset)
}

function runPay(providerUrl: string, ...argv: readonly string[]) {
  return runTool(process.execPath, [join(COMMANDS, 'pay.ts'), ...argv], {
    env: { PORT: portOf(providerUrl, 2) },
  })
}

function startWatch(apiUrl: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(COMMANDS, 'watch.ts')], {
    env: { ...process.env, PORT: portOf(apiUrl), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return {
    out: outputOf([child.stdout]),
    exit: once(child, 'close'),
    end: () => child.kill('SIGINT'),
  }
}

async function newPayment(world: World) {
  const merchant = await world.merchant()
  const { body } = await merchant.create(VA, crypto.randomUUID())
  return { ...merchant, id: String(body['id']) }
}

describe('npm run pay and npm run watch', () => {
  it('pay a payment and show what happens to it', async ({ world }) => {
    const { id } = await newPayment(world)
    const watch = startWatch(world.urls.api)

    const result = await runPay(world.urls.provider, id)

    expect(result).toMatchObject({ code: 0, output: expect.stringMatching(/^The customer paid/) })
    const paymentLine = `${id.slice(0, 8)}  paid by BCA \\(reported by callback\\); 1 webhook to send`
    await eventually(() =>
      expect(watch.out()).toMatch(new RegExp(`^\\S+ \\S+  payment +${paymentLine}$`, 'm')),
    )
    await eventually(() => expect(watch.out()).toMatch(/answered 200 in/))
    watch.end()
    expect(await watch.exit).toStrictEqual([0, null])
  })

  it.for([
    ['--fail', 'failed', /failed to pay/],
    ['--expire', 'expired', /time to pay is over/],
  ] as const)('end a payment in another way: %s', async ([flag, status, said], { world }) => {
    const { id, payment } = await newPayment(world)

    expect(await runPay(world.urls.provider, id, flag)).toMatchObject({
      code: 0,
      output: expect.stringMatching(said),
    })

    await eventually(async () => expect(await payment(id)).toMatchObject({ status }))
  })

  it('reverse the money of a paid payment only', async ({ world }) => {
    const { id } = await newPayment(world)

    const refund = ['--reverse', 'refund', '--amount', '5000']

    const refusal = await runPay(world.urls.provider, id, ...refund)
    await runPay(world.urls.provider, id)
    const reversal = await runPay(world.urls.provider, id, ...refund)

    expect([refusal.code, reversal.code]).toStrictEqual([1, 0])
    expect(reversal.output).toContain('refund')
  })

  it('refuse a wrong command line with a message', async ({ world: { urls } }) => {
    const cases = [
      [1, `the provider has no payment ${UNKNOWN}; check the id`, UNKNOWN],
      [2, String.raw`\u001b[2J is not the id of a payment`, '\u001b[2J'],
      [2, 'choose one of --fail, --expire and --reverse', UNKNOWN, '--fail', '--expire'],
      [2, '--amount needs --reverse', UNKNOWN, '--amount', '1'],
      [2, expect.stringMatching(/^--reverse takes voided/), UNKNOWN, '--reverse', 'refunded'],
      [2, expect.stringMatching(/whole amount/), UNKNOWN, '--reverse=voided', '--amount=1'],
    ] as const

    const results = await runScripts(
      cases.map(([, , ...argv]) => ['infra/local/commands/pay.ts', ...argv] as const),
      { PORT: portOf(urls.provider, 2) },
    )

    expect(results.map(({ code, out, err }) => [code, out, err.split('\n')[0]])).toStrictEqual(
      cases.map(([code, message]) => [code, '', message]),
    )
  })
})

it('the banner of npm start shows the console first, and the command that pays, with the port of this gateway', ({
  world: { cloud },
}) => {
  const usual = { api: 'http://127.0.0.1:3000', provider: 'http://127.0.0.1:3002' }

  const shown = banner({ ...cloud, urls: { ...cloud.urls, ...usual } }, { startedInMs: 1 })

  const [first = ''] = /http\S+/.exec(shown) ?? []
  expect(first).toBe('http://127.0.0.1:3000/console')
  expect(shown).toContain('\n  npm run pay -- $ID\n')
})

describe('npm run watch', () => {
  const HOSTILE = '\u001b]0;gone\u0007\u202e\nforged'
  const aFeed = (stream: (send: (text: string) => void) => () => void) =>
    startLocalHttpServer({ port: 0, answer: () => ({ headers: {}, stream }) })

  plainIt(
    'shows foreign text without control characters, in colours, and ends with the gateway',
    async () => {
      const line = { at: HOSTILE, subject: HOSTILE, tone: 'bad', id: HOSTILE, text: HOSTILE }
      const server = await aFeed((send) => {
        send(`event: begin\ndata: {}\n\n: ${HOSTILE}\n\ndata: ${JSON.stringify(line)}\n\n`)
        return () => undefined
      })
      const watch = startWatch(server.url, { FORCE_COLOR: '1' })
      await eventually(() => expect(watch.out()).toContain('forged'))

      await server.close(60_000)

      expect(await watch.exit).toStrictEqual([0, null])
      const plain = stripVTControlCharacters(watch.out())
      expect(plain).not.toBe(watch.out())
      expect(plain.replaceAll('\n', '')).toMatch(/^[^\p{Cc}\p{Cf}]*$/u)
      expect(plain.split('\n')).toHaveLength(3)
    },
  )

  plainIt('names the address when no gateway answers', async () => {
    const server = await aFeed(() => () => undefined)
    await server.close()

    const result = await runTool(process.execPath, [join(COMMANDS, 'watch.ts')], {
      env: { PORT: portOf(server.url) },
    })

    const errors = expect.stringContaining(`no gateway answers at ${server.url}`)
    expect(result).toStrictEqual({ code: 1, output: '', errors })
  })
})
