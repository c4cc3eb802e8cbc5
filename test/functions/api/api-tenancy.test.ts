import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { paymentIdForKey, SettlementIdSchema } from '../../../shared/ids.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { findPayment, findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { API, type ApiClient, type ApiResponse, anApiClient, aPaymentBody, call } from '../../support/api-event.ts'
import { storedSettlement } from '../../support/settlement-builders.ts'
import { recordTable, type TestDeps, testDeps } from '../../support/test-deps.ts'
import { ABANDONED, storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'

type Owned = (deps: TestDeps, owner: ApiClient) => Promise<string>

const aPayment: Owned = async (deps, caller) => {
  const { body } = await call(deps, API.createPayment, { caller, body: aPaymentBody() })
  return String(body['id'])
}

const aClosedPayment: Owned = async (deps, caller) => {
  const id = await aPayment(deps, caller)
  await closePayment(deps, await findPayment(deps, caller.clientId, id), { status: 'expired', source: 'due_work' })
  return id
}

/** A payment whose create died: its claim is all there is. */
const aCreatingPayment: Owned = async (deps, caller) => {
  deps.provider.script('createRequest', async () => ({ kind: 'unknown', reason: 'timeout' }))
  await call(deps, API.createPayment, { caller, body: aPaymentBody(), headers: { 'idempotency-key': 'k' } })
  return paymentIdForKey(caller.clientId, 'k')
}

const aSettlementId: Owned = async (deps, { clientId }) => (await storedSettlement(deps, { clientId })).settlementId

const aDeliveryId: Owned = async (deps, { clientId }) =>
  (await storedDelivery(deps, await storedEndpoint(deps, { clientId }), ABANDONED)).deliveryId

const CASES: readonly (readonly [keyof typeof API, what: string, Owned])[] = [
  ['getPayment', 'payment', aPayment],
  ['getPayment', 'closed payment', aClosedPayment],
  ['getPayment', 'payment in creation', aCreatingPayment],
  ['cancelPayment', 'payment', aPayment],
  ['cancelPayment', 'closed payment', aClosedPayment],
  ['cancelPayment', 'payment in creation', aCreatingPayment],
  ['getSettlement', 'settlement', aSettlementId],
  ['listSettlementPayments', 'settlement', aSettlementId],
  ['getWebhookDelivery', 'delivery', aDeliveryId],
  ['redeliverWebhook', 'delivery', aDeliveryId],
  ['redeliverToEndpoint', 'endpoint', async (deps, owner) => (await storedEndpoint(deps, owner)).endpointId],
]

const LISTS = ['listPayments', 'listSettlements', 'listWebhookEndpoints', 'listWebhookDeliveries'] as const

/** All of an answer but the request's id. */
const comparable = ({ status, headers, text }: ApiResponse) => ({
  status,
  headers: { ...headers, 'x-request-id': typeof headers['x-request-id'] },
  text,
})

describe('an id of another client (spec 1, 7: like an id that does not exist)', () => {
  it.each(CASES)('%s answers a foreign %s like an unknown id, and changes nothing', async (name, what, own) => {
    const deps = testDeps()
    const foreign = await own(deps, await anApiClient(deps))
    const caller = await anApiClient(deps)
    const [callsBefore, watched] = [deps.provider.calls.length, recordTable(deps)]

    const answer = await call(watched.deps, API[name], { caller, id: foreign })
    const commands = watched.calls.map((made) => made.name)
    const absent = await call(watched.deps, API[name], { caller, id: deps.newId() })

    expect(comparable(answer)).toStrictEqual(comparable(absent))
    const body = { message: `${what.replace(/closed | in creation/, '')} not found`, code: 'not_found' }
    expect([answer.status, answer.body]).toStrictEqual([404, body])
    expect(commands).toStrictEqual(['batchGet', 'get'])
    expect(deps.provider.calls).toHaveLength(callsBefore)
  })

  it('hides a payment that is being created from its owner too', async () => {
    const deps = testDeps()
    const owner = await anApiClient(deps)
    const id = await aCreatingPayment(deps, owner)

    const answers = [await call(deps, API.getPayment, { caller: owner, id })]
    answers.push(await call(deps, API.cancelPayment, { caller: owner, id }))
    const { body } = await call(deps, API.listPayments, { caller: owner })

    expect((await findStoredPayment(deps, paymentIdForKey(owner.clientId, 'k')))?.status).toBe('creating')
    expect(answers.map(({ status }) => status)).toStrictEqual([404, 404])
    expect(body).toMatchObject({ data: [], pagination: { total: 0 } })
  })

  it('lists and balance show no data of another client', async () => {
    const deps = testDeps()
    const [owner, caller] = [await anApiClient(deps), await anApiClient(deps)]
    await aPayment(deps, owner)
    await aSettlementId(deps, owner)
    await aDeliveryId(deps, owner)

    const lists = await Promise.all(LISTS.map((name) => call(deps, API[name], { caller })))
    const balance = await call(deps, API.getBalance, { caller })

    expect(lists.map(({ body }) => body['data'])).toStrictEqual(LISTS.map(() => []))
    expect(balance.body['client_id']).toBe(caller.clientId)
    expect([balance, ...lists].map(({ text }) => text).join()).not.toContain(owner.clientId)
  })
})

describe('an id of a wrong shape (design section 5: 404 without a read)', () => {
  const settlementId = v.parse(SettlementIdSchema, 'abcdef00-0000-4000-8000-00000000abcd')
  const SHAPES = [
    '',
    settlementId.toUpperCase(),
    `${settlementId}\n`,
    settlementId.replaceAll('-', ''),
    `${settlementId}#PAYMENT`,
    '../balance',
    '\u0000',
    '٠'.repeat(36),
    'a'.repeat(10_000),
  ]

  const NAMES = [...new Set(CASES.map(([name]) => name))]
  it.each(NAMES.flatMap((name) => SHAPES.map((id) => [name, id] as const)))('%s of %j', async (name, id) => {
    const deps = testDeps()
    const caller = await anApiClient(deps)
    const watched = recordTable(deps)

    const answer = await call(watched.deps, API[name], { caller, id })

    expect(answer.status).toBe(404)
    expect(watched.calls.map((made) => made.name)).toStrictEqual(['batchGet'])
  })
})
