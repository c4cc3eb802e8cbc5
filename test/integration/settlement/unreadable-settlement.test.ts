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
import { aSettledClient, sweptADayLater } from '../../support/settlement-builders.ts'
import { alter, putRaw, rawItem } from '../../support/tampering.ts'

it('every list and alert shows the others, and the timeline of its payment and each entry name it', async () => {
  const { deps, client, settlement } = await aSettledClient()
  const { settlement: ofOther } = await aSettledClient(deps)
  const payment = await aSucceededPayment(deps, client)
  const { settlementId: settlement_id } = await sweptADayLater(deps, client)
  const { settlementId: id } = settlement
  const key = settlementKey(settlement_id)
  await alter(deps, key, { payment_count: 'x' })
  const { header: authorization } = await issueKey(deps, client.clientId)

  const own = await call(deps, API.listSettlements, { caller: { authorization } })

  expect([own.status, own.body]).toMatchObject([200, { data: [{ id }] }])
  expect(deps.lines).toContainEqual(
    expect.objectContaining({
      code: 'row.unreadable',
      fields: { kind: 'settlement', id: settlement_id },
    }),
  )
  const { timeline } = await paymentTimeline(deps, payment)
  const unreadable = { settlement_id, status: 'unreadable', settled_at: null }
  expect(timeline.settlements).toStrictEqual([unreadable])
  deps.clock.advance(4 * 86_400)
  const operatorsLists = [
    [{ client_id: client.clientId }, [id]],
    [{ status: 'recorded' }, [id, ofOther.settlementId]],
    [{ from: '2026-11-01' }, [id, ofOther.settlementId]],
  ] as const
  for (const [asked, ids] of operatorsLists) {
    const { body } = await invokeWhole(listSettlements, deps, asked)
    const { data, unreadable_ids } = body as { data: { id: string }[]; unreadable_ids: unknown }
    expect(new Set(data.map((shown) => shown.id))).toStrictEqual(new Set(ids))
    expect(unreadable_ids).toStrictEqual([settlement_id])
  }
  await alertUnpaidSettlements(deps)
  const [alert] = deps.published
  expect(alert).toMatchObject({ kind: 'settlement.unpaid', subject: settlement_id })
  expect(alert?.message).toContain(ofOther.settlementId)
  expect(alert?.message).toContain('the first 1 cannot be read')

  const other = await rawItem(deps, settlementKey(id))
  await putRaw(deps, { ...other, swept_from: 1 })
  const entries = await call(deps, API.listBalanceEntries, { caller: { authorization } })
  expect(entries.body).toMatchObject({ data: [{ settlement_id: id }, { settlement_id }] })
})

it('one whose id in the indexes is altered stops no list, alert or payout', async () => {
  const { deps, client, settlement } = await aSettledClient()
  const { settlementId } = settlement
  await alter(deps, settlementKey(settlementId), { id: 'x' })

  const { settlements } = await recordedSettlements(deps, client.clientId)
  expect(settlements).toMatchObject([{ settlementId }])
  deps.clock.advance(4 * 86_400)
  await alertUnpaidSettlements(deps)
  expect(deps.published).toMatchObject([{ subject: settlementId }])
  expect(await invokeWhole(listSettlements, deps, { from: '2026-11-01' })).toMatchObject({
    body: { data: [{ id: settlementId }] },
  })
})
