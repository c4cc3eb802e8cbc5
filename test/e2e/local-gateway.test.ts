import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { demoWalk } from '../../infra/local/demo-walk.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { ownWorldIt as it, sendAsBrowser, VA } from './gateway-world.ts'

describe('the local gateway and pages on the web (design section 6)', () => {
  // A path of each port, and the status that a permitted caller gets.
  it.for([
    ['api', '/v1/balance', 401],
    ['lambda', '/_local/clock', 200],
    ['provider', '/_simulator/calls', 200],
    ['inbox', '/received', 200],
  ] as const)(
    'answer 403 on the port of the %s, except to our own host names and pages',
    async ([server, path, served], { world }) => {
      const url = world.urls[server] + path
      const { port } = new URL(url)
      const hosts = [
        `evil.example:${port}`,
        'evil.example',
        `127.0.0.1.evil.example:${port}`,
        '0.0.0.0',
        '',
      ]
      const origins = [
        'null',
        'https://evil.example',
        'http://127.0.0.1',
        'http://localhost:1',
        'http://[::1]:1x',
      ]
      const ownPages = Object.values(world.urls).flatMap((own) =>
        ['127.0.0.1', 'localhost', '[::1]'].map((name) => own.replace('127.0.0.1', name)),
      )

      const ownNames = [`127.0.0.1:${port}`, 'localhost', 'LocalHost:1', '[::1]:3000']
      const requests = [
        ...hosts.map((host) => [{ host }, 403] as const),
        ...origins.map((origin) => [{ origin }, 403] as const),
        ...ownNames.map((host) => [{ host }, served] as const),
        ...ownPages.map((origin) => [{ origin }, served] as const),
      ]

      for (const [headers, status] of requests) {
        expect([headers, (await sendAsBrowser(url, { headers })).status]).toStrictEqual([
          headers,
          status,
        ])
      }
    },
  )
})

describe('the local gateway as a whole (design section 6)', () => {
  it('walks a payment from its creation to webhook, settlement and payout', async ({
    world: { cloud },
  }) => {
    const printed: string[] = []

    await demoWalk(cloud, (line) => printed.push(line))

    expect(printed.filter((line) => line.includes('balance  '))).toStrictEqual([
      '   balance      pending IDR 145850, available 0, in settlement 0, paid out 0',
      '   balance      pending IDR 0, available 0, in settlement 145410, paid out 0',
      '   balance      pending IDR 0, available 0, in settlement 0, paid out 145410',
      '   balance      pending IDR 5000, available 0, in settlement 0, paid out 145410',
    ])
  })

  it('shows a browser a page with the key and the first request, and everyone else the 404', async ({
    world: { urls, cloud },
  }) => {
    const page = await fetch(`${urls.api}/`, { headers: { accept: 'text/html,*/*' } })
    const other = await fetch(`${urls.api}/`)

    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const html = await page.text()
    for (const text of [`${urls.api}/console`, `${urls.api}/docs`, cloud.demoClient.api_key])
      expect(html).toContain(text)
    expect([other.status, await other.text()]).toStrictEqual([
      404,
      '{"message":"resource not found","code":"not_found"}\n',
    ])
  })

  it('refuses a payload over 10 MB as API Gateway does', async ({ world: { post, urls } }) => {
    const { status, body } = await post(`${urls.api}/v1/payments`, 'x'.repeat(10 * 1024 * 1024 + 1))

    expect([status, body]).toStrictEqual([413, { message: 'Request Entity Too Large' }])
  })

  it.for(['{"advance_seconds":-1}', '{}', 'x'])(
    'refuses the jump %s, which is no forward jump',
    async (jump, { world: { post, urls } }) => {
      expect((await post(`${urls.lambda}/_local/clock`, jump)).status).toBe(400)
    },
  )

  it('jumps after due callbacks', async ({ world: { merchant, pay, advance } }) => {
    const { create, payment } = await merchant([])
    const id = String((await create(VA)).body['id'])
    await pay(id)

    await advance(1)

    expect(await payment(id)).toMatchObject({ status: 'succeeded' })
  })

  it('begins no attempt while a jump waits for another one', async ({
    world: { merchant, pay, advance },
  }) => {
    const answers: (() => void)[] = []
    const { url } = await startScriptedServer((response) => answers.push(() => response.end()))
    const { create } = await merchant([url])
    const payOne = async () => pay((await create(VA)).body['id'])
    await payOne()
    await expect.poll(() => answers).toHaveLength(1)
    const jump = advance(3_600)
    await payOne()
    await sleep(500)
    expect(answers).toHaveLength(1)

    answers[0]?.()
    await jump

    await expect.poll(() => answers).toHaveLength(2)
  })

  it('shows the alerts of operators', async ({ world: { admin, merchant, urls } }) => {
    const { clientId } = await merchant([])
    for (const bank_account_no of ['0012345678', '0012345679']) {
      const bank = { bank_name: 'BCA', bank_account_no, bank_account_name: 'PT Kopi' }
      await admin('update-client', { operator: 'test', client_id: clientId, bank })
    }

    const alerts = async () => (await fetch(`${urls.lambda}/_local/alerts`)).json()
    const [at, message] = [expect.any(String), expect.any(String)]
    const bankChange = { at, kind: 'client.bank_changed', subject: clientId, message }
    await expect.poll(alerts).toContainEqual(bankChange)
  })

  it('keeps a log that names requests by their template and holds no key', async ({ world }) => {
    const { key, get: ask } = await world.merchant()
    await ask('/v1/payments/00000000-0000-4000-8000-000000000000')

    const log = await (await fetch(`${world.urls.lambda}/_local/log`)).text()

    expect(log).toContain('GET /v1/payments/{id}')
    expect(log).not.toContain(key)
  })
})

it('the local gateway answers 200 concurrent creates of one key with the same payment and one provider call', async ({
  world,
}) => {
  const { create } = await world.merchant([])
  const callsBefore = await world.createCalls()

  const answers = await Promise.all(Array.from({ length: 200 }, () => create(VA, 'one-key')))

  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(answers.map(({ status }) => status).filter((status) => status !== 200)).toStrictEqual([
    201,
  ])
  expect((await world.createCalls()) - callsBefore).toBe(1)
})
