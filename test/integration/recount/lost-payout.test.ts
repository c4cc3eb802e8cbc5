import { expect } from 'vitest'
import { readWindow } from '../../../shared/ledger/window-store.ts'
import { windowKey } from '../../../shared/table/keys.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { payOut, sweptADayLater } from '../../support/settlement-builders.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { clientTest as it } from '../settlement/client-test.ts'
import { recount } from './torn-world.ts'

it('recount-ledger counts a payout that the window has lost, at the time of the payout', async ({
  deps,
  client,
}) => {
  await aSucceededPayment(deps, client)
  const settlement = await sweptADayLater(deps, client)
  const lostWindow = await rawItem(deps, windowKey(client.clientId))
  const { settledAt } = await payOut(deps, settlement)
  const windowAfter = await readWindow(deps, client.clientId)
  await putRaw(deps, lostWindow)

  await recount(deps, client)

  expect(await readWindow(deps, client.clientId)).toStrictEqual(windowAfter)
  expect(windowAfter).toMatchObject({ paidOutMinor: settlement.netMinor, changedAt: settledAt })
})
