import { expect, it } from 'vitest'
import { ZERO } from '../../../shared/money.ts'
import { anApi } from '../../support/api-event.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { sweptADayLater } from '../../support/settlement-builders.ts'

it('GET /v1/balance (spec 4.5) shows zeros, then what is pending, then what is in a settlement, and when the balance changed', async () => {
  const { deps, caller, ask } = await anApi({ settlementFloorMinor: ZERO })

  const before = await ask('getBalance')
  await aSucceededPayment(deps, caller)
  const paidAt = deps.now()
  const paid = await ask('getBalance')
  const { createdAt } = await sweptADayLater(deps, caller)
  const settled = await ask('getBalance', { query: { include: 'settlements' } })

  const zeros = {
    client_id: caller.clientId,
    currency: 'IDR',
    available_minor: 0,
    pending_minor: 0,
  }
  expect(before.body).toStrictEqual({ ...zeros, updated_at: null })
  expect(paid.body).toStrictEqual({ ...zeros, pending_minor: 95_900, updated_at: paidAt })
  const settlements = { in_settlement_minor: 95_900, paid_out_minor: 0 }
  expect(settled.body).toStrictEqual({ ...zeros, ...settlements, updated_at: createdAt })
})
