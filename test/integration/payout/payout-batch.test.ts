import { expect, it } from 'vitest'
import { handler as markPaid } from '../../../functions/admin/mark-settlement-paid.ts'
import { approve } from '../../../shared/operator/approve.ts'
import { recountLedger } from '../../../shared/recount/recount-ledger.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { settlementKey } from '../../../shared/table/keys.ts'
import { exists, update } from '../../../shared/table/step.ts'
import { askForFile, aWaitingSettlement, fileOf } from '../../support/batch-builders.ts'
import { invokeWhole, OPERATOR } from '../../support/operator-actions.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { BANK } from '../../support/settlement-builders.ts'
import { beforeFirst, memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { APPROVER } from '../../support/with-approval.ts'

function pay(deps: TestDeps, settlementId: string, more: object = {}) {
  const asked = { operator: OPERATOR, settlement_id: settlementId, bank_reference: 'bca 17' }
  return invokeWhole(markPaid, deps, { ...asked, ...more })
}

async function aBatchedSettlement() {
  const deps = memoryDeps()
  const settlement = await aWaitingSettlement(deps, { bank: { ...BANK, isChange: true } })
  const payload = { settlement_id: settlement.settlementId, new_bank: 'BCA 0012345678' }
  await approve(deps, { action: 'mark-settlement-paid', payload, operator: APPROVER })
  await fileOf(deps)
  return { deps, settlement }
}

it('a settlement of a live batch is marked paid with the approval that its claim used', async () => {
  const { deps, settlement } = await aBatchedSettlement()

  expect(await pay(deps, settlement.settlementId)).toMatchObject({
    status: 200,
    body: { status: 'manual_paid', bank_reference: 'BCA17', batch: 1 },
  })
  expect(deps.published).toStrictEqual([])
  await expectBalanced(deps, settlement.clientId)
})

it('what the bank did is written down though the gate refuses by then, with an alert', async () => {
  const { deps, settlement } = await aBatchedSettlement()
  const { settlementId: id } = settlement
  await deps.table.write(
    update(settlementKey(settlement.settlementId), { set: { grossMinor: 1 } }, exists),
  )

  expect(await pay(deps, id)).toMatchObject({ status: 200 })

  expect(deps.published).toMatchObject([{ kind: 'payout.after_difference', subject: id }])
})

it('a settlement that enters a batch before its payout commits needs nothing again', async () => {
  const deps = memoryDeps()
  const { settlementId } = await aWaitingSettlement(deps)
  const claimed = beforeFirst(deps, 'transact', async () => void (await askForFile(deps)))

  expect(await pay(claimed, settlementId)).toMatchObject({ status: 200, body: { batch: 1 } })
})

it('a reference is one text in capitals without blanks, and one of each day with value_date', async () => {
  const deps = memoryDeps()
  const settlements = []
  for (let made = 0; made < 4; made++) settlements.push(await aWaitingSettlement(deps))
  const [first = '', second = '', third = '', fourth = ''] = settlements.map(
    ({ settlementId }) => settlementId,
  )

  const reference = { bank_reference: '000 001' }
  expect(await pay(deps, first, reference)).toMatchObject({ status: 200 })
  expect(await pay(deps, second, { bank_reference: '000001' })).toMatchObject({ status: 409 })
  const days = ['2026-11-20', '2026-11-21'].map((value_date) => ({ ...reference, value_date }))
  expect(await pay(deps, second, days[0])).toMatchObject({ status: 200 })
  expect(await pay(deps, third, days[0])).toMatchObject({ status: 409 })
  expect(await pay(deps, third, days[1])).toMatchObject({ status: 200 })
  expect(await findAnySettlement(deps, third)).toMatchObject({ bankReference: '000001#2026-11-21' })
  expect(await pay(deps, fourth, { bank_reference: '2.02611E+15' })).toMatchObject({
    body: {
      field_errors: { bank_reference: ['must not be a number that a spreadsheet has shortened'] },
    },
  })
})

it('recount leaves the sums of a settlement in a live batch, and names it', async () => {
  const deps = memoryDeps()
  const { settlementId, clientId, digest } = await aWaitingSettlement(deps)
  await fileOf(deps)
  const wrong = { netMinor: 1, grossMinor: 1 }
  await deps.table.write(update(settlementKey(settlementId), { set: wrong }, exists))

  const { left } = await recountLedger(deps, { clientId, operator: OPERATOR })

  expect(left).toContainEqual({
    id: settlementId,
    why: "it is in payout batch 1: cancel the batch, or wait for the bank's answer",
  })
  expect(await findAnySettlement(deps, settlementId)).toMatchObject({ digest, netMinor: 1 })
})
