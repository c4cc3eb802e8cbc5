import { describe, expect } from 'vitest'
import { auditClient } from '../../../shared/audit/audit-client.ts'
import { deliveryIdFor, eventIdFor, subjectOfPayment } from '../../../shared/ids.ts'
import { ZERO } from '../../../shared/money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { endpointKey } from '../../../shared/table/keys.ts'
import { findDelivery } from '../../../shared/webhook/delivery/delivery-store.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { findEndpoint } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { anApi } from '../../support/api-event.ts'
import { invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { standingOf, sweptADayLater } from '../../support/settlement-builders.ts'
import { expectPayment, type PaidUpstream, paidUpstream } from '../../support/synced-payment.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { linesOf, memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { ACTIONS } from './endpoint-operations.ts'

async function aWorld() {
  const { deps, caller: client, ask } = await anApi({ settlementFloorMinor: ZERO }, memoryDeps())
  const { clientId } = client
  const endpoint = await storedEndpoint(deps, { clientId, eventTypes: ['payment.succeeded'] })
  const paid = await paidUpstream(deps, client)
  const row = await rawItem(deps, endpointKey(endpoint))
  const announce = () =>
    applyProviderNews(deps, { paymentRequestId: paid.payment.paymentRequestId }, 'callback')
  return { deps, client, ask, endpoint, paid, row, announce }
}
const it = testWith(aWorld, 'deps', 'client', 'ask', 'endpoint', 'paid', 'row', 'announce')

function deliveryTo(deps: TestDeps, { endpointId }: Endpoint, { payment }: PaidUpstream) {
  const eventId = eventIdFor(subjectOfPayment(payment.paymentId), 'payment.succeeded')
  return findDelivery(deps, deliveryIdFor(eventId, endpointId))
}

describe('an event type of a later release', () => {
  const WITH_UNKNOWN = { event_types: ['payment.succeeded', 'payment.refunded'] }

  it('stops no money of the client, and the endpoint gets the types that are known', async ({
    deps,
    client,
    endpoint,
    paid,
    row,
    announce,
  }) => {
    await putRaw(deps, { ...row, ...WITH_UNKNOWN })
    await aSucceededPayment(deps, client)

    await announce()

    await expectPayment(deps, paid, { status: 'succeeded' })
    expect(await deliveryTo(deps, endpoint, paid)).toMatchObject({ status: 'scheduled' })
    expect(await sweptADayLater(deps, client)).toMatchObject({ status: 'recorded' })
  })

  it('stays in the row, and only operators are shown it', async ({
    deps,
    client,
    ask,
    endpoint,
    row,
  }) => {
    await putRaw(deps, { ...row, ...WITH_UNKNOWN })
    const ids = { client_id: client.clientId, endpoint_id: endpoint.endpointId }

    await invokeAdmin('update-endpoint', deps, { operator: OPERATOR, ...ids, enabled: false })

    expect(await findEndpoint(deps, endpoint)).toMatchObject({
      enabled: false,
      eventTypes: WITH_UNKNOWN.event_types,
    })
    expect(
      (await invokeAdmin('list-endpoints', deps, { client_id: client.clientId })).body,
    ).toMatchObject({ data: [WITH_UNKNOWN] })
    expect((await ask('listWebhookEndpoints')).body).toMatchObject({
      data: [{ id: endpoint.endpointId, event_types: ['payment.succeeded'] }],
    })
  })

  it('is named by the audit as an unknown name, for which no payout waits', async ({
    deps,
    client,
  }) => {
    const eventTypes = WITH_UNKNOWN.event_types
    await storedEndpoint(deps, { clientId: client.clientId, eventTypes })

    await auditClient(deps, client.clientId)

    expect(await standingOf(deps, client)).toMatchObject([
      { what: 'endpoint.payment.refunded', id: 'endpoint', expected: 'a name of this release' },
    ])
  })
})

const UNREADABLE = { url: 1 }

describe('an endpoint whose row cannot be read', () => {
  it('is passed over when money is announced, and the log names it', async ({
    deps,
    client,
    endpoint,
    paid,
    row,
    announce,
  }) => {
    const other = await storedEndpoint(deps, { clientId: client.clientId })
    await putRaw(deps, { ...row, ...UNREADABLE })

    await announce()

    await expectPayment(deps, paid, { status: 'succeeded' })
    expect(await deliveryTo(deps, other, paid)).toMatchObject({ status: 'scheduled' })
    expect(await deliveryTo(deps, endpoint, paid)).toBeUndefined()
    expect(linesOf(deps, 'row.unreadable')).toMatchObject([
      { level: 'error', fields: { kind: 'endpoint', id: endpoint.endpointId } },
    ])
  })

  it('gets its events by its key, whatever id its row names', async ({
    deps,
    endpoint,
    paid,
    row,
    announce,
  }) => {
    await putRaw(deps, { ...row, endpoint_id: crypto.randomUUID(), client_id: crypto.randomUUID() })

    await announce()

    expect(await deliveryTo(deps, endpoint, paid)).toMatchObject({ status: 'scheduled' })
  })

  it('is named to operators and by the audit, and hides no other from its merchant', async ({
    deps,
    client,
    ask,
    endpoint,
    row,
  }) => {
    const other = await storedEndpoint(deps, { clientId: client.clientId })
    await putRaw(deps, { ...row, ...UNREADABLE })

    const listed = await invokeAdmin('list-endpoints', deps, { client_id: client.clientId })
    await auditClient(deps, client.clientId)

    expect(listed.body).toMatchObject({
      data: [{ endpoint_id: other.endpointId }],
      unreadable_ids: [endpoint.endpointId],
    })
    expect(JSON.stringify(listed.body)).not.toContain('secret')
    expect((await ask('listWebhookEndpoints')).body).toMatchObject({
      data: [{ id: other.endpointId }],
    })
    const query = { endpoint_id: endpoint.endpointId }
    expect((await ask('listWebhookDeliveries')).status).toBe(200)
    expect((await ask('listWebhookDeliveries', { query })).status).toBe(200)
    expect(await standingOf(deps, client)).toMatchObject([
      { what: 'endpoint.url', id: endpoint.endpointId },
    ])
  })
})

it.for(Object.values(ACTIONS))(
  'action %# answers 409 with the command that repairs it, and changes nothing',
  async (act, { deps, endpoint, row }) => {
    await putRaw(deps, { ...row, ...UNREADABLE })

    expect(await act(deps, endpoint)).toMatchObject({
      status: 409,
      body: {
        action_hint: expect.stringContaining(`recount-ledger --client_id ${endpoint.clientId}`),
      },
    })
    expect(await rawItem(deps, endpointKey(endpoint))).toStrictEqual({ ...row, ...UNREADABLE })
  },
)

it('a recount repairs it by its records, and a redelivery sends what it missed', async ({
  deps,
  client,
  endpoint,
  paid,
  row,
  announce,
}) => {
  const since = deps.now()
  const ask = { operator: OPERATOR, client_id: client.clientId }
  const recount = async (plan?: string) =>
    Object((await invokeAdmin('recount-ledger', deps, { ...ask, plan })).body).plan

  for (const altered of [{ enabled: 'no' }, { url: 'https://other.example/hooks' }, UNREADABLE]) {
    await putRaw(deps, { ...row, ...altered })
    if (altered === UNREADABLE) await announce()
    await recount(await recount())

    expect(await rawItem(deps, endpointKey(endpoint))).toStrictEqual(row)
  }
  const { endpointId: endpoint_id } = endpoint
  expect(await invokeAdmin('redeliver', deps, { ...ask, endpoint_id, since })).toMatchObject({
    body: { count: 1 },
  })
  expect(await deliveryTo(deps, endpoint, paid)).toMatchObject({ status: 'scheduled' })
})
