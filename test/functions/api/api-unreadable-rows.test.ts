import { expect } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { drainSlot } from '../../../shared/due-work/drain-slot.ts'
import { DUE_DELIVERIES } from '../../../shared/due-work/due-kinds.ts'
import { slotOf } from '../../../shared/ids.ts'
import {
  deliveryKey,
  eventKey,
  paymentKey,
  settlementKey,
  shardKey,
} from '../../../shared/table/keys.ts'
import { WORK_SLOTS } from '../../../shared/table/schema.ts'
import { API, anApi } from '../../support/api-event.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { aPendingPayment } from '../../support/payment-builders.ts'
import { aSettledClient } from '../../support/settlement-builders.ts'
import { alter, erase } from '../../support/tampering.ts'
import { linesOf, memoryDeps } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import {
  drainQueue,
  rowOf,
  SKIPPED,
  storedDelivery,
  storedEndpoint,
  storedEvent,
} from '../../support/webhook-builders.ts'

async function aMerchant() {
  const { deps, caller: client, ask } = await anApi({}, memoryDeps())
  const listed = async (name: keyof typeof API, query: Readonly<Record<string, string>> = {}) => {
    const { status, body } = await ask(name, { query })
    const rows = body['data'] as { id?: string; event_id?: string }[]
    return [status, rows.map(({ id, event_id }) => id ?? event_id)]
  }
  return { deps, client, ask, listed }
}
const it = testWith(aMerchant, 'deps', 'client', 'ask', 'listed')

it('GET /v1/payments shows the other payments, and the log names the payment', async ({
  deps,
  client,
  listed,
}) => {
  const [altered, other] = [
    await aPendingPayment(deps, client),
    await aPendingPayment(deps, client),
  ]
  await alter(deps, paymentKey(altered.paymentId), { method: 'paper' })

  expect(await listed('listPayments')).toStrictEqual([200, [other.paymentId]])
  expect(await listed('listPayments', { status: 'pending' })).toStrictEqual([
    200,
    [other.paymentId],
  ])

  expect(deps.lines).toContainEqual(
    expect.objectContaining({
      level: 'error',
      code: 'row.unreadable',
      fields: { kind: 'payment', id: altered.paymentId },
    }),
  )
})

it('the lists of deliveries and endpoints, and a redelivery, go on beside a row of another kind, and log and name deliveries that cannot be read', async ({
  deps,
  client: { clientId, clientId: client_id },
  ask,
  listed,
}) => {
  const endpoint = await storedEndpoint(deps, { clientId })
  const store = () => storedDelivery(deps, endpoint, SKIPPED)
  const [other, first, second] = [await store(), await store(), await store()]
  const unreadable = [first.deliveryId, second.deliveryId]
  for (const [at, id] of unreadable.entries())
    await alter(deps, deliveryKey(id), { status: at === 0 ? 'paused' : undefined })
  const { subject, name } = await storedEvent(deps, { clientId })
  const index = { owner: endpoint.endpointId, entity: 'delivery', status: 'skipped' }
  await alter(deps, eventKey(subject, name), index)

  for (const query of [undefined, { status: 'skipped' }])
    expect(await listed('listWebhookDeliveries', query)).toStrictEqual([200, [other.deliveryId]])
  expect(await listed('listWebhookEndpoints')).toStrictEqual([200, [endpoint.endpointId]])
  deps.lines.length = 0
  const body = { since: '2026-11-20T00:00:00Z' }
  expect(await ask('redeliverToEndpoint', { id: endpoint.endpointId, body })).toMatchObject({
    status: 200,
    body: { count: 1 },
  })
  const named = linesOf(deps, 'row.unreadable')
  expect(new Set(named.map(({ fields }) => fields['id']))).toStrictEqual(new Set(unreadable))
  const namedBy = async (action: string, input: object) =>
    new Set(Object((await invokeAdmin(action, deps, { client_id, ...input })).body).unreadable_ids)
  for (const status of [undefined, 'scheduled', 'succeeded'])
    expect(await namedBy('list-deliveries', { status })).toStrictEqual(new Set(unreadable))
  const again = { operator: 'ayu', endpoint_id: endpoint.endpointId, ...body }
  expect(await namedBy('redeliver', again)).toStrictEqual(new Set(unreadable))
  const event_id = first.eventId
  expect([...(await namedBy('list-deliveries', { event_id }))]).toStrictEqual([first.deliveryId])
})

