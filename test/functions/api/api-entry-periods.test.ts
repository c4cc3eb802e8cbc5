import * as v from 'valibot'
import { expect, it } from 'vitest'
import { ZERO } from '../../../shared/money.ts'
import type { SettlementDto } from '../../../shared/settlement/settlement-dto-schema.ts'
import type { EntryDto } from '../../../shared/settlement/statement/entry-dto-schema.ts'
import { addMs, DAY_MS, TimestampSchema } from '../../../shared/time.ts'
import { anApi } from '../../support/api-event.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import { anOpenPayment, aSucceededPayment, postAssumed } from '../../support/paid-builders.ts'
import { sweptADayLater } from '../../support/settlement-builders.ts'

it('a row’s eligible_at less 24 hours lies in the period of its settlement alone, and is the paid_at of a payment that was posted within a day', async () => {
  const { deps, caller, ask } = await anApi({ settlementFloorMinor: ZERO })
  const paidLong = await anOpenPayment(deps, caller)
  const paid = await aSucceededPayment(deps, caller)
  await sweptADayLater(deps, caller)
  await postAssumed(deps, paidLong)
  deps.clock.advance(1)
  await adjustBalance(deps, caller, 'recovered', 10_000)
  await sweptADayLater(deps, caller)
  await aSucceededPayment(deps, caller)

  const rows = (await ask('listBalanceEntries')).body['data'] as readonly EntryDto[]
  const settlements = (await ask('listSettlements')).body['data']

  const periods = settlements as readonly SettlementDto[]
  expect(periods).toHaveLength(2)
  const dayBefore = ({ eligible_at: at }: EntryDto) => addMs(v.parse(TimestampSchema, at), -DAY_MS)
  const settlementsOf = (row: EntryDto) =>
    periods.flatMap(({ id, period_start: start, period_end: end }) =>
      start <= dayBefore(row) && dayBefore(row) < end ? [id] : [],
    )
  expect(rows.map(({ settlement_id: id }) => [id].filter((known) => known !== null))).toStrictEqual(
    rows.map(settlementsOf),
  )
  expect(rows.map(({ type, settlement_id: id }) => [type, id !== null])).toStrictEqual([
    ['payment', true],
    ['payment', true],
    ['recovered', true],
    ['payment', false],
  ])
  const row = rows.find(({ payment_id: id }) => id === paid.paymentId)
  expect(row && dayBefore(row)).toBe(paid.paidAt)
})
