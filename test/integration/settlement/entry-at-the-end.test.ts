import { expect, it } from 'vitest'
import { balanceEntries } from '../../../shared/settlement/statement/settlement-entries.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { storePosted, succeededPayment } from '../../support/paid-builders.ts'
import { aLoneClient, sweptADayLater, sweptNow } from '../../support/settlement-builders.ts'

it('an entry that is eligible at the end of a settlement is in the next one', async () => {
  const { deps, client } = await aLoneClient()
  const paidAt = deps.now()
  const entries = async () =>
    (await balanceEntries(deps, { ...client, since: paidAt, limit: 10 })).entries
  await storePosted(
    deps,
    [paidAt, addMs(paidAt, 1)].map((at) => succeededPayment(client, { paidAt: at })),
  )
  deps.clock.set(addMs(paidAt, DAY_MS))
  const first = await sweptNow(deps, client)
  const [, open] = await entries()
  const next = await sweptADayLater(deps, client)

  expect(open).toMatchObject({ eligible_at: first.sweptUntil, settlement_id: null })
  expect((await entries()).map((row) => row.settlement_id)).toStrictEqual([
    first.settlementId,
    next.settlementId,
  ])
})
