import { createHmac } from 'node:crypto'
import { it as base, describe, expect, onTestFinished } from 'vitest'
import { startWebhookInbox } from '../../../infra/local/emulators/start-webhook-inbox.ts'
import { startLocalClock } from '../../../infra/local/process/local-clock.ts'

const SECRET = 'whsec_demo'

async function anInbox({ secret }: { readonly secret?: string | undefined }) {
  const clock = startLocalClock({ offsetMs: 3_600_000 })
  const ofDelivery = async (deliveryId: string) =>
    deliveryId === 'of another client' ? 'whsec_other' : undefined
  const { url, close } = await startWebhookInbox({
    port: 0,
    secrets: { ofDemo: () => secret, ofDelivery },
    clock,
  })
  onTestFinished(async () => {
    await close()
    clock.close()
  })
  const post = (path: string, body: string | Buffer, headers = {}) =>
    fetch(url + path, { method: 'POST', headers, redirect: 'manual', body })
  const listReceived = async () =>
    (await (await fetch(`${url}/received`)).json()) as { at: string }[]
  return {
    clock,
    close,
    listReceived,
    deliver: (body: string | Buffer = '{}', headers = {}) => post('/hooks', body, headers),
    behave: (behaviour: object) => post('/behaviour', JSON.stringify(behaviour)),
  }
}

const it = base.extend('inbox', () => anInbox({ secret: SECRET }))

function signature(body: string | Buffer, secret = SECRET) {
  return { 'x-gateway-signature': createHmac('sha256', secret).update(body).digest('hex') }
}
const FOREIGN = { 'x-gateway-delivery-id': 'of another client' }

describe('the webhook inbox (design section 6)', () => {
  const noText = Buffer.from([0x7b, 0xff, 0xfe, 0x7d])

  it.for([
    ['a signature of another body', false, SECRET, '{}', signature('{} ')],
    ['no signature', false, SECRET, '{}', {}],
    ['a signature of bytes that are no text', true, SECRET, noText, signature(noText)],
    [
      'another client’s signature',
      true,
      SECRET,
      '{}',
      { ...signature('{}', 'whsec_other'), ...FOREIGN },
    ],
    ['no signature of another client', false, SECRET, '{}', FOREIGN],
    ['a signature while it knows no secret', null, undefined, '{}', signature('{}')],
  ] as const)(
    'records for %s the verdict %s, with body, headers and time',
    async ([, valid, secret, body, headers]) => {
      const { deliver, listReceived, clock } = await anInbox({ secret })
      const before = clock.nowMs()

      await deliver(body, headers)

      const [webhook] = await listReceived()
      expect(webhook).toMatchObject({
        body: body.toString('utf8'),
        headers,
        signature_valid: valid,
      })
      expect(Date.parse(webhook?.at ?? '')).toBeGreaterThanOrEqual(before)
    },
  )

  it.for([
    ['by a behaviour until it changes', { status: 500 }, [500, 500, 500]],
    ['by a behaviour as often as it says', { status: 503, times: 2 }, [503, 503, 200]],
    ['as before by an invalid behaviour', { delay: 5 }, [202, 202, 202]],
    ['as before by a list', [], [202, 202, 202]],
  ] as const)('answers the next deliveries %s', async ([, behaviour, statuses], { inbox }) => {
    await inbox.behave({ status: 202 })
    await inbox.behave(behaviour)

    for (const status of statuses) expect((await inbox.deliver()).status).toBe(status)
  })

  it.for([
    ['hangs', { hang: true }],
    ['closes the socket', { close: true }],
    ['waits before the answer', { status: 202, delay_ms: 600_000 }],
  ])('%s without an answer, and serves others meanwhile', async ([, behaviour], { inbox }) => {
    await inbox.behave({ ...Object(behaviour), times: 1 })
    const unanswered = inbox.deliver('unanswered').catch((error: unknown) => error)
    await expect.poll(inbox.listReceived).toHaveLength(1)

    const next = await inbox.deliver('next')
    await inbox.close()

    expect(next.status).toBe(200)
    expect(await unanswered).toBeInstanceOf(TypeError)
  })

  it('answers after its delay', async ({ inbox }) => {
    await inbox.behave({ status: 202, delay_ms: 100 })
    const beganMs = performance.now()

    const { status } = await inbox.deliver('slow')

    expect(status).toBe(202)
    expect(performance.now() - beganMs).toBeGreaterThan(90)
  })
})
