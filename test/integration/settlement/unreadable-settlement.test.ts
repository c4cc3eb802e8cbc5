/** Goal: a settlement's row that cannot be read hides no other settlement, and is named. */
import { expect, it } from 'vitest'
import { handler as listSettlements } from '../../../functions/admin/list-settlements.ts'
import { paymentTimeline } from '../../../shared/inquiry/payment-timeline.ts'
import { recordedSettlements } from '../../../shared/settlement/settlement-store.ts'
import { alertUnpaidSettlements } from '../../../shared/settlement/sweep-settlements.ts'
import { settlementKey } from '../../../shared/table/keys.ts'
import { API, call } from '../../support/api-event.ts'
import { invokeWhole } from '../../support/operator-actions.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { issueKey } from '../../support/payment-builders.ts'
import { aSettledClient, sweptADayLater, withoutFloor } from '../../support/settlement-builders.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { memoryDeps } from '../../support/test-deps.ts'

it('the list of payouts and the alert of unpaid ones name it beside the others', async () => {
  const { deps, settlement: altered } = await aSettledClient()
  const { settlement: other } = await aSettledClient(deps)
  const key = settlementKey(altered.settlementId)
  await putRaw(deps, { ...(await rawItem(deps, key)), payment_count: 'x' })

  expect(await invokeWhole(listSettlements, deps, { status: 'recorded' })).toMatchObject({
    status: 200,
    body: { data: [{ id: other.settlementId }], unreadable_ids: [altered.settlementId] },
  })

  deps.clock.advance(4 * 86_400)
  await alertUnpaidSettlements(deps)
  const [alert] = deps.published
  expect(alert).toMatchObject({ kind: 'settlement.unpaid', subject: altered.settlementId })
  expect(alert?.message).toContain(other.settlementId)
  expect(alert?.message).toContain('the first 1 cannot be read')
})

it('the lists of its merchant and of operators show the others', async () => {
  const { deps, client, settlement: altered } = await aSettledClient()
  const { settlement: ofOther } = await aSettledClient(deps)
  await aSucceededPayment(deps, client)
  const { settlementId: id } = await sweptADayLater(deps, client)
  const key = settlementKey(altered.settlementId)
  await putRaw(deps, { ...(await rawItem(deps, key)), status: 'on_hold' })
  const { header: authorization } = await issueKey(deps, client.clientId)

  const own = await call(deps, API.listSettlements, { caller: { authorization } })
  const entries = await call(deps, API.listBalanceEntries, { caller: { authorization } })

  expect([own.status, own.body]).toMatchObject([200, { data: [{ id }] }])
  const { settlementId: settlement_id } = altered
  expect(entries.body).toMatchObject({ data: [{ settlement_id }, { settlement_id: id }] })
  expect(deps.lines).toContainEqual(
    expect.objectContaining({
      code: 'row.unreadable',
      fields: { kind: 'settlement', id: altered.settlementId },
    }),
  )
  expect(await invokeWhole(listSettlements, deps, { client_id: client.clientId })).toMatchObject({
    body: { data: [{ id }], unreadable_ids: [altered.settlementId] },
  })
  deps.clock.advance(86_400)
  const { body } = await invokeWhole(listSettlements, deps, { from: '2026-11-01' })
  const { data, unreadable_ids } = body as { data: { id: string }[]; unreadable_ids: unknown }
  expect(new Set(data.map((shown) => shown.id))).toStrictEqual(new Set([id, ofOther.settlementId]))
  expect(unreadable_ids).toStrictEqual([altered.settlementId])
})

it('one whose id in the indexes is altered stops no list, alert or payout', async () => {
  const { deps, client, settlement } = await aSettledClient()
  const { settlementId } = settlement
  await putRaw(deps, { ...(await rawItem(deps, settlementKey(settlementId))), id: 'x' })

  const { settlements } = await recordedSettlements(deps, client.clientId)
  expect(settlements).toMatchObject([{ settlementId }])
  deps.clock.advance(4 * 86_400)
  await alertUnpaidSettlements(deps)
  expect(deps.published).toMatchObject([{ subject: settlementId }])
  expect(await invokeWhole(listSettlements, deps, { from: '2026-11-01' })).toMatchObject({
    body: { data: [{ id: settlementId }] },
  })
})

it('the timeline of its payment names it', async () => {
  const deps = memoryDeps()
  const client = await withoutFloor(deps)
  const payment = await aSucceededPayment(deps, client)
  const { settlementId } = await sweptADayLater(deps, client)
  await putRaw(deps, { ...(await rawItem(deps, settlementKey(settlementId))), status: 'on_hold' })

  const { timeline } = await paymentTimeline(deps, payment)

  const unreadable = { settlement_id: settlementId, status: 'unreadable', settled_at: null }
  expect(timeline.settlements).toStrictEqual([unreadable])
})
