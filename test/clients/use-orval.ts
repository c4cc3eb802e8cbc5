// Uses a client made by orval: a create with its replay, a refusal, and lists.
import assert from 'node:assert/strict'
import { createPayment, getPayment, listEvents, listPayments, listSettlements } from './gateway.ts'

const { GATEWAY_URL: baseUrl = '', GATEWAY_KEY: key = '' } = process.env
const { fetch: plainFetch } = globalThis
globalThis.fetch = (path, options) => {
  const headers = new Headers(options?.headers)
  headers.set('authorization', `Bearer ${key}`)
  return plainFetch(new URL(path as string, baseUrl), { ...options, headers })
}

const made = await create(25_000)
const again = await create(25_000)
assert(made.status === 201 && again.status === 200)
assert.equal(made.data.id, again.data.id)
const read = await getPayment(made.data.id)
assert(read.status === 200 && read.data.status === 'pending')
const refused = await create(0)
assert(refused.status === 422 && refused.data.code === 'validation')
for (const listed of [
  await listPayments({ per_page: 5 }),
  await listEvents(),
  await listSettlements(),
])
  assert(listed.status === 200 && listed.data.data.length > 0)

function create(amount: number) {
  return createPayment(
    { method: 'qris', amount, currency: 'IDR' },
    { headers: { 'Idempotency-Key': `orval-${amount}` } },
  )
}
