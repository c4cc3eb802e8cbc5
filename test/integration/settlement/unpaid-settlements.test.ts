import { expect, it } from 'vitest'
import { handler as auditClients } from '../../../functions/schedule/audit-clients.ts'
import { addMs, DAY_MS, type Timestamp } from '../../../shared/time.ts'
import { lambdaContext } from '../../support/operator-actions.ts'
import { settled } from '../../support/payout-builders.ts'
import { fail, withFloor } from '../../support/settlement-builders.ts'
import { depsWithOwnTable } from '../../support/test-deps.ts'

it('settlements that wait three days for their payout are told, in one alert a day until none does', async () => {
  const deps = await depsWithOwnTable()
  const client = await withFloor(deps)
  const first = await settled(deps, client, 100_000)
  const second = await settled(deps, client, 200_000)
  const daily = async (at: Timestamp) => {
    deps.clock.set(at)
    deps.published.length = 0
    await auditClients.withDeps(deps)({}, lambdaContext('audit-clients'))
    return deps.published.map(({ kind, subject, message }) => [kind, subject, message])
  }
  const told = (text: string): unknown => expect.stringContaining(text)

  expect(await daily(addMs(first.createdAt, 3 * DAY_MS - 1))).toStrictEqual([])
  expect(await daily(addMs(first.createdAt, 3 * DAY_MS))).toStrictEqual([
    ['settlement.unpaid', first.settlementId, told(`1 settlements were recorded three days ago`)],
  ])
  expect(await daily(addMs(second.createdAt, 3 * DAY_MS))).toStrictEqual([
    ['settlement.unpaid', first.settlementId, told(`${first.settlementId}, ${second.settlementId}.`)],
  ])
  await fail(deps, first)
  await fail(deps, second)
  expect(await daily(addMs(second.createdAt, 4 * DAY_MS))).toStrictEqual([])
})
