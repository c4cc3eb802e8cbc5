import { expect, it } from 'vitest'
import { auditClient } from '../../../shared/audit/run-audits.ts'
import { less, minor, ZERO } from '../../../shared/money.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { aDayLater, BANK, payOut, sweptNow, withFloor } from '../../support/settlement-builders.ts'

it('a client that owes is told after a week, once a week, and no longer once new payments cover it', async () => {
  const deps = memoryDeps()
  const client = await withFloor(deps, 0, { bank: BANK })
  const payment = await aSucceededPayment(deps, client)
  aDayLater(deps)
  await payOut(deps, await sweptNow(deps, client))
  await movePayment(deps, payment, {
    type: 'refund',
    kind: 'refund',
    transactionId: 'txn-r',
    amountMinor: minor(100_000),
    providerMinor: less(ZERO, minor(100_000)),
    at: deps.now(),
  })
  deps.published.length = 0
  const daysTold: number[] = []
  const aDay = async (day: number) => {
    deps.published.length = 0
    await auditClient(deps, client.clientId)
    if (deps.published.some(({ kind }) => kind === 'client.owes')) daysTold.push(day)
    aDayLater(deps)
  }

  for (let day = 0; day < 20; day++) await aDay(day)
  await aSucceededPayment(deps, client)
  for (let day = 20; day < 30; day++) await aDay(day)

  expect(daysTold).toStrictEqual([7, 14])
  await expectBalanced(deps, client.clientId)
})
