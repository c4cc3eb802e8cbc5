import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { APIGatewayProxyHandlerV2 } from 'aws-lambda'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import {
  type CreatePayment,
  forFetch,
  forLambda,
  forNode,
  GatewayRefused,
  gatewayClient,
  onceInMemory,
  type Receiver,
  receiveWebhook,
} from 'payment-gateway-client'

/* The same program runs as ESM and as CommonJS, so it awaits nothing at its top level. */

const { GATEWAY_URL: baseUrl = '', GATEWAY_KEY: apiKey = '', RUN: run = '' } = process.env
const SECRET = `whsec_${Buffer.from('a secret of 32 bytes for a test.').toString('base64')}`
const gateway = gatewayClient({ baseUrl, apiKey })

async function useClient() {
  const order: CreatePayment = { method: 'qris', amount: 25_000, currency: 'IDR' }
  const payment = await gateway.createPayment(order, { idempotencyKey: run })
  const again = await gateway.createPayment(order, { idempotencyKey: run })
  assert.equal(again.id, payment.id)
  assert.equal((await gateway.findPaymentOfKey(run))?.id, payment.id)
  assert.equal((await gateway.cancelPayment(payment.id)).status, 'cancelled')
  assert.equal((await gateway.getPayment(payment.id)).status, 'cancelled')
  await assert.rejects(
    gateway.createPayment({ ...order, amount: 0 }),
    (error) => error instanceof GatewayRefused && error.code === 'validation',
  )

  const [settlement] = await first(gateway.listSettlements())
  assert(settlement)
  assert.equal((await gateway.getSettlement(settlement.id)).id, settlement.id)
  assert.equal((await first(gateway.listSettlementEntries(settlement.id))).length, 1)
  assert((await gateway.getBalance()).currency === 'IDR')
  assert.equal((await first(gateway.listPayments({ status: 'succeeded' }))).length, 1)
  assert.equal((await first(gateway.listBalanceEntries())).length, 1)
  const [page] = await first(gateway.eventPages({ since: '2020-01-01T00:00:00Z' }))
  assert(page && page.events.length > 0)
  const [endpoint] = (await gateway.listWebhookEndpoints()).data
  const [delivery] = await first(gateway.listWebhookDeliveries({ status: 'succeeded' }))
  assert(endpoint && delivery)
  assert.equal((await gateway.getWebhookDelivery(delivery.id)).id, delivery.id)
  assert.equal((await gateway.redeliverWebhook(delivery.id)).status, 'scheduled')
  const missed = {
    since: new Date(Date.now() - 60_000).toISOString(),
    status: 'abandoned',
  } as const
  assert.equal((await gateway.redeliverToEndpoint(endpoint.id, missed)).count, 0)
}

async function first<Item>(items: AsyncGenerator<Item, void>) {
  for await (const item of items) return [item]
  return []
}

/** Each server gets an event twice, and once with another signature. */
async function useReceivers() {
  const handled: string[] = []
  const receiver = (): Receiver => ({
    secrets: [SECRET],
    once: onceInMemory(),
    handle: async ({ event }) => void handled.push(event),
    report: () => undefined,
  })
  const body = JSON.stringify({ event: 'payment.succeeded', event_id: 'e1', data: { id: 'p1' } })
  const bad = { ...signed(body), 'x-gateway-signature': '0'.repeat(64) }
  const post = async (port: number, headers: Record<string, string>) =>
    (await fetch(`http://127.0.0.1:${port}/hooks`, { method: 'POST', body, headers })).status
  const tryServer = async (port: number) =>
    assert.deepEqual(
      [await post(port, signed(body)), await post(port, signed(body)), await post(port, bad)],
      [200, 200, 401],
    )

  const app = express()
  app.post('/hooks', forNode(receiver()))
  for (const server of [createServer(forNode(receiver())), createServer(app)]) {
    await tryServer(await listening(server))
    server.close()
  }

  const fastify = Fastify()
  const own = receiver()
  fastify.removeContentTypeParser('application/json')
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, raw, done) =>
    done(null, raw),
  )
  fastify.post('/hooks', async ({ headers, body: bytes }, reply) => {
    const answer = await receiveWebhook(own, { headers, body: bytes })
    return reply.code(answer.status).send(answer.body)
  })
  await tryServer(Number(new URL(await fastify.listen({ port: 0, host: '127.0.0.1' })).port))
  await fastify.close()

  const receive = forFetch(receiver())
  const hono = new Hono()
  hono.post('/hooks', (context) => receive(context.req.raw))
  const ask = async (headers: Record<string, string>) =>
    (await hono.request('/hooks', { method: 'POST', body, headers })).status
  assert.deepEqual([await ask(signed(body)), await ask(bad)], [200, 401])

  const onLambda = forLambda(receiver())
  const handler: APIGatewayProxyHandlerV2 = (event) => onLambda(event)
  assert(handler)
  const answer = await onLambda({ headers: signed(body), body })
  assert.equal(answer.statusCode, 200)
  assert.deepEqual(
    handled,
    Array.from({ length: 5 }, () => 'payment.succeeded'),
  )
}

function signed(body: string) {
  const seconds = String(Math.floor(Date.now() / 1_000))
  const { event_id: id } = JSON.parse(body)
  const key = Buffer.from(SECRET.replace('whsec_', ''), 'base64')
  const standard = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'x-gateway-signature': createHmac('sha256', SECRET).update(body).digest('hex'),
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${standard}`,
  }
}

async function listening(server: Server) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

useClient()
  .then(useReceivers)
  .then(() => console.log(`works: ${run}, Node ${process.versions.node}`))
  .catch((error: unknown) => {
    console.error(error)
    process.exitCode = 1
  })
