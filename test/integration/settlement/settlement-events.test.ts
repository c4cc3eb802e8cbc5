/**
 * Goal: a merchant hears of its payouts (design section 8): `settlement.recorded`,
 * `settlement.paid` and `settlement.failed`, each once, in the transaction that makes it true, and
 * only at endpoints that name them.
 */
import { describe, expect } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import type { Client } from '../../../shared/client/client.ts'
import type { Event } from '../../../shared/event/event.ts'
import { listEventsOf } from '../../../shared/event/read-events.ts'
import { subjectOfSettlement } from '../../../shared/ids.ts'
import { payoutFile } from '../../../shared/payout/payout-file.ts'
import { recountLedger } from '../../../shared/recount/recount-ledger.ts'
import { announcementOfSettlement } from '../../../shared/settlement/announce-settlement.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { toSettlementDto } from '../../../shared/settlement/settlement-dto.ts'
import { auditHeadKey, eventKey, settlementKey, windowKey } from '../../../shared/table/keys.ts'
import { FRESH_MS } from '../../../shared/webhook/delivery/announce.ts'
import { toOwnDeliveryDto } from '../../../shared/webhook/delivery/delivery-dto.ts'
import { findOwnDelivery } from '../../../shared/webhook/delivery/redeliver.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import {
  aDayLater,
  aLoneClient,
  aSettledClient,
  auditedNow,
  BY_OPERATOR,
  fail,
  payOut,
  settledAmount,
  sweptNow,
  trigger,
} from '../../support/settlement-builders.ts'
import { erase, keyOfRow } from '../../support/tampering.ts'
import {
  afterFirst,
  interceptTable,
  type TableCall,
  type TestDeps,
} from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { recount } from '../recount/torn-world.ts'

const NAMES = ['settlement.recorded', 'settlement.paid', 'settlement.failed']

/** A merchant with an endpoint for payouts, another for everything else, and a settlement. */
async function aTold() {
  const { deps, client } = await aLoneClient()
  const { clientId } = client
  const endpoint = await storedEndpoint(deps, { clientId, eventTypes: [...NAMES] })
  await storedEndpoint(deps, { clientId, eventTypes: ['*'] })
  return { deps, client, endpoint, settlement: await settledAmount(deps, client) }
}

const it = testWith(aTold, 'deps', 'client', 'endpoint', 'settlement')

async function eventsOf(deps: TestDeps, { settlementId }: Pick<Settlement, 'settlementId'>) {
  const events = await listEventsOf(deps, subjectOfSettlement(settlementId))
  return events.flatMap((event) => (event ? [told(event)] : []))
}

function told({ name, body, endpointIds, firedAt }: Event) {
  const { event, data } = JSON.parse(body)
  return { name, event, data, endpointIds, firedAt }
}

describe('a settlement is announced', () => {
  it('when it is recorded, as the API shows it, to the endpoint that names it alone', async ({
    deps,
    endpoint,
    settlement,
  }) => {
    expect(await eventsOf(deps, settlement)).toStrictEqual([
      {
        name: 'settlement.recorded',
        event: 'settlement.recorded',
        data: toSettlementDto(settlement),
        endpointIds: [endpoint.endpointId],
        firedAt: settlement.createdAt,
      },
    ])
    const [sent] = deps.sent.filter(({ queue }) => queue === 'webhooks').slice(-1)
    expect(sent?.message.body).toMatchObject({ endpoint_id: endpoint.endpointId })
    const { delivery_id: id } = Object(sent?.message.body)
    const delivery = toOwnDeliveryDto(await findOwnDelivery(deps, settlement.clientId, id))
    expect(delivery).toMatchObject({ settlement_id: settlement.settlementId })
  })

  it('when it is paid, with the reference of the transfer', async ({ deps, settlement }) => {
    const paid = await payOut(deps, settlement)

    const events = await eventsOf(deps, settlement)
    expect(events.map(({ name }) => name)).toStrictEqual(['settlement.paid', 'settlement.recorded'])
    const data = { ...toSettlementDto(paid), bank_reference: paid.bankReference }
    expect(events[0]).toMatchObject({ data, firedAt: paid.settledAt })
    expect(await balanced(deps, paid)).toBe(true)
  })

  it('when it fails, with the words of the bank', async ({ deps, settlement }) => {
    const failed = await fail(deps, settlement)

    const [event] = await eventsOf(deps, settlement)
    expect(event).toMatchObject({ name: 'settlement.failed', data: { notes: failed.notes } })
    expect(await balanced(deps, failed)).toBe(true)
  })

  it.for([
    ['when the sweep records it', sweptNow],
    ['when an operator records it', trigger],
    ['when it fails, in the next try', failAtLast],
  ] as const)(
    'to an endpoint that came after the read of the endpoints, if the write is late: %s',
    async ([, act], { deps, client, settlement }) => {
      await aSucceededPayment(deps, client)
      aDayLater(deps)
      const { clientId } = client
      const late = afterFirst(deps, readsEndpoints, async () => {
        await storedEndpoint(deps, { clientId, eventTypes: [...NAMES] })
        deps.clock.advance(FRESH_MS + 1)
      })

      const changed = (await act(late, settlement)) ?? settlement
      const [event] = await eventsOf(deps, changed)

      expect(event?.endpointIds).toHaveLength(2)
    },
  )

  it('in the feed of a merchant without an endpoint too', async () => {
    const { deps, settlement } = await aSettledClient()

    expect(await eventsOf(deps, settlement)).toMatchObject([{ endpointIds: [] }])
  })
})

