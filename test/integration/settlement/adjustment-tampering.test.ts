import { expect, it } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { adjustmentKey, entryKey, type Key, shardKey } from '../../../shared/table/keys.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import { BANK, payOut, sweptADayLater, withoutFloor } from '../../support/settlement-builders.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { memoryDeps } from '../../support/test-deps.ts'

it('an adjustment that changed in all its rows is named by the audit and not paid out', async () => {
  const deps = memoryDeps()
  const client = await withoutFloor(deps, { bank: BANK })
  await adjustBalance(deps, client, 'correction', -30_000)
  const { entry } = await adjustBalance(deps, client, 'recovered', 5_000, 'BANK-1')
  const { clientId } = client
  const larger = async (key: Key, ...sides: readonly string[]) => {
    const before = await rawItem(deps, key)
    const raised = sides.map((side) => [side, Number(before[side]) + 1_000_000] as const)
    await putRaw(deps, { ...before, ...Object.fromEntries(raised) })
  }
  await larger(adjustmentKey(clientId, 'BANK-1'), 'amount_minor')
  await larger(entryKey(clientId, entry), 'gross_minor', 'net_minor', 'bank_minor')
  await larger(shardKey(clientId, 0), 'credited_minor')

  const { differences } = await auditLedger(deps, clientId)

  const figures = { expected: 5_000, found: 1_005_000 }
  expect(differences).toEqual(
    expect.arrayContaining([
      { what: 'adjustment.amount_minor', id: 'BANK-1', ...figures },
      { what: 'entry.net_minor', id: entry.entryId, ...figures },
    ]),
  )
  const settlement = await sweptADayLater(deps, client)
  await expect(payOut(deps, settlement)).rejects.toThrow('do not balance')
})
