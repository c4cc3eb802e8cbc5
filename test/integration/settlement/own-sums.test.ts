/** Goal: money becomes a client's again only with the sums of its settlement's own entries. */
import { describe, expect, it } from 'vitest'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { settlementKey } from '../../../shared/table/keys.ts'
import { exists, update } from '../../../shared/table/step.ts'
import { fileOf } from '../../support/batch-builders.ts'
import {
  aSettledClient,
  auditedNow,
  fail,
  inSteps,
  recredit,
  sweptNow,
  withoutSleep,
} from '../../support/settlement-builders.ts'
import { memoryDeps, type TestDeps } from '../../support/test-deps.ts'

async function alter(
  deps: TestDeps,
  { settlementId }: Settlement,
  fields: Readonly<Record<string, unknown>>,
) {
  await deps.table.write(update(settlementKey(settlementId), { set: fields }, exists))
}

const RAISED = { grossMinor: 1_100_000, netMinor: 1_095_900 }
const RAISED_WITH_ENTRIES = { ...RAISED, entryCount: 20_001 }

describe('a re-credit', () => {
  it.each([
    ['sums', RAISED],
    ['sums and number of entries', RAISED_WITH_ENTRIES],
  ])('is refused for a settlement whose %s were raised', async (_, raised) => {
    const deps = memoryDeps()
    const { settlement } = await aSettledClient(deps)
    await fail(deps, settlement)
    await alter(deps, settlement, raised)

    await expect(recredit(deps, settlement)).rejects.toMatchObject({ code: 'validation' })
  })
})

describe('the payout of the next settlement', () => {
  it('is refused if a re-credit of raised sums was not', async () => {
    const deps = memoryDeps()
    const { client, settlement } = await aSettledClient(deps)
    await auditedNow(deps, settlement)
    await fail(deps, settlement)
    await alter(deps, settlement, RAISED_WITH_ENTRIES)
    // With these steps every settlement is long.
    await recredit(inSteps(deps, 1, 1, 1, 0), settlement)
    deps.clock.advance(60)
    const next = await sweptNow(deps, client)
    deps.clock.advance(61)

    const { rows, leftOut } = await fileOf(withoutSleep(deps))

    expect([next.netMinor, rows]).toStrictEqual([RAISED.netMinor, []])
    expect(leftOut).toMatchObject([
      { reason: expect.stringContaining('do not balance') as unknown },
    ])
  })
})
