/** Goal: a settlement's row that cannot be read hides no other payout, and is named. */
import { expect, it } from 'vitest'
import { handler as listSettlements } from '../../../functions/admin/list-settlements.ts'
import { alertUnpaidSettlements } from '../../../shared/settlement/sweep-settlements.ts'
import { settlementKey } from '../../../shared/table/keys.ts'
import { invokeWhole } from '../../support/operator-actions.ts'
import { aSettledClient } from '../../support/settlement-builders.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { memoryDeps } from '../../support/test-deps.ts'

it('the list of payouts and the alert of unpaid ones name it beside the others', async () => {
  const deps = memoryDeps()
  const { settlement: altered } = await aSettledClient(deps)
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
