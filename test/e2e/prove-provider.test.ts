import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CALLBACK_TOKEN } from '../../infra/local/provider-simulator/simulator-keys.ts'
import { OPEN_QUESTIONS } from '../../infra/local/test-provider/prove/prove-provider.ts'
import { CHANNELS } from '../../shared/payment/channel/channels.ts'
import { eventually } from '../support/eventually.ts'
import { ownPorts } from '../support/own-ports.ts'
import { runTool } from '../support/run-tool.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { sendAsBrowser } from './gateway-world.ts'
import { providerBehindTls } from './provider-behind-tls.ts'

/*
 * Goal: `npm run prove-provider` tells what a provider does, and keeps nothing of an account.
 * Method: the simulator stands for the provider, behind TLS at a name of its own. Its answers to
 * some open questions are known.
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