function failAtLast(deps: TestDeps, settlement: Settlement) {
  return fail(deps, settlement).catch(() => fail(deps, settlement))
}

function readsEndpoints(call: TableCall) {
  return 'query' in call && String(call.query.partition[0]).startsWith('ENDPOINTS#')
}

async function balanced(deps: TestDeps, { clientId }: Pick<Client, 'clientId'>) {
  return (await auditLedger(deps, clientId)).balanced
}

const ANNOUNCED = {
  code: 'conflict',
  details: { actionHint: expect.stringContaining('recount-ledger') },
}

describe('after a restore', () => {
  it('a lost event is put again by a recount, with its delivery', async ({
    deps,
    endpoint,
    settlement,
  }) => {
    const paid = await payOut(deps, settlement)
    const subject = subjectOfSettlement(settlement.settlementId)
    const before = await eventsOf(deps, settlement)
    for (const name of ['settlement.recorded', 'settlement.paid'])
      await erase(deps, eventKey(subject, name))
    const delivery = deps.stored.items('DELIVERY#').find((row) => row['event_name'] === NAMES[1])
    await erase(deps, keyOfRow(delivery ?? {}))

    await repaired(deps, paid)

    expect(await eventsOf(deps, settlement)).toStrictEqual(before)
    const again = deps.stored.items('DELIVERY#').find((row) => row['event_name'] === NAMES[1])
    expect(again).toMatchObject({ owner: endpoint.endpointId, state: 'scheduled' })
  })

  it('a payout whose row is lost comes back by its event, and is neither paid again nor closed', async ({
    deps,
    settlement,
  }) => {
    await announcePaid(deps, { ...settlement, bankReference: 'BCA 1' })
    await auditedNow(deps, settlement)

    const answer = await payoutFile(deps, { ...BY_OPERATOR, format: 'csv' })
    expect(answer).toMatchObject({ left_out: [{ settlement_id: settlement.settlementId }] })
    await expect(payOut(deps, settlement)).rejects.toMatchObject({ code: 'validation' })
    await expect(fail(deps, settlement)).rejects.toMatchObject(ANNOUNCED)
    await repaired(deps, settlement)

    expect(await deps.table.get(settlementKey(settlement.settlementId))).toMatchObject({
      status: 'manual_paid',
      bankReference: 'BCA 1',
    })
    expect(await deps.table.get(windowKey(settlement.clientId))).toMatchObject({
      paidOutMinor: settlement.netMinor,
    })
  })
})

it('a recount offers no write for what it cannot repair', async ({ deps, client, settlement }) => {
  await fail(deps, settlement)
  await announcePaid(deps, settlement)
  const rows = deps.stored.items('DELIVERY#').filter((row) => row['event_name'] === NAMES[2])
  for (const row of rows) await erase(deps, keyOfRow(row))
  for (const row of deps.stored.items('ENDPOINTS#')) await erase(deps, keyOfRow(row))

  const asked = { clientId: client.clientId, operator: 'sari' }
  const { writes, not_repairable: left } = await recountLedger(deps, asked)

  expect(writes).toStrictEqual([])
  const found = left.map(({ what }) => what)
  expect(found).toStrictEqual(expect.arrayContaining(['settlement_event', 'delivery']))
})

it('a recount puts no event of a settlement that was closed after the plan was read', async ({
  deps,
  client,
  settlement,
}) => {
  const subject = subjectOfSettlement(settlement.settlementId)
  await erase(deps, eventKey(subject, 'settlement.recorded'))
  const asked = { clientId: client.clientId, operator: 'sari' }
  const head = auditHeadKey(settlement.settlementId)
  let [reads, readsOfPlan] = [0, Number.POSITIVE_INFINITY]
  const overtaken = interceptTable(deps, {
    before: async (call) => {
      const isHead =
        call.name === 'get' && call.keys.some(({ pk, sk }) => pk === head.pk && sk === head.sk)
      // The write reads the head once more than the plan.
      if (isHead && ++reads === 2 * readsOfPlan + 1) await fail(deps, settlement)
    },
  })
  const { plan } = await recountLedger(overtaken, asked)
  readsOfPlan = reads

  const { written, left } = await recountLedger(overtaken, { ...asked, plan })

  expect(written).toStrictEqual([])
  expect(left).toMatchObject([{ id: settlement.settlementId }])
  await repaired(deps, client)
})

async function announcePaid(deps: TestDeps, before: Settlement) {
  const [status, settledAt] = ['manual_paid', deps.now()] as const
  const { steps } = await announcementOfSettlement(
    deps,
    { ...before, status, settledAt },
    deps.now(),
  )
  await deps.table.transact(steps)
}

async function repaired(deps: TestDeps, client: Pick<Client, 'clientId'>) {
  await recount(deps, client)
  expect((await recount(deps, client)).written).toStrictEqual([])
  expect(await balanced(deps, client)).toBe(true)
}

it('an event that nothing explains is a difference, and stops the failure that it tells of', async ({
  deps,
  client,
  settlement,
}) => {
  const failed: Settlement = { ...settlement, status: 'failed', notes: 'x' }
  const { steps } = await announcementOfSettlement(deps, failed, deps.now())
  await deps.table.transact(steps)
  await expect(fail(deps, settlement)).rejects.toMatchObject(ANNOUNCED)

  const { differences } = await auditLedger(deps, client.clientId)

  expect(differences).toMatchObject([{ what: 'settlement_event', found: 'settlement.failed' }])
})
