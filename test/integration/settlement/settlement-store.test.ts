import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { findAnySettlement, recordStep } from '../../../shared/settlement/settlement-store.ts'
import { aSettledClient } from '../../support/settlement-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

describe('recordStep', () => {
  it('refuses the id of a settlement that is there, and the transaction with it', async () => {
    const deps = testDeps()
    const { settlement } = await aSettledClient(deps)

    const outcome = await deps.table.transact({ settlement: recordStep({ ...settlement, netMinor: minor(1) }) })

    expect(outcome).toMatchObject({ applied: false, refusedBy: 'settlement' })
    expect(await findAnySettlement(deps, settlement.settlementId)).toStrictEqual(settlement)
  })
})
