/** Goal: a settlement’s audit runs once, and a difference that it finds stops the payout. */
import { describe, expect } from 'vitest'
import { auditRecordedSettlement } from '../../../shared/audit/run-audits.ts'
import type { Client } from '../../../shared/client/client.ts'
import { settlementKey } from '../../../shared/table/keys.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { acceptDifference } from '../../../shared/verdict/accept-difference.ts'
import { readClientVerdict, recordFindings } from '../../../shared/verdict/client-verdict-store.ts'
import type { Difference } from '../../../shared/verdict/difference.ts'
import {
  putSettlementVerdict,
  readSettlementVerdict,
} from '../../../shared/verdict/settlement-verdict-store.ts'
import { OPERATOR } from '../../support/operator-actions.ts'
import { withoutFloor } from '../../support/settlement-builders.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { beforeFirst, failingOn, memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { withApproval } from '../../support/with-approval.ts'
import {
  aRecordedSettlement,
  differenceOf,
  auditedTest as it,
  withoutSleep,
} from './recorded-settlement.ts'

function noteDifferences(
  deps: TestDeps,
  { clientId }: Client,
  part: string,
  differences: readonly Difference[],
) {
  return recordFindings(deps, clientId, new Map([[part, differences]]), undefined)
}

describe('the audit of a recorded settlement', () => {
  it('runs once for repeated messages, and again after a crashed worker', async () => {
    const { deps, settlement } = await aRecordedSettlement()
    deps.clock.set(addMs(settlement.createdAt, MINUTE_MS))
    const dying = failingOn(deps, 'update', 'after')
    await expect(auditRecordedSettlement(dying, settlement.settlementId)).rejects.toThrow(
      'cannot be reached',
    )

    await auditRecordedSettlement(deps, settlement.settlementId)
    const claimedVerdict = await readSettlementVerdict(deps, settlement.settlementId)
    deps.clock.advance(600)
    await auditRecordedSettlement(deps, settlement.settlementId)
    const reads = deps.changes.length
    await auditRecordedSettlement(deps, settlement.settlementId)

    // A recount that did not see the verdict does not replace the verdict.
    expect(await deps.table.write(putSettlementVerdict(settlement))).toMatchObject({
      applied: false,
    })
    expect(claimedVerdict?.state).toBe('waiting')
    expect(await readSettlementVerdict(deps, settlement.settlementId)).toMatchObject({
      state: 'audited',
    })
    expect(deps.changes).toHaveLength(reads)
  })

  it('alerts about its own differences, not about the client’s other differences', async () => {
    const { deps, client, settlement } = await aRecordedSettlement()
    const earlierDifference = {
      what: 'ledger.count_pending',
      id: client.clientId,
      expected: '5',
      found: '6',
    }
    await noteDifferences(deps, client, 'counts', [earlierDifference])
    await putRaw(deps, {
      ...(await rawItem(deps, settlementKey(settlement.settlementId))),
      gross_minor: 100_001,
    })
    deps.clock.set(addMs(settlement.createdAt, MINUTE_MS))

    await auditRecordedSettlement(withoutSleep(deps), settlement.settlementId)

    const message: unknown = expect.stringContaining(
      '(differences: 1). The first is settlement.gross_minor',
    )
    expect(deps.published).toStrictEqual([
      { kind: 'audit.imbalance', subject: client.clientId, message },
    ])
    expect(await readSettlementVerdict(deps, settlement.settlementId)).toMatchObject({
      state: 'audited',
    })
  })
})

describe('the differences that audits have found', () => {
  it.each([0, 1])(
    'are all kept after two concurrent audits and %i earlier differences',
    async (earlierCount) => {
      const deps = memoryDeps()
      const client = await withoutFloor(deps)
      const noteIn = (writerDeps: TestDeps, part: string) =>
        noteDifferences(writerDeps, client, part, [differenceOf(client)])
      if (earlierCount) await noteIn(deps, 'counts')

      const overtaken = beforeFirst(deps, 'put', () => noteIn(deps, 'window'))
      await noteIn(overtaken, 'figures')

      const parts = [...(earlierCount ? ['counts'] : []), 'window', 'figures']
      expect((await readClientVerdict(deps, client.clientId)).standing).toMatchObject(
        parts.map((part) => ({ part })),
      )
    },
  )

  it('stop a payout also by a difference that follows a hundred others', async ({
    deps,
    client,
    pay,
  }) => {
    const differences = Array.from({ length: 101 }, (_, at) => ({
      ...differenceOf(client),
      id: `${at}`,
    }))
    const [extraDifference, hundredDifferences] = [differences.slice(0, 1), differences.slice(1)]
    await noteDifferences(deps, client, 'payments 1', hundredDifferences)
    await noteDifferences(deps, client, 'payments 2', extraDifference)
    expect((await readClientVerdict(deps, client.clientId)).standing).toHaveLength(100)
    const standingAfterRepair = await noteDifferences(deps, client, 'payments 1', [])

    await noteDifferences(deps, client, 'payments 2', [])
    await noteDifferences(deps, client, 'payments 1', hundredDifferences)
    const acceptance = { clientId: client.clientId, operator: OPERATOR, notes: 'x' }
    for (const difference of hundredDifferences)
      await withApproval(deps, () => acceptDifference(deps, { ...acceptance, difference }))
    const standingAfterAccept = await noteDifferences(deps, client, 'payments 2', extraDifference)

    expect([standingAfterRepair, standingAfterAccept]).toMatchObject([
      extraDifference,
      extraDifference,
    ])
    expect(await pay()).toMatchObject({ status: 422 })
  })
})
