import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { startWebhookInbox } from '../../../infra/local/emulators/webhook-inbox.ts'
import { startLocalClock } from '../../../infra/local/process/local-clock.ts'

const SECRET = 'whsec_demo'

type Received = { at: string; headers: Record<string, string>; body: string; signature_valid: boolean | null }

const anInbox = async (options: { kept?: number } = {}) => {
  const clock = startLocalClock({ offsetMs: 3_600_000 })
  const inbox = await startWebhookInbox({ port: 0, signingSecret: () => SECRET, clock, ...options })
  const call = (method: string, path: string, body?: string | Buffer, headers: Record<string, string> = {}) =>
    fetch(inbox.url + path, { method, headers, redirect: 'manual', ...(body === undefined ? {} : { body }) })
  return {
    clock,
    inbox,
    call,
    deliver: (body: string | Buffer = '{}', headers: Record<string, string> = {}) =>
      call('POST', '/hooks', body, headers),
    behave: (behaviour: unknown) => call('POST', '/behaviour', JSON.stringify(behaviour)),
    received: async () => {
      const deliveries: Received[] = JSON.parse(await (await call('GET', '/received')).text())
      return deliveries
    },
    [Symbol.asyncDispose]: async () => {
      await inbox.close()
      clock.close()
    },
  }
}

const signed = (body: string | Buffer, secret = SECRET) => ({
  'x-gateway-signature': createHmac('sha256', secret).update(body).digest('hex'),
})

describe('POST /hooks of the webhook inbox', () => {
  it('records time on the clock, headers, body and the verdict on the signature', async () => {
    await using inbox = await anInbox()
    const body = '{"event":"payment.succeeded","name":"Café"}'
    const before = inbox.clock.nowMs()

    const answer = await inbox.deliver(body, { ...signed(body), 'x-gateway-delivery-id': 'd-1' })

    const deliveries = await inbox.received()
    expect(answer.status).toBe(200)
    expect(deliveries).toStrictEqual([
      {
        at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
        headers: expect.objectContaining({ 'x-gateway-delivery-id': 'd-1' }),
        body,
        signature_valid: true,
      },
    ])
    expect(Date.parse(deliveries[0]?.at ?? '')).toBeGreaterThanOrEqual(before)
  })

  it.each([
    ['a signature by another secret', signed('{}', 'other')],
    ['a signature of another body', signed('{} ')],
    ['a signature in upper case', { 'x-gateway-signature': signed('{}')['x-gateway-signature'].toUpperCase() }],
    ['a signature of another length', { 'x-gateway-signature': 'ab' }],
    ['no signature', {}],
  ])('finds %s invalid', async (_what, headers) => {
    await using inbox = await anInbox()

    await inbox.deliver('{}', headers)

    expect((await inbox.received()).map(({ signature_valid: valid }) => valid)).toStrictEqual([false])
  })

  it('checks the raw bytes, not the text', async () => {
    await using inbox = await anInbox()
    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d])

    await inbox.deliver(bytes, signed(bytes))

    expect(await inbox.received()).toMatchObject([{ signature_valid: true }])
  })

  it('says null when it knows no secret', async () => {
    const clock = startLocalClock()
    const inbox = await startWebhookInbox({ port: 0, signingSecret: () => undefined, clock })

    await fetch(`${inbox.url}/hooks`, { method: 'POST', body: '{}' })

    const deliveries: Received[] = JSON.parse(await (await fetch(`${inbox.url}/received`)).text())
    await inbox.close()
    clock.close()
    expect(deliveries).toMatchObject([{ signature_valid: null }])
  })

  it('forgets on DELETE /received', async () => {
    await using inbox = await anInbox()
    await inbox.deliver()

    await inbox.call('DELETE', '/received')

    expect(await inbox.received()).toStrictEqual([])
  })

  it('keeps the latest deliveries only', async () => {
    await using inbox = await anInbox({ kept: 3 })

    for (const body of ['1', '2', '3', '4', '5']) await inbox.deliver(body)

    expect((await inbox.received()).map(({ body }) => body)).toStrictEqual(['3', '4', '5'])
  })
})

describe('POST /behaviour of the webhook inbox', () => {
  it('answers the next deliveries with a status until it is changed', async () => {
    await using inbox = await anInbox()
    await inbox.behave({ status: 500 })

    const statuses = [(await inbox.deliver()).status, (await inbox.deliver()).status]
    await inbox.behave({})
    statuses.push((await inbox.deliver()).status)

    expect(statuses).toStrictEqual([500, 500, 200])
    expect(await inbox.received()).toHaveLength(3)
  })

  it('goes back to 200 after the given times', async () => {
    await using inbox = await anInbox()
    await inbox.behave({ status: 503, times: 2 })

    const statuses = [(await inbox.deliver()).status, (await inbox.deliver()).status, (await inbox.deliver()).status]

    expect(statuses).toStrictEqual([503, 503, 200])
  })

  it('gives a redirect somewhere to go', async () => {
    await using inbox = await anInbox()
    await inbox.behave({ status: 302 })

    const answer = await inbox.deliver()

    expect([answer.status, answer.headers.get('location')]).toStrictEqual([302, '/hooks'])
  })

  it('closes the socket without an answer', async () => {
    await using inbox = await anInbox()
    await inbox.behave({ close: true, times: 1 })

    await expect(inbox.deliver('cut')).rejects.toThrow('fetch failed')

    expect(await inbox.received()).toMatchObject([{ body: 'cut' }])
    expect((await inbox.deliver()).status).toBe(200)
  })

  it('hangs, and serves others meanwhile, until it is closed', async () => {
    const inbox = await anInbox()
    await inbox.behave({ hang: true, times: 1 })
    const hanging = inbox.deliver('hung').catch((error: unknown) => error)
    for (let count = 0; count < 1; count = (await inbox.received()).length);

    const next = await inbox.deliver('next')
    await inbox[Symbol.asyncDispose]()

    expect(next.status).toBe(200)
    expect(await hanging).toBeInstanceOf(TypeError)
  })

  it('delays the answer, not the others', async () => {
    await using inbox = await anInbox()
    await inbox.behave({ status: 202, delay_ms: 100, times: 1 })
    const order: string[] = []
    const slow = inbox.deliver('slow').then(({ status }) => order.push(`slow ${status}`))
    for (let count = 0; count < 1; count = (await inbox.received()).length);

    const fast = inbox.deliver('fast').then(({ status }) => order.push(`fast ${status}`))
    await Promise.all([slow, fast])

    expect(order).toStrictEqual(['fast 200', 'slow 202'])
  })

  it.each(['{"status": 99}', '{"status": "500"}', '{"times": 0}', '{"delay": 5}', 'not json', ''])(
    'refuses %s and keeps its behaviour',
    async (body) => {
      await using inbox = await anInbox()

      const answer = await inbox.call('POST', '/behaviour', body)

      expect(answer.status).toBe(400)
      expect((await inbox.deliver()).status).toBe(200)
    },
  )

  it('answers 404 elsewhere', async () => {
    await using inbox = await anInbox()

    expect((await inbox.call('GET', '/hooks')).status).toBe(404)
    expect((await inbox.call('POST', '/', '{}')).status).toBe(404)
  })
})
