/**
 * Goal: a client pays for a request before the request uses the table, also if the request fails,
 * times out, or is sent forty times at once. Method: the most expensive requests on the memory
 * table, which reports units as DynamoDB does.
 */
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { pointsOf } from '../../../shared/client/enforce-rate-limit.ts'
import { rateKey } from '../../../shared/table/keys.ts'
import { addMs } from '../../../shared/time.ts'
import { insertDelivery, newDelivery } from '../../../shared/webhook/delivery/delivery-store.ts'
import { API, anApi, aPaymentBody, call } from '../../support/api-event.ts'
import { lambdaContext } from '../../support/operator-actions.ts'
import { storeOpen, succeededPayment } from '../../support/paid-builders.ts'
import { interceptTable, memoryDeps, storeRaw } from '../../support/test-deps.ts'
import {
  anEvent,
  ENDED,
  SKIPPED,
  storedDelivery,
  storedEndpoint,
  storedEvent,
} from '../../support/webhook-builders.ts'

const LIMIT = 16
const REFERENCE = 'order-17'

async function aFatMerchant() {
  const { deps, caller, ask } = await anApi({ rateLimitPerSecond: LIMIT }, memoryDeps())
  const payments = Array.from({ length: 120 }, (_, at) => ({
    ...succeededPayment(caller, { paidAt: addMs(deps.now(), at), externalReference: REFERENCE }),
    // Random text does not deflate well.
    metadata: JSON.stringify({ note: randomBytes(11_000).toString('base64') }),
  }))
  await storeOpen(deps, payments)
  const counter = async () =>
    Number((await deps.table.get(rateKey(caller.clientId, 'requests')))?.['points'] ?? 0)
  return { deps, caller, ask, counter }
}

const BY_REFERENCE = { query: { external_reference: REFERENCE, per_page: '100' } }

it('of forty lists by a reference at once few are served, and every unit is charged', async () => {
  const { deps, caller, counter } = await aFatMerchant()
  let rows = 0
  const counting = interceptTable(deps, {
    before: (asked) => {
      if (asked.name === 'batchGet') rows += asked.keys.length
    },
  })

  const answers = await Promise.all(
    Array.from({ length: 40 }, () => call(counting, API.listPayments, { caller, ...BY_REFERENCE })),
  )

  const served = answers.filter(({ status }) => status === 200).length
  expect(served).toBeGreaterThan(0)
  expect(served).toBeLessThanOrEqual(5)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(40 - served)
  // A fat payment is at least three units.
  expect(await counter()).toBeGreaterThanOrEqual(pointsOf(served * 100 * 3))
  expect(await counter()).toBeGreaterThanOrEqual(pointsOf(rows))
})

it.each([
  ['whose read fails', 60_000, () => Promise.reject(new Error('the table is away'))],
  ['that runs out of time', 1_100, () => new Promise<void>(() => {})],
])('a request %s is charged its upper bound', async (_, remainingMs, fail) => {
  const { deps, caller, counter } = await aFatMerchant()
  const failing = interceptTable(deps, {
    before: ({ name }) => (name === 'query' ? fail() : undefined),
  })
  const { route, handler } = API.listPayments
  const event = Object({
    routeKey: route,
    headers: { authorization: caller.authorization },
    queryStringParameters: BY_REFERENCE.query,
    requestContext: { requestId: 'request-1' },
    isBase64Encoded: false,
  })

  const answer = await handler.withDeps(failing)(event, lambdaContext('any', remainingMs))

  expect(answer.statusCode).toBe(500)
  expect(await counter()).toBe(10)
})

it('a list that takes its points page by page is served, though it needs four times the limit', async () => {
  const { deps, caller, ask } = await anApi({ rateLimitPerSecond: 2 }, memoryDeps())
  const { clientId } = caller
  const endpoint = await storedEndpoint(deps, { clientId })
  for (let at = 0; at < 400; at++) {
    const event = anEvent(addMs(deps.now(), -at), { clientId })
    const delivery = { ...newDelivery(event, endpoint, event.firedAt), ...SKIPPED }
    await deps.table.write(insertDelivery(delivery))
  }

  const query = { status: 'succeeded' }
  const answer = await ask('listWebhookDeliveries', { query })
  const next = await ask('getBalance')

  expect([answer.status, next.status]).toStrictEqual([200, 429])
  const row = await deps.table.get(rateKey(clientId, 'requests'))
  expect(row?.['points']).toBeGreaterThanOrEqual(pointsOf(400))
})

it('a redelivery that finds nothing to send is charged only what it reads', async () => {
  const { deps, caller, ask } = await anApi({ rateLimitPerSecond: 4 }, memoryDeps())
  const { clientId } = caller
  const { endpointId: id, ...endpoint } = await storedEndpoint(deps, { clientId })
  const since = deps.now()
  for (let at = 0; at < 100; at++) {
    const event = await storedEvent(deps, { clientId })
    await storedDelivery(
      deps,
      { endpointId: id, ...endpoint },
      { ...ENDED, status: 'succeeded' },
      event,
    )
  }

  const answer = await ask('redeliverToEndpoint', { id, body: { since } })

  expect(answer.body).toStrictEqual({ count: 0, next: null })
  const row = await deps.table.get(rateKey(clientId, 'requests'))
  expect(row?.['points']).toBeLessThanOrEqual(pointsOf(300))
})

it('the last page of a long list takes its points before it reads the keys', async () => {
  const { deps, caller, counter } = await aFatMerchant()
  const { stored } = deps
  for (const shard of stored.items(`LEDGER#${caller.clientId}`))
    if (shard['sk'] === 'SHARD#00') storeRaw(stored, { ...shard, count_succeeded: 100_000 })
  const taken: number[] = []
  const watching = interceptTable(deps, {
    before: async (asked) => {
      if ('query' in asked && asked.query.index) taken.push(await counter())
    },
  })

  await call(watching, API.listPayments, { caller, query: { per_page: '100', page: '900' } })

  expect(taken[0]).toBeGreaterThanOrEqual(pointsOf(90_000 * 0.022))
})

it('a refused body of 5 MB costs as many points as the largest body that is read', async () => {
  const { ask, counter } = await aFatMerchant()
  const body = JSON.stringify(aPaymentBody({ description: 'x'.repeat(5_000_000) }))

  const answer = await ask('createPayment', { body })
  const charged = await counter()
  const next = await ask('getBalance')

  expect([answer.status, answer.body['code'], next.status]).toStrictEqual([422, 'validation', 200])
  expect(charged).toBe(1 + Math.floor(64 / 6))
})
