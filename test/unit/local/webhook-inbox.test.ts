import { createHmac } from 'node:crypto'
import { it as base, describe, expect, onTestFinished } from 'vitest'
import { startWebhookInbox } from '../../../infra/local/emulators/start-webhook-inbox.ts'
import { startLocalClock } from '../../../infra/local/process/local-clock.ts'

const SECRET = 'whsec_demo'

type Received = { at: string; headers: Record<string, string>; body: string; signature_valid: boolean | null }

const anInbox = async ({ kept = 100, secret }: { readonly kept?: number; readonly secret?: string }) => {
  const clock = startLocalClock({ offsetMs: 3_600_000 })
  const { url, close } = await startWebhookInbox({ port: 0, signingSecret: () => secret, clock, kept })
  onTestFinished(async () => {
    await close()
    clock.close()
  })
  const call = (method: string, path: string, body: string | Buffer | null = null, headers = {}) =>
    fetch(url + path, { method, headers, redirect: 'manual', body })
  const deliver = (body: string | Buffer = '{}', headers = {}) => call('POST', '/hooks', body, headers)
  const received = async () => JSON.parse(await (await call('GET', '/received')).text()) as Received[]
  return {
    clock,
    close,
    call,
    deliver,
    received,
    /** The statuses of so many deliveries in a row. */
    statuses: async (count: number) => {
      const answers: number[] = []
      while (answers.length < count) answers.push((await deliver()).status)
      return answers
    },
    hasReceived: (count: number) => expect.poll(async () => (await received()).length).toBe(count),
    behave: (behaviour: unknown) => call('POST', '/behaviour', JSON.stringify(behaviour)),
  }
}

const it = base.extend('inbox', () => anInbox({ secret: SECRET }))

const signed = (body: string | Buffer) => ({
  'x-gateway-signature': createHmac('sha256', SECRET).update(body).digest('hex'),
})

describe('the webhook inbox (design section 6)', () => {
  it('records time on the clock, headers, body and the verdict on the signature', async ({ inbox }) => {
    const body = '{"event":"payment.succeeded","name":"Café"}'
    const before = inbox.clock.nowMs()

    const answer = await inbox.deliver(body, { ...signed(body), 'x-gateway-delivery-id': 'd-1' })

    const deliveries = await inbox.received()
    const headers: unknown = expect.objectContaining({ 'x-gateway-delivery-id': 'd-1' })
    expect(answer.status).toBe(200)
    expect(deliveries).toStrictEqual([{ at: expect.any(String), headers, body, signature_valid: true }])
    expect(Date.parse(deliveries[0]?.at ?? '')).toBeGreaterThanOrEqual(before)
  })

  const noText = Buffer.from([0x7b, 0xff, 0xfe, 0x7d])

  it.for([
    ['a signature of another body', false, SECRET, '{}', signed('{} ')],
    ['no signature', false, SECRET, '{}', {}],
    ['a signature of bytes that are no text', true, SECRET, noText, signed(noText)],
    ['a signature while it knows no secret', null, undefined, '{}', signed('{}')],
  ] as const)('says of %s whether it is valid: %s', async ([, valid, secret, body, headers]) => {
    const { deliver, received } = await anInbox({ ...(secret && { secret }) })

    await deliver(body, headers)

    expect(await received()).toMatchObject([{ signature_valid: valid }])
  })

  it('keeps the latest deliveries only, and forgets on DELETE /received', async () => {
    const { call, deliver, received } = await anInbox({ kept: 3 })

    for (const body of ['1', '2', '3', '4', '5']) await deliver(body)

    expect(await received()).toMatchObject([{ body: '3' }, { body: '4' }, { body: '5' }])
    await call('DELETE', '/received')
    expect(await received()).toStrictEqual([])
  })

  it.for([
    ['until it is changed', { status: 500 }, [500, 500, 500]],
    ['as often as it says', { status: 503, times: 2 }, [503, 503, 200]],
  ] as const)('answers the next deliveries with a status %s', async ([, behaviour, statuses], { inbox }) => {
    await inbox.behave(behaviour)

    expect(await inbox.statuses(3)).toStrictEqual(statuses)
    await inbox.behave({})
    expect(await inbox.statuses(1)).toStrictEqual([200])
  })

  it('closes the socket without an answer', async ({ inbox }) => {
    await inbox.behave({ close: true, times: 1 })

    await expect(inbox.deliver('cut')).rejects.toThrow('fetch failed')

    expect(await inbox.received()).toMatchObject([{ body: 'cut' }])
    expect(await inbox.statuses(1)).toStrictEqual([200])
  })

  it('hangs, and serves others meanwhile, until it is closed', async ({ inbox }) => {
    await inbox.behave({ hang: true, times: 1 })
    const hanging = inbox.deliver('hung').catch((error: unknown) => error)
    await inbox.hasReceived(1)

    const next = await inbox.deliver('next')
    await inbox.close()

    expect(next.status).toBe(200)
    expect(await hanging).toBeInstanceOf(TypeError)
  })

  it('delays the answer, not the others', async ({ inbox }) => {
    await inbox.behave({ status: 202, delay_ms: 100, times: 1 })
    const order: string[] = []
    const slow = inbox.deliver('slow').then(({ status }) => order.push(`slow ${status}`))
    await inbox.hasReceived(1)

    const fast = inbox.deliver('fast').then(({ status }) => order.push(`fast ${status}`))
    await Promise.all([slow, fast])

    expect(order).toStrictEqual(['fast 200', 'slow 202'])
  })

  it.for(['{"status": 99}', '{"delay": 5}', 'not json'])('refuses the behaviour %s', async (body, { inbox }) => {
    expect((await inbox.call('POST', '/behaviour', body)).status).toBe(400)
    expect(await inbox.statuses(1)).toStrictEqual([200])
  })
})
