/**
 * Goal: the findings of a payout are counted in bounded memory, however many refunds its client
 * ever had. Method: the register of suspense has several pages of booked movements, and a finding
 * on the first and on the last page.
 */
import { expect, it } from 'vitest'
import { countFindings } from '../../../shared/payout/count-findings.ts'
import { finding, movedMoney } from '../../../shared/suspense/record-suspense.ts'
import { noteSuspense } from '../../../shared/suspense/suspense-store.ts'
import { aRefund } from '../../support/money-rows.ts'
import { anOpenPayment, post } from '../../support/paid-builders.ts'
import { sweptADayLater, withoutFloor } from '../../support/settlement-builders.ts'
import { memoryDeps, recordTable } from '../../support/test-deps.ts'

const MOVEMENTS = 2_500

it('each page of the register is counted before the next page is read', async () => {
  const made = memoryDeps()
  const client = await withoutFloor(made)
  const payment = await anOpenPayment(made, client)
  await post(made, payment)
  const settlement = await sweptADayLater(made, client)
  const now = made.now()
  for (let at = 0; at < MOVEMENTS; at++) {
    const refunded = { paymentId: crypto.randomUUID(), clientId: client.clientId }
    const row = { ...aRefund(made, 1_000), transactionId: `txn-${at}` }
    await made.table.write(noteSuspense(movedMoney(refunded, row, row.amountMinor, now)))
  }
  for (const subject of ['first', 'txn-999999'])
    await made.table.write(noteSuspense(finding({ subject, cause: 'fee_changed', payment, now })))
  const { deps, calls } = recordTable(made)

  expect(await countFindings(deps, settlement)).toBe(2)

  expect(calls.map(({ name }) => name)).toStrictEqual(['query', 'get', 'query', 'query', 'get'])
})
