/** Goal: a second approval of the same figures replaces the first one, and ends nothing unseen. */
import { describe, expect, it } from 'vitest'
import { handler as adjustLedger } from '../../../functions/admin/adjust-ledger.ts'
import { handler as approveAction } from '../../../functions/admin/approve.ts'
import { type Approvable, approvalIdOf } from '../../../shared/operator/approval-store.ts'
import { approvalKey } from '../../../shared/table/keys.ts'
import { invokeWhole, OPERATOR, withClient } from '../../support/operator-actions.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { beforeFirst, type TestDeps } from '../../support/test-deps.ts'
import { APPROVER } from '../../support/with-approval.ts'

function approve(deps: TestDeps, approved: Approvable) {
  return invokeWhole(approveAction, deps, { ...approved, operator: APPROVER })
}

async function anApprovedCorrection() {
  const { deps, clientId } = await withClient()
  const figures = { client_id: clientId, kind: 'correction', amount_minor: 5_000, reference: 'C-1' }
  const asked = { action: 'adjust-ledger', payload: figures } as const
  await approve(deps, asked)
  const adjust = () => invokeWhole(adjustLedger, deps, { operator: OPERATOR, ...figures })
  return { deps, asked, key: approvalKey(approvalIdOf(asked)), adjust }
}

describe('a second approval of the same figures', () => {
  it.for([{ until: 'x' }, { at: 'x' }, { at: undefined }])(
    'replaces one that cannot be read for %o, by which no action runs',
    async (changes) => {
      const { deps, asked, key, adjust } = await anApprovedCorrection()
      await putRaw(deps, { ...(await rawItem(deps, key)), ...changes })
      expect(await adjust()).toMatchObject({ status: 422 })

      expect(await approve(deps, asked)).toMatchObject({ status: 200 })

      expect(await adjust()).toMatchObject({ status: 200 })
    },
  )

  it('is refused while an action uses the first one', async () => {
    const { deps, asked, key, adjust } = await anApprovedCorrection()
    const raced = beforeFirst(deps, 'transact', () => adjust())

    expect(await approve(raced, asked)).toMatchObject({ status: 409 })
    expect(await deps.table.get(key)).toMatchObject({ usedAt: deps.now() })
  })
})
