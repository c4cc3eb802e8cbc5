import { expect, it } from 'vitest'
import {
  apiKeyKey,
  clientKey,
  destinationKey,
  keyUseKey,
  paymentKey,
  referenceKey,
  suspenseKey,
} from '../../../shared/table/keys.ts'
import { recount } from '../../integration/recount/torn-world.ts'
import { anApi } from '../../support/api-event.ts'
import { aFinding } from '../../support/money-rows.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { aPendingPayment, aStoredClient, issueKey } from '../../support/payment-builders.ts'
import { alter, putRaw, rawItem } from '../../support/tampering.ts'
import { memoryDeps } from '../../support/test-deps.ts'

function refusalOf(id?: string) {
  const ofClient = id === undefined ? '' : ` --client_id ${id}`
  return { status: 409, body: { action_hint: `Run recount-ledger${ofClient}.` } }
}

it('an unreadable merchant and key are named by their lists, and the merchant refuses an action with the command that repairs it', async () => {
  const deps = memoryDeps()
  const [altered, other] = [await aStoredClient(deps), await aStoredClient(deps)]
  const { clientId } = other
  const [alteredKey, otherKey] = [await issueKey(deps, clientId), await issueKey(deps, clientId)]
  await alter(deps, clientKey(altered.clientId), { enabled: 'maybe' })
  await alter(deps, apiKeyKey(alteredKey.key.keyId), { prefix: 1 })
  await putRaw(deps, { ...keyUseKey(clientId, otherKey.key.keyId), last_used_on: 1 })

  expect(await invokeAdmin('list-clients', deps, {})).toMatchObject({
    status: 200,
    body: { data: [{ client_id: clientId }], unreadable_ids: [altered.clientId] },
  })
  expect(await invokeAdmin('list-api-keys', deps, { client_id: clientId })).toMatchObject({
    status: 200,
    body: { data: [{ key_id: otherKey.key.keyId }], unreadable_ids: [alteredKey.key.keyId] },
  })
  const client_id = altered.clientId
  expect(await invokeAdmin('get-client', deps, { client_id })).toMatchObject(refusalOf(client_id))
})

it('an unreadable key is revoked at once, also if two ask twice, and a recount brings it back revoked', async () => {
  const deps = memoryDeps()
  const client = await aStoredClient(deps)
  const { key } = await issueKey(deps, client.clientId)
  await alter(deps, apiKeyKey(key.keyId), { prefix: 1 })
  const ids = { client_id: client.clientId, key_id: key.keyId }

  const revoked = { ...ids, revoked_at: deps.now() }
  for (const seconds of [0, 1]) {
    deps.clock.advance(seconds)
    const revoke = () => invokeAdmin('revoke-api-key', deps, { operator: 'ayu', ...ids })
    const answer = { status: 200, body: revoked }
    expect(await Promise.all([revoke(), revoke()])).toMatchObject([answer, answer])
  }
  expect(await rawItem(deps, apiKeyKey(key.keyId))).toMatchObject({ ...revoked, prefix: 1 })
  await recount(deps, client)
  expect(await rawItem(deps, apiKeyKey(key.keyId))).toMatchObject({
    ...revoked,
    prefix: key.prefix,
  })
})

it('an unreadable suspense item of a client, or of none, refuses its resolution with a command', async () => {
  const deps = memoryDeps()
  const payment = await aPendingPayment(deps, await aStoredClient(deps))
  for (const about of [{ payment }, { subject: 'txn-2' }]) {
    const { suspenseId, clientId } = await aFinding(deps, about)
    await alter(deps, suspenseKey(suspenseId), { cause: 1 })

    const fields = { operator: 'ayu', suspense_id: suspenseId, resolution: 'explained' }
    expect(await invokeAdmin('resolve-suspense', deps, fields)).toMatchObject(refusalOf(clientId))
  }
})

it.each(['amount', 'reference', 'account', 'request'] as const)(
  'find-payments by %s names a payment that cannot be read, erase-customer leaves it, and get-payment refuses it',
  async (by) => {
    const deps = memoryDeps()
    const client = await aStoredClient(deps)
    const [client_id, external_reference] = [client.clientId, 'order-1']
    const payment = await aPendingPayment(deps, client, { externalReference: 'order-1' })
    const { paymentId: id, notionalMinor: amount_minor } = payment
    const search = {
      amount: { client_id, amount_minor, day: '2026-11-20' },
      reference: { client_id, external_reference },
      account: { payment_destination: payment.paymentDestination },
      request: { payment_request_id: payment.paymentRequestId },
    }
    await alter(deps, paymentKey(id), { method: 'paper' })

    expect(await invokeAdmin('find-payments', deps, search[by])).toMatchObject({
      status: 200,
      body: { data: [], unreadable_ids: [id] },
    })
    const erasure = { operator: 'ayu', ...search.reference }
    expect(await invokeAdmin('erase-customer', deps, erasure)).toMatchObject({
      body: { erased: [], left: [{ payment_id: id }], complete: false },
    })
    for (const owner of [client_id, undefined]) {
      await alter(deps, paymentKey(id), { owner })
      const get = invokeAdmin('get-payment', deps, { payment_id: id })
      expect(await get).toMatchObject(refusalOf(owner ?? '…'))
    }
  },
)

it('a payment is found by its reference and its account although both pointers are altered, and beside others', async () => {
  const { deps, caller: client, ask } = await anApi({}, memoryDeps())
  const { clientId: client_id } = client
  const payment = await aPendingPayment(deps, client, { externalReference: 'order-1' })
  const { paymentId: id, createdAt, paymentDestination: payment_destination } = payment
  for (const key of [
    referenceKey(client_id, 'order-1', createdAt, id),
    destinationKey(payment_destination, createdAt, id),
  ]) {
    await alter(deps, key, { payment_id: 'x' })
    await putRaw(deps, { ...key, sk: 'x' })
  }

  const found = { status: 200, body: { data: [{ id }] } }
  const query = { external_reference: 'order-1' }
  expect(await ask('listPayments', { query })).toMatchObject(found)
  for (const search of [{ client_id, ...query }, { payment_destination }])
    expect(await invokeAdmin('find-payments', deps, search)).toMatchObject(found)
})
