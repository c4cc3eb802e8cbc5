/** Goal: no entry is paid out twice because the window of a settlement was changed. */
import { expect, it } from 'vitest'
import { markSettlementPaid } from '../../../shared/payout/mark-settlement-paid.ts'
import { fileOf } from '../../support/batch-builders.ts'
import { OPERATOR } from '../../support/operator-actions.ts'
import {
  aSettledClient,
  auditedNow,
  fail,
  payOut,
  recredit,
  settledAmount,
  sweptNow,
  withoutSleep,
} from '../../support/settlement-builders.ts'
import { memoryDeps } from '../../support/test-deps.ts'
import { moveWindow } from './moved-window.ts'

const REFUSED = [{ reason: expect.stringContaining('do not balance') as unknown }]

it('a settlement that was extended over a later, paid one is not paid out', async () => {
  const deps = memoryDeps()
  const { client, settlement } = await aSettledClient(deps)
  const paid = await settledAmount(deps, client, 100_000)
  await payOut(deps, paid)
  await moveWindow(deps, settlement, { sweptUntil: paid.sweptUntil })

  expect(await fileOf(withoutSleep(deps))).toMatchObject({ rows: [], leftOut: REFUSED })
})

it.each([
  ['before it', 'sweptFrom'],
  ['after it', 'sweptUntil'],
] as const)('a re-credit that was moved over the paid one %s is not paid out', async (_, end) => {
  const deps = memoryDeps()
  const { client, settlement: first } = await aSettledClient(deps)
  const second = await settledAmount(deps, client, 100_000)
  const [paid, failed] = end === 'sweptFrom' ? [first, second] : [second, first]
  await payOut(deps, paid)
  await auditedNow(deps, failed)
  await fail(deps, failed)
  await recredit(deps, failed)
  deps.clock.advance(60)
  const { settlementId } = await sweptNow(deps, client)
  deps.clock.advance(61)
  await moveWindow(deps, failed, { [end]: paid[end] })

  const payout = { settlementId, operator: OPERATOR, bankReference: 'BCA17' }
  const overlap = expect.stringContaining('settlement.swept_from') as unknown
  await expect(markSettlementPaid(withoutSleep(deps), payout)).rejects.toMatchObject({
    details: { fieldErrors: { differences: expect.arrayContaining([overlap]) as unknown } },
  })
})
