import assert from 'node:assert/strict'
import createClient from 'openapi-fetch'
import type { paths } from './gateway.ts'

const { GATEWAY_URL: baseUrl = '', GATEWAY_KEY: key } = process.env
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } })

const made = await create(25_000)
const again = await create(25_000)
assert(made.data && again.data)
assert.equal(made.data.id, again.data.id)
const read = await client.GET('/v1/payments/{id}', { params: { path: { id: made.data.id } } })
assert.equal(read.data?.status, 'pending')
const refused = await create(0)
assert.equal(refused.response.status, 422)
assert(refused.error && 'code' in refused.error)
assert.equal(refused.error.code, 'validation')

const [settlements, deliveries, ...others] = await Promise.all([
  client.GET('/v1/settlements'),
  client.GET('/v1/webhook_deliveries'),
  client.GET('/v1/payments', { params: { query: { status: 'succeeded' } } }),
  client.GET('/v1/balance/entries'),
  client.GET('/v1/events'),
  client.GET('/v1/webhook_endpoints'),
])
// The entries and the payments of a settlement can also be asked for as CSV, which is a string.
for (const { data } of others)
  assert(typeof data === 'object' && 'data' in data && data.data.length > 0)
const [settlement] = settlements.data?.data ?? []
const [delivery] = deliveries.data?.data ?? []
assert(settlement && delivery)
const paid = await client.GET('/v1/settlements/{id}/payments', {
  params: { path: { id: settlement.id } },
})
assert(typeof paid.data === 'object' && 'data' in paid.data && paid.data.data.length > 0)
const statement = await client.GET('/v1/statement')
assert(typeof statement.data === 'object' && statement.data.lines.length > 0)
const balance = await client.GET('/v1/balance', { params: { query: { include: 'settlements' } } })
assert((balance.data?.paid_out_minor ?? 0) > 0)

function create(amount: number) {
  return client.POST('/v1/payments', {
    params: { header: { 'Idempotency-Key': `typescript-${amount}` } },
    body: { method: 'qris', amount, currency: 'IDR' },
  })
}
