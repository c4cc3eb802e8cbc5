import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect } from 'vitest'
import { gatewayClient } from '../../docs/examples/gateway-client.ts'
import type { CreatePayment } from '../../docs/examples/gateway-schemas.ts'
import { webhookHeaders } from '../../shared/webhook/send/webhook-headers.ts'
import { blocksOf } from '../support/document-blocks.ts'
import { eventually } from '../support/eventually.ts'
import { ownPorts } from '../support/own-ports.ts'
import { missingFor, startReceiver } from '../support/receiver-program.ts'
import { isNightly } from '../support/runs.ts'
import { worldIt as it, VA } from './gateway-world.ts'

/*
 * Goal: the client that merchants copy works, and each receiver in the documents takes what the
 * gateway sends, once, and nothing else. Method: the client calls the local gateway. Each receiver
 * is a separate process, registered as an endpoint. It then gets the same bytes again, changed
 * bytes, and unsigned bytes. Retries: test/unit/examples.
 */

const ORDER: CreatePayment = {
  method: 'virtual_account',
  channel_code: 'BCA',
  amount: 150_000,
  currency: 'IDR',
}

describe('the client of docs/examples', () => {
  it('creates, finds and follows a payment to its settlement, and has its webhook sent again', async ({
    world,
  }) => {
    const { key, clientId, endpoints } = await world.merchant()
    const client = gatewayClient({
      baseUrl: world.urls.api,
      apiKey: key,
      clock: { nowMs: () => 0, wait: () => Promise.resolve(), random: () => 0 },
    })
    const order = { ...ORDER, external_reference: 'order 7/ä&b=1', metadata: { cart: [1] } }
    const { id } = await client.createPayment(order, { idempotencyKey: 'order-1' })
    await world.pay(id)
    const delivery = await eventually(async () => {
      const [newest] = await Array.fromAsync(client.listWebhookDeliveries({ status: 'succeeded' }))
      expect(newest).toMatchObject({ payment_id: id, attempts: [{ number: 1, http_status: 200 }] })
      return newest
    })
    const replay = await client.createPayment(
      { ...ORDER, amount: 1 },
      { idempotencyKey: 'order-1' },
    )
    const redelivered = await client.redeliverWebhook(delivery?.id ?? '')

    expect(replay).toMatchObject({ id, notional_minor: 150_000, status: 'succeeded' })
    expect(await client.getPayment(id)).toStrictEqual(replay)
    expect(await client.findPaymentOfKey('order-1')).toStrictEqual(replay)
    expect(await client.findPaymentOfKey('order-2')).toBeUndefined()
    expect(
      await Array.fromAsync(client.listPayments({ external_reference: 'order 7/ä&b=1' })),
    ).toStrictEqual([replay])
    expect(redelivered).toMatchObject({ id: delivery?.id, status: 'scheduled' })
    const attempts = [{ number: 1 }, { number: 2 }]
    await eventually(async () => {
      expect(await world.webhooksOf(id)).toHaveLength(2)
      expect(await client.getWebhookDelivery(redelivered.id)).toMatchObject({ attempts })
    })
    const [{ id: endpointId } = { id: '' }] = (await client.listWebhookEndpoints()).data
    expect(endpointId).toBe(endpoints[0]?.['endpoint_id'])

    await world.settleAtProvider(() => client.getPayment(id))
    await world.admin('trigger-settlement', { operator: 'test', client_id: clientId })

    const [settlement] = await Array.fromAsync(client.listSettlements())
    expect(settlement).toMatchObject({ status: 'recorded', net_minor: 145_410, payment_count: 1 })
    expect(await client.getSettlement(settlement?.id ?? '')).toStrictEqual(settlement)
    expect(await Array.fromAsync(client.listSettlementEntries(settlement?.id ?? ''))).toMatchObject(
      [{ payment_id: id, client_net_minor: settlement?.net_minor }],
    )
    expect(await client.getBalance()).toMatchObject({
      pending_minor: 0,
      in_settlement_minor: 145_410,
    })
  })
})

const RECEIVERS = blocksOf('docs/merchants/webhooks.md')
  .filter(({ note }) => ['receiver', 'fetch', 'lambda'].includes(note))
  .map((block) => [`${block.heading} (${block.language})`, block] as const)

describe('receivers in docs/merchants/webhooks.md', () => {
  it('exist for every server and language that the page lists', () => {
    expect(RECEIVERS.map(([name]) => name).join(', ')).toBe(
      'node:http (ts), Express (ts), Fastify (ts), Hono (ts), AWS Lambda (ts), Python ' +
        '(python), Go (go), PHP (php), ' +
        'With a library (js)',
    )
  })

  it.for(RECEIVERS)(
    '%s processes a signed event once, and refuses other requests',
    async ([, block], { world, skip }) => {
      // The first build of the receiver compiles Go's library: a minute of two cores.
      if (block.language === 'go' && !isNightly) skip('Go is compiled at night')
      const missing = await missingFor(block)
      if (missing !== undefined) skip(`there is no ${missing} on this machine`)
      const port = await ownPorts()
      const url = `http://127.0.0.1:${port}/hooks`
      const merchant = await world.merchant([url, `${world.urls.inbox}/hooks`])
      const [endpoint] = merchant.endpoints
      const secret = String(endpoint?.['signing_secret'])
      const program = await startReceiver(block, { port, secret })

      const id = String(
        (await merchant.create({ ...VA, description: 'kopi ☕ / "teh"' })).body['id'],
      )
      await world.pay(id)
      await eventually(() => expect(program.output()).toContain(`payment.succeeded ${id}`))

      const webhookBody = await eventually(async () => {
        const [webhook] = await world.webhooksOf(id)
        expect(webhook).toBeDefined()
        return String(webhook?.body)
      })
      const { event_id: eventId } = JSON.parse(webhookBody)
      const headers = webhookHeaders(
        { eventName: 'payment.succeeded', eventId, deliveryId: 'd' as never },
        { body: Buffer.from(webhookBody), signingSecret: secret, sentAtMs: Date.now() },
      )
      const statusOf = async (body: string, requestHeaders: Record<string, string>) =>
        (await fetch(url, { method: 'POST', body, headers: requestHeaders })).status
      expect({
        again: await statusOf(webhookBody, headers),
        changed: await statusOf(webhookBody.replace('100000', '900000'), headers),
        unsigned: await statusOf(webhookBody, { 'content-type': 'application/json' }),
        garbled: await statusOf(webhookBody, {
          ...headers,
          'X-Gateway-Signature': 'é',
          'webhook-signature': 'x',
        }),
      }).toStrictEqual({ again: 200, changed: 401, unsigned: 401, garbled: 401 })
      const endless = connect(port, '127.0.0.1').resume()
      endless.write('POST /hooks HTTP/1.1\r\nContent-Length: -1\r\n\r\n')
      await once(endless, 'close')
      expect(program.output().split(`payment.succeeded ${id}`)).toHaveLength(2)

      const endpointIds = { client_id: merchant.clientId, endpoint_id: endpoint?.['endpoint_id'] }
      await world.admin('send-test-event', { operator: 'test', ...endpointIds })
      await eventually(async () => {
        const { data } = (await world.admin('list-deliveries', endpointIds)).body
        expect((data as { status: string }[]).map(({ status }) => status)).toStrictEqual([
          'succeeded',
          'succeeded',
        ])
      })
    },
  )
})
