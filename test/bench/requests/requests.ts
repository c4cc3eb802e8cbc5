import type { MemoryTable } from '../../../infra/local/emulators/memory-table/memory-table.ts'
import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import { pointsOf } from '../../../shared/client/enforce-rate-limit.ts'
import { bookDay, endOfBookDay } from '../../../shared/journal/day-totals.ts'
import { deliveryKey, type Key, paymentKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { API, type ApiRequest, anApiClient, call } from '../../support/api-event.ts'
import { markdownTable } from '../../support/markdown-table.ts'
import { storePosted, succeededPayment } from '../../support/paid-builders.ts'
import { sweptNow } from '../../support/settlement-builders.ts'
import { storeRaw } from '../../support/test-deps.ts'
import {
  attemptedDelivery,
  ENDED,
  storedDelivery,
  storedEndpoint,
  storedEvent,
} from '../../support/webhook-builders.ts'
import { meteredDeps } from '../meter-table.ts'

type RequestCost = { readonly request: string } & Readonly<
  Record<'reads' | 'writes' | 'before', number>
>

export async function measureRequests() {
  const costs: RequestCost[] = []
  for (const part of [payments, books, webhooks]) {
    const metered = await startMeteredApi()
    await part(metered)
    costs.push(...metered.costs)
  }
  return costs
}

/** Every field of the merchant at its maximum length. */
const FAT = {
  method: 'virtual_account',
  channel_code: 'BCA',
  amount: 100_000,
  currency: 'IDR',
  description: wide(1_000),
  customer: { name: wide(255), email: `${'a'.repeat(243)}@example.com`, phone: '+6281234567890' },
  metadata: { note: 'x'.repeat(16 * 1_024 - 11) },
}
const REFERENCE = wide(255)
const PAYMENTS = 100_000
/** Payments of one reference, deliveries of one endpoint, and entries of a settlement. */
const MANY = 1_000

const PAGE = 100

type MeteredApi = Awaited<ReturnType<typeof startMeteredApi>>

async function payments({ memory, deps, caller, ask, measure }: MeteredApi) {
  const create = { body: { ...FAT, external_reference: REFERENCE } }
  const body = JSON.stringify(create.body)
  const before = 1 + Math.floor(Buffer.byteLength(body) / (6 * 1_024))
  const { id } = await measure(
    'every field as long as it may be',
    before,
    'createPayment',
    create,
    201,
  )
  const key = paymentKey(id as never)
  await measure('of such a payment', 1, 'getPayment', { id: String(id) })
  const at = (number: number) => addMs(deps.now(), number)
  const [pointer] = memory.items('REFERENCE#')
  if (!pointer) throw new Error('the reference leads nowhere')
  for (let number = 0; number < MANY - 1; number++) {
    storeRaw(memory, { ...pointer, sk: idOf(number), payment_id: idOf(number) })
  }
  copy(memory, key, MANY - 1, (number) => ({
    ...paymentKey(idOf(number) as never),
    id: idOf(number),
    listed_at: at(number),
  }))
  // A list reads the rows that it shows, and the index entries of all other rows.
  const { owner = '', entity = '' } = itemOf(memory, key)
  for (let number = MANY; number < PAYMENTS; number++) {
    const own = idOf(number)
    storeRaw(memory, { ...paymentKey(own as never), owner, entity, id: own, listed_at: at(number) })
  }
  const shard = memory
    .items(`LEDGER#${caller.clientId}`)
    .find((item) => item['count_pending'] === 1)
  if (!shard) throw new Error('the payment is not counted')
  storeRaw(memory, { ...shard, count_pending: PAYMENTS })
  const last = { per_page: String(PAGE), page: String(PAYMENTS / PAGE) }
  await measure('the last page of 100,000 such payments', 3, 'listPayments', { query: last })
  await measure('a thousand of one reference', 1, 'listPayments', {
    query: { external_reference: REFERENCE },
  })
  await ask('getPayment', { id: String(id) })
  await measure('of such a payment', 1, 'cancelPayment', { id: String(id) })
}

async function startMeteredApi() {
  const { memory, deps, meter } = meteredDeps()
  const caller = await anApiClient(deps)
  const ask = async (endpoint: keyof typeof API, asked: ApiRequest, status = 200) => {
    const answer = await call(deps, API[endpoint], { caller, ...asked })
    if (answer.status !== status)
      throw new Error(`${endpoint} answered ${answer.status}: ${answer.text.slice(0, 300)}`)
    return answer.body
  }
  const costs: RequestCost[] = []
  /**
   * An environment knows a key for fifteen seconds. Each measured request is the first request
   * after them.
   */
  const measure = async (what: string, before: number, ...asked: Parameters<typeof ask>) => {
    deps.clock.advance(16)
    meter.take()
    const body = await ask(...asked)
    const { reads, writes } = meter.take()
    const request = what === '' ? API[asked[0]].route : `${API[asked[0]].route}: ${what}`
    costs.push({ request, reads, writes, before })
    return body
  }
  return { memory, deps, caller, ask, measure, costs }
}

function wide(characters: number) {
  return '字'.repeat(characters)
}

function idOf(number: number) {
  return `00000000-0000-8000-8000-${String(number).padStart(12, '0')}`
}

function copy(
  memory: MemoryTable,
  key: Key,
  count: number,
  changed: (number: number) => Key & StoredItem,
) {
  const item = itemOf(memory, key)
  for (let number = 0; number < count; number++) storeRaw(memory, { ...item, ...changed(number) })
}

function itemOf(memory: MemoryTable, key: Key) {
  const item = memory.item(key)
  if (!item) throw new Error(`there is no ${key.pk}`)
  return item
}

async function books({ deps, caller, measure }: MeteredApi) {
  const paid = Array.from({ length: MANY }, (_, number) =>
    succeededPayment(caller, { paidAt: addMs(deps.now(), number), externalReference: REFERENCE }),
  )
  await storePosted(deps, paid)
  deps.clock.pass(2 * DAY_MS)
  const { settlementId } = await sweptNow(deps, caller)
  await measure('with its settlements', 1, 'getBalance', { query: { include: 'settlements' } })
  const query = { limit: String(MANY) }
  await measure('a thousand entries', 3, 'listBalanceEntries', { query })
  await measure('a thousand entries', 3, 'listSettlementPayments', { id: settlementId, query })
  await measure('', 1, 'getSettlement', { id: settlementId })
  for (let day = 1; day < PAGE; day++) {
    await storePosted(deps, [succeededPayment(caller, { paidAt: deps.now() })])
    deps.clock.pass(2 * DAY_MS)
    await sweptNow(deps, caller)
  }
  const from = bookDay(paid[0]?.paidAt ?? deps.now())
  const to = bookDay(addMs(endOfBookDay(from), 98 * DAY_MS))
  const days = { from, to, limit: String(MANY) }
  await measure('a thousand lines of 100 days', 3, 'getStatement', { query: days })
  await measure('a page of 100', 3, 'listSettlements', { query: { per_page: String(PAGE) } })
}

const ENDPOINTS = 20

async function webhooks({ memory, deps, caller, measure }: MeteredApi) {
  const { clientId } = caller
  const data = { client_id: clientId, ...FAT, external_reference: REFERENCE }
  const body = JSON.stringify({ data })
  const endpoints = []
  for (let made = 0; made < ENDPOINTS; made++)
    endpoints.push(await storedEndpoint(deps, { clientId }))
  const [endpoint, newest] = [endpoints[0], endpoints.at(-1)]
  if (!endpoint || !newest) throw new Error('there is no endpoint')
  const event = await storedEvent(deps, { clientId, body })
  for (const [at, { endpointId }] of endpoints.entries()) {
    const delivered = { ...ENDED, status: 'succeeded', attempts: 1, unlisted: true } as const
    const { deliveryId } = await storedDelivery(deps, { ...endpoint, endpointId }, delivered, event)
    copy(memory, deliveryKey(deliveryId), MANY - 1, (number) => {
      // Endpoints alternate in the order of the list, so that one page reads as many endpoints as
      // it may.
      const id = idOf(number * ENDPOINTS + at) as typeof deliveryId
      return { ...deliveryKey(id), delivery_id: id, id }
    })
  }
  for (let made = 1; made < PAGE; made++) await storedEvent(deps, { clientId, body })
  await measure('of 20', 1, 'listWebhookEndpoints', {})
  const query = { status: 'succeeded', per_page: '50' }
  await measure('by a status, of 20 endpoints', 2, 'listWebhookDeliveries', { query })
  const old = await storedEvent(deps, { clientId, body })
  const id = await attemptedDelivery(deps, endpoint, 100, old)
  await measure('with a hundred attempts', 1, 'getWebhookDelivery', { id })
  await measure('a hundred of such payments', 3, 'listEvents', { query: { limit: String(PAGE) } })
  deps.clock.pass(30 * DAY_MS)
  await measure('the first of an old event of such a payment', 1, 'redeliverWebhook', { id })
  const all = { id: newest.endpointId, body: { since: old.firedAt.replace(/T.*/, 'T00:00:00Z') } }
  await measure('a hundred old events of such payments', 1, 'redeliverToEndpoint', all)
}

export function requestsReport(costs: readonly RequestCost[]) {
  return markdownTable(
    ['Request', 'Write units', 'Read units', 'Points before', 'Points in all'],
    costs.map(({ request, writes, reads, before }) => {
      const inAll = Math.max(before, pointsOf(reads + writes))
      return [request.replace(/^([^:]+)/, '`$1`'), ...[writes, reads, before, inAll].map(String)]
    }),
  )
}
