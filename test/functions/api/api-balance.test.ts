import { expect, it } from 'vitest'
import { ZERO } from '../../../shared/money.ts'
import { anApi } from '../../support/api-event.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { BANK, payOut, sweptADayLater } from '../../support/settlement-builders.ts'

it('GET /v1/balance (spec 4.5) shows zeros, then what is pending, then what is in a settlement, what is paid out, and when a figure last changed', async () => {
  const { deps, caller, ask } = await anApi({ settlementFloorMinor: ZERO, bank: BANK })

  const before = await ask('getBalance')
  await aSucceededPayment(deps, caller)
  const paidAt = deps.now()
  const paid = await ask('getBalance')
  const settlement = await sweptADayLater(deps, caller)
  const settled = await ask('getBalance', { query: { include: 'settlements' } })
  const { settledAt } = await payOut(deps, settlement)
  const paidOut = await ask('getBalance', { query: { include: 'settlements' } })

  const zeros = {
    client_id: caller.clientId,
    currency: 'IDR',
    available_minor: 0,
    pending_minor: 0,
  }
  expect(before.body).toStrictEqual({ ...zeros, updated_at: null })
  expect(paid.body).toStrictEqual({ ...zeros, pending_minor: 95_900, updated_at: paidAt })
  const inSettlement = { in_settlement_minor: 95_900, paid_out_minor: 0 }
  const { createdAt } = settlement
  expect(settled.body).toStrictEqual({ ...zeros, ...inSettlement, updated_at: createdAt })
  const afterPayout = { in_settlement_minor: 0, paid_out_minor: 95_900 }
  expect(paidOut.body).toStrictEqual({ ...zeros, ...afterPayout, updated_at: settledAt })
})
