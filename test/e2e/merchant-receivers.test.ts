import { describe, expect, vi } from 'vitest'
import { webhookHeaders } from '../../shared/webhook/send/webhook-headers.ts'
import { type Block, blocksOf } from '../support/document-blocks.ts'
import { eventually } from '../support/eventually.ts'
import { missingFor, startReceiver } from '../support/receiver-program.ts'
import { freePort } from './free-port.ts'
import { worldIt as it, VA } from './gateway-world.ts'

/*
 * Goal: every receiver that merchants are shown takes what the gateway sends, once, and nothing else. Method: each
 * program as a process of its own, registered as an endpoint; then the same bytes again, changed, and unsigned.
 */

// A Go program is compiled first, on a machine that runs other tests beside it.
vi.setConfig({ testTimeout: 180_000 })

const RECEIVERS = blocksOf('docs/merchants/webhooks.md').filter(({ note }) =>
  ['receiver', 'fetch', 'lambda'].includes(note),
)

const named = ({ heading, language }: Block) => `${heading} (${language})`

describe('receivers in docs/merchants/webhooks.md', () => {
  it('are there for every server and language that is promised', () => {
    expect(RECEIVERS.map(named)).toStrictEqual([
      'node:http (ts)',
      'Express (ts)',
      'Fastify (ts)',
      'Hono (ts)',
      'AWS Lambda (ts)',
      'Python (python)',
      'Go (go)',
      'PHP (php)',
      'With a library (js)',
    ])
  })

  it.for(RECEIVERS.map((block) => [named(block), block] as const))(
    '%s works once for a signed event, and for no other',
    async ([, block], { world, skip }) => {
      const missing = missingFor(block)
      if (missing !== undefined) skip(`there is no ${missing} on this machine`)
      const port = await freePort()
      const url = `http://127.0.0.1:${port}/hooks`
      const merchant = await world.merchant([url, `${world.urls.inbox}/hooks`])
      const [endpoint] = merchant.endpoints
      const secret = String(endpoint?.['signing_secret'])
      const program = await startReceiver(block, { port, secret })

      const id = String((await merchant.create({ ...VA, description: 'kopi ☕ / "teh"' })).body['id'])
      await world.pay(id)
      await eventually(() => expect(program.output()).toContain(`payment.succeeded ${id}`))

      const sent = await eventually(async () => {
        const [webhook] = await world.webhooksOf(id)
        expect(webhook).toBeDefined()
        return String(webhook?.body)
      })
      const { event_id: eventId } = JSON.parse(sent)
      const headers = webhookHeaders(
        { eventType: 'payment.succeeded', eventId, deliveryId: 'd' as never },
        { body: Buffer.from(sent), signingSecret: secret, sentAtMs: Date.now() },
      )
      const answered = async (body: string, given: Record<string, string>) =>
        (await fetch(url, { method: 'POST', body, headers: given })).status
      expect({
        again: await answered(sent, headers),
        changed: await answered(sent.replace('100000', '900000'), headers),
        unsigned: await answered(sent, { 'content-type': 'application/json' }),
        garbled: await answered(sent, { ...headers, 'X-Gateway-Signature': 'é', 'webhook-signature': 'x' }),
      }).toStrictEqual({ again: 200, changed: 401, unsigned: 401, garbled: 401 })
      expect(program.output().split(`payment.succeeded ${id}`)).toHaveLength(2)

      const test = { operator: 'test', client_id: merchant.clientId, endpoint_id: endpoint?.['endpoint_id'] }
      await world.admin('send-test-event', test)
      await eventually(async () => {
        const { body } = await world.admin('list-deliveries', {
          client_id: merchant.clientId,
          endpoint_id: test.endpoint_id,
        })
        expect((body['data'] as { status: string }[]).map(({ status }) => status)).toStrictEqual([
          'succeeded',
          'succeeded',
        ])
      })
    },
  )
})
