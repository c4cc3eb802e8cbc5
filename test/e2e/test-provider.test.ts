import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CALLBACK_TOKEN } from '../../infra/local/provider-simulator/simulator-keys.ts'
import { OPEN_QUESTIONS } from '../../infra/local/test-provider/prove/prove-provider.ts'
import { CHANNELS } from '../../shared/channel/channels.ts'
import { eventually } from '../support/eventually.ts'
import { ownPorts } from '../support/own-ports.ts'
import { runTool } from '../support/run-tool.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { merchantAt, sendAsBrowser, spawnGateway, VA, worldAt } from './gateway-world.ts'
import { providerBehindTls } from './provider-behind-tls.ts'

/*
 * Goal: `npm start -- --provider xendit-test` works with a provider elsewhere, as with the
 * simulator. Method: the gateway is a process of its own. The simulator stands for the provider,
 * behind TLS at a name with a certificate of its own. It has its own clock, and no callback reaches
 * the gateway, unless a test carries it there.
 */

const ARGS = ['--provider', 'xendit-test', '--table', 'memory'] as const

it('a payment succeeds without callbacks, its customer pays as at the simulator, and no clock jumps', async () => {
  const provider = await providerBehindTls()
  const gateway = spawnGateway({ args: ARGS, env: provider.env })
  const banner = await gateway.ready()
  const { pay, webhooksOf } = worldAt(banner)
  const merchant = merchantAt(banner)
  const { body } = await merchant.create(VA, 'order-1')
  const id = String(body['id'])

  await pay(id)

  await eventually(async () => expect((await merchant.payment(id))['status']).toBe('succeeded'))
  await eventually(async () => expect(await webhooksOf(id)).toHaveLength(1))
  expect(gateway.output()).toContain(`relays customers to ${provider.url}`)
  expect(await (await fetch(`${banner.lambda}/_local/log`)).text()).not.toContain(
    provider.env.XENDIT_SECRET_KEY,
  )
  // The provider would not follow a jump of the clock.
  const jump = { method: 'POST', body: { advance_seconds: 60 } }
  expect(await sendAsBrowser(`${banner.lambda}/_local/clock`, jump)).toMatchObject({
    status: 409,
    body: expect.stringContaining('runs in real time'),
  })
})

it('a callback at the public address is received, and nothing else is answered there', async () => {
  const provider = await providerBehindTls()
  const banner = await spawnGateway({
    args: ARGS,
    env: {
      ...provider.env,
      XENDIT_CALLBACK_URL: 'https://shop.tunnel.example',
      XENDIT_CALLBACK_TOKEN: CALLBACK_TOKEN,
    },
  }).ready()
  const merchant = merchantAt(banner)
  const { body } = await merchant.create(VA, 'order-1')
  const id = String(body['id'])
  await worldAt(banner).pay(id)
  const [callback] = await provider.callbacks(1)
  const atTunnel = (path: string, host = 'shop.tunnel.example') =>
    sendAsBrowser(banner.api + path, {
      method: 'POST',
      headers: { host, 'x-callback-token': String(callback?.headers['x-callback-token']) },
      body: callback?.body,
    })

  const received = await atTunnel('/callbacks/xendit')

  expect(received.status).toBe(200)
  expect((await merchant.payment(id))['status']).toBe('succeeded')
  expect((await atTunnel('/v1/payments')).status).toBe(403)
  expect((await atTunnel('/callbacks/xendit?x')).status).toBe(403)
  expect((await atTunnel('/callbacks/xendit', 'other.example')).status).toBe(403)
})

it.for([
  ['xnd_production_abcdef', 2, 'only test mode is allowed'],
  ['xnd_development_unknown', 1, 'refuses XENDIT_SECRET_KEY (INVALID_API_KEY)'],
] as const)('a start with the key "%s" ends with %i and a reason', async ([key, code, reason]) => {
  const provider = await providerBehindTls()

  const gateway = spawnGateway({ args: ARGS, env: { ...provider.env, XENDIT_SECRET_KEY: key } })

  expect(await gateway.exited).toStrictEqual([code, null])
  expect(gateway.output()).toContain(reason)
  expect(gateway.output()).not.toContain(key)
})

/*
 * Goal: `npm run prove-provider` tells what a provider does, and keeps nothing of an account.
 * Method: the simulator stands for the provider. It has a host name and a TLS certificate. Its
 * answers to some open questions are known.
 */

const MAIN = join(PROJECT_ROOT, 'infra/local/test-provider/prove/main.ts')

it('walks every channel, answers the open questions, and keeps scrubbed exchanges', async () => {
  const provider = await providerBehindTls()
  const out = join(tempDirectory(), 'proof.json')

  const { code, output, errors } = await runTool(process.execPath, [MAIN, '--out', out], {
    env: provider.env,
  })

  expect({ code, errors: errors.replaceAll(/ {2}channel \w+…\n/g, '') }).toStrictEqual({
    code: 0,
    errors: '',
  })
  expect(output).toContain('no         Does a second create with the same idempotency-key return')
  expect(output).toContain('yes        Is a second create with the same reference_id accepted?')
  const text = readFileSync(out, 'utf8')
  const [head = '', ...exchanges] = text.trim().split('\n')
  expect(JSON.parse(head)).toMatchObject({ from: 'api.provider.test' })
  expect(JSON.parse(head).answers).toHaveLength(OPEN_QUESTIONS.length)
  expect(exchanges.length).toBeGreaterThan(7 * CHANNELS.length)
  for (const secret of [provider.env.XENDIT_SECRET_KEY, '+6281234567890', 'Prove Provider'])
    expect(text).not.toContain(secret)
})

it('counts the callbacks that reach its public address', async () => {
  const provider = await providerBehindTls()
  const port = await ownPorts()
  const walk = runTool(process.execPath, [MAIN], {
    env: {
      ...provider.env,
      PORT: String(port),
      XENDIT_CALLBACK_URL: 'https://shop.tunnel.example',
      XENDIT_CALLBACK_TOKEN: CALLBACK_TOKEN,
    },
  })
  const send = (event: string, token: string) =>
    sendAsBrowser(`http://127.0.0.1:${port}/callbacks/xendit`, {
      method: 'POST',
      headers: { host: 'shop.tunnel.example', 'x-callback-token': token, 'webhook-id': 'w' },
      body: { event },
    }).catch(() => ({ status: 0 }))

  await eventually(async () =>
    expect((await send('payment_request.expired', CALLBACK_TOKEN)).status).toBe(200),
  )
  const forged = await send('payment.capture', 'a forged token of a stranger')

  const { output } = await walk
  expect(forged.status).toBe(401)
  expect(output).toContain('yes        Does every callback have the header webhook-id?  (0 of 1')
  expect(output).toMatch(
    /^no .*announced as payment_request\.expiry\? {2}\(payment_request\.expired/m,
  )
})