it('no list shows a row of another merchant whose owner is altered', async ({
  deps,
  client: { clientId },
  listed,
}) => {
  const endpoint = await storedEndpoint(deps, { clientId })
  const delivery = await storedDelivery(deps, await storedEndpoint(deps), { status: 'skipped' })
  const { settlement } = await aSettledClient(deps)
  await alter(deps, deliveryKey(delivery.deliveryId), { owner: endpoint.endpointId })
  await alter(deps, settlementKey(settlement.settlementId), { owner: clientId })

  for (const name of ['listWebhookDeliveries', 'listSettlements'] as const)
    expect(await listed(name)).toStrictEqual([200, []])
})

it('a delivery with the id of another merchant’s shows and sends its own row alone', async ({
  deps,
  client: { clientId },
  ask,
}) => {
  const own = await storedDelivery(deps, await storedEndpoint(deps, { clientId }), SKIPPED)
  const foreign = await storedDelivery(deps, await storedEndpoint(deps), SKIPPED)
  await alter(deps, deliveryKey(own.deliveryId), { id: foreign.deliveryId })

  const { body } = await ask('redeliverWebhook', { id: own.deliveryId })

  expect(body).toMatchObject({ id: own.deliveryId, status: 'scheduled' })
  expect(await rowOf(deps, foreign)).toMatchObject({ status: 'skipped' })
  deps.sent.length = 0
  deps.clock.advance(60)
  const slot = slotOf(own.deliveryId, WORK_SLOTS.delivery)
  await drainSlot(deps, DUE_DELIVERIES, { slot, part: 0, parts: 1 })
  await drainQueue(deps)
  expect(await rowOf(deps, own)).toMatchObject({ status: 'succeeded' })
})

it.for([
  ['event', 'listEvents'],
  ['settlement', 'listSettlements'],
  ['payment', 'listPayments'],
] as const)(
  'a row of another kind that is called %s hides no list and stops no audit',
  async ([entity, name], { deps, client, listed }) => {
    const { paymentId } = await aPendingPayment(deps, client)
    const event = await storedEvent(deps, { clientId: client.clientId })
    const key = entity === 'payment' ? eventKey(event.subject, event.name) : paymentKey(paymentId)
    await alter(deps, key, { entity })

    const shown = { listEvents: [event.eventId], listSettlements: [], listPayments: [paymentId] }
    expect(await listed(name)).toStrictEqual([200, shown[name]])
    const differences = (await auditLedger(deps, client.clientId)).differences
    expect(differences.map(({ what }) => what)).not.toContain('part.rows')
  },
)

it('GET /v1/events shows the events whose types it knows', async ({
  deps,
  client: { clientId },
  listed,
}) => {
  const event = await storedEvent(deps, { clientId })
  await alter(deps, eventKey(event.subject, event.name), {
    sk: 'payment.refunded',
    id: crypto.randomUUID(),
  })

  expect(await listed('listEvents', { since: '2026-11-20T00:00:00Z' })).toStrictEqual([
    200,
    [event.eventId],
  ])
})

it('figures that are summed over the shards answer 500 while one is missing', async ({
  deps,
  client,
  ask,
}) => {
  await erase(deps, shardKey(client.clientId, 3))

  for (const name of ['getBalance', 'listPayments', 'getStatement'] as const)
    expect((await ask(name)).status).toBe(500)
})
