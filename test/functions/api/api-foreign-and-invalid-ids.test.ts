import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { paymentIdForKey, SettlementIdSchema } from '../../../shared/ids.ts'
import { findPayment, findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { toItem } from '../../../shared/table/attributes.ts'
import {
  API,
  type ApiClient,
  anApi,
  anApiClient,
  aPaymentBody,
  BODIES,
  call,
} from '../../support/api-event.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { storedSettlement } from '../../support/settlement-builders.ts'
import { expire } from '../../support/synced-payment.ts'
import { putRaw } from '../../support/tampering.ts'
import { recordTable, type TestDeps } from '../../support/test-deps.ts'
import { ABANDONED, storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'

type Name = keyof typeof API
const NAMES = Object.keys(API) as Name[]
type MakeOwned = (deps: TestDeps, owner: ApiClient) => Promise<string>

async function aPayment(deps: TestDeps, caller: ApiClient) {
  const { body } = await call(deps, API.createPayment, { caller, body: aPaymentBody() })
  return String(body['id'])
}

async function aClosedPayment(deps: TestDeps, caller: ApiClient) {
  const id = await aPayment(deps, caller)
  await expire(deps, await findPayment(deps, caller.clientId, id))
  return id
}

/** A payment whose create died, so that only its claim exists. */
async function aCreatingPayment(deps: TestDeps, caller: ApiClient) {
  deps.provider.answer('createRequest', { kind: 'unknown', reason: 'timeout' })
  await call(deps, API.createPayment, {
    caller,
    body: aPaymentBody(),
    headers: { 'idempotency-key': 'k' },
  })
  return paymentIdForKey(caller.clientId, 'k')
}

async function aSettlementId(deps: TestDeps, { clientId }: ApiClient) {
  return (await storedSettlement(deps, { clientId })).settlementId
}

async function aDeliveryId(deps: TestDeps, { clientId }: ApiClient) {
  return (await storedDelivery(deps, await storedEndpoint(deps, { clientId }), ABANDONED))
    .deliveryId
}

const CASES: readonly (readonly [Name, what: string, MakeOwned])[] = [
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
  [
    'redeliverToEndpoint',
    'endpoint',
    async (deps, owner) => (await storedEndpoint(deps, { clientId: owner.clientId })).endpointId,
  ],
]

const WITH_ID = NAMES.filter((name) => API[name].route.includes('{id}'))
/** What a merchant reads without an id. */
const COLLECTIONS = NAMES.filter((name) => /^GET [^{]*$/.test(API[name].route))

it('every route that takes an id has its case here', () => {
  expect(new Set(CASES.map(([name]) => name))).toStrictEqual(new Set(WITH_ID))
})

describe('an id of another client (spec 1, 7: like an id that does not exist)', () => {
  it.each(CASES)(
    '%s answers a foreign %s like an unknown id, and changes nothing',
    async (name, what, makeOwned) => {
      const { deps, caller } = await anApi()
      const foreignId = await makeOwned(deps, await anApiClient(deps))
      const [callsBefore, watched] = [deps.provider.calls.length, recordTable(deps)]
      const asked = { caller, body: BODIES[name] }

      const answer = await call(watched.deps, API[name], { ...asked, id: foreignId })
      const commands = watched.calls.map((request) => request.name)
      const absentAnswer = await call(watched.deps, API[name], { ...asked, id: deps.newId() })

      const headers = { ...absentAnswer.headers, 'x-request-id': answer.requestId }
      expect(answer).toStrictEqual({ ...absentAnswer, headers, requestId: answer.requestId })
      const body = {
        message: `${what.replace(/closed | in creation/, '')} not found`,
        code: 'not_found',
      }
      expect([answer.status, answer.body]).toStrictEqual([404, body])
      expect(commands).toStrictEqual(['batchGet', what === 'delivery' ? 'batchGet' : 'get'])
      expect(deps.provider.calls).toHaveLength(callsBefore)

      const keysRead = watched.calls.flatMap((request) => ('keys' in request ? request.keys : []))
      for (const item of await deps.table.getMany(keysRead.slice(2, 4)))
        if (item) await putRaw(deps, { ...toItem(item), status: 'unreadable' })
      const { status } = await call(deps, API[name], { ...asked, id: foreignId })
      expect(status).toBe(404)
    },
  )

  it('hides a payment that is being created from its owner too', async () => {
    const { deps, caller, ask } = await anApi()
    const id = await aCreatingPayment(deps, caller)

    const answers = [await ask('getPayment', { id }), await ask('cancelPayment', { id })]
    const { body } = await ask('listPayments')

    expect((await findStoredPayment(deps, paymentIdForKey(caller.clientId, 'k')))?.status).toBe(
      'creating',
    )
    expect(answers.map(({ status }) => status)).toStrictEqual([404, 404])
    expect(body).toMatchObject({ data: [], pagination: { total: 0 } })
  })

  it('shows no data of another client in lists and in the balance', async () => {
    const { deps, ask } = await anApi()
    const shown = () =>
      Promise.all(COLLECTIONS.map(async (name) => [name, (await ask(name)).text] as const))
    const before = await shown()
    const owner = await anApiClient(deps)
    for (const makeOwned of [aSucceededPayment, aSettlementId, aDeliveryId])
      await makeOwned(deps, owner)

    expect(await shown()).toStrictEqual(before)
    expect(COLLECTIONS.length).toBeGreaterThan(7)
  })
})

describe('an id of a wrong shape (design section 5: 404 without a read)', () => {
  const settlementId = v.parse(SettlementIdSchema, 'abcdef00-0000-4000-8000-00000000abcd')
  const changedIds = [
    settlementId.toUpperCase(),
    settlementId.replaceAll('-', ''),
    `${settlementId}#PAYMENT`,
  ]
  const SHAPES = [
    '',
    ...changedIds,
    `${settlementId}\n`,
    '../balance',
    '\u0000',
    '٠'.repeat(36),
    'a'.repeat(10_000),
  ]

  it.each(WITH_ID.flatMap((name) => SHAPES.map((id) => [name, id] as const)))(
    '%s answers 404 to %j',
    async (name, id) => {
      const { deps, caller } = await anApi()
      const watched = recordTable(deps)

      const { status } = await call(watched.deps, API[name], { caller, id, body: BODIES[name] })

      expect([status, watched.calls.map((request) => request.name)]).toStrictEqual([
        404,
        ['batchGet'],
      ])
    },
  )
})
