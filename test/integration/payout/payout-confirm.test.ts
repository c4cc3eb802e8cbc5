/**
 * Goal: an operator pays a settlement out only after confirming each figure that a person must
 * check.
 */
import { describe, expect } from 'vitest'
import { handler as acceptDifference } from '../../../functions/admin/accept-difference.ts'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { minor } from '../../../shared/money.ts'
import { figuresToConfirm } from '../../../shared/payout/mark-settlement-paid.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { toOperatorSettlement } from '../../../shared/settlement/settlement-dto.ts'
import { finding, heldMoney } from '../../../shared/suspense/record-suspense.ts'
import { writeSuspense } from '../../../shared/suspense/suspense-store.ts'
import { settlementKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, timestampOf } from '../../../shared/time.ts'
import { aChargeback } from '../../support/money-rows.ts'
import { auditRecordsOf, invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aDayLater,
  auditedNow,
  BANK,
  settledAmount,
  settlementsOf,
  sweptNow,
  withoutFloor,
  withoutSleep,
} from '../../support/settlement-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { beforeFirst, memoryDeps } from '../../support/test-deps.ts'
import { anAssumedPayment, anAuditedSettlement, auditedTest as it } from './recorded-settlement.ts'

describe('a bank reference', () => {
  it('pays out one settlement: a second use is a conflict', async ({
    deps,
    client,
    settlement,
    pay,
  }) => {
    await pay()
    const second = await settledAmount(deps, client, 100_000)
    await auditedNow(deps, second)

    const reusedReference = await pay({
      settlement_id: second.settlementId,
      bank_reference: ' BCA 17 ',
    })
    // A fault of another settlement does not stop this payout before an audit has found the fault.
    const row = await rawItem(deps, settlementKey(settlement.settlementId))
    await putRaw(deps, { ...row, swept_from: addMs(settlement.sweptFrom, 1) })
    const ownReference = await pay({ settlement_id: second.settlementId, bank_reference: 'BCA 18' })

    await putRaw(deps, row)
    expect(reusedReference).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(ownReference).toMatchObject({ status: 200, body: { status: 'manual_paid' } })
    expect(await settlementsOf(deps, client)).toMatchObject([
      { bankReference: 'BCA 18' },
      { bankReference: 'BCA 17' },
    ])
    await expectBalanced(deps, client.clientId)
  })

  it('of two concurrent calls is refused as paid, not for its reference', async ({ deps, pay }) => {
    const raced = beforeFirst(deps, 'transact', () => pay())

    const body = { message: 'settlement cannot be closed in status=manual_paid' }
    expect(await pay({}, raced)).toMatchObject({ status: 422, body })
  })

  it.for([undefined, '', ' ', 'x'.repeat(101), 'a\nb'])(
    'must be readable: %j',
    async (text, { pay, status }) => {
      const refusal = { status: 422, body: { field_errors: expect.any(Object) } }
      expect(await pay({ bank_reference: text })).toMatchObject(refusal)
      expect(await status()).toBe('recorded')
    },
  )
})

describe('an operator must confirm', () => {
  const DAY_BEFORE = timestampOf(Date.UTC(2026, 10, 20, 3))

  it('the exact amount that no settled row proves', async () => {
    const { deps, settlement, pay } = await anAuditedSettlement({ bank: BANK }, anAssumedPayment)

    const confirm = { unproven: 95_900 }
    const text = expect.any(String) as unknown
    for (const givenConfirm of [undefined, { unproven: 95_899 }, { ...confirm, findings: 1 }]) {
      const { body } = await pay({ confirm: givenConfirm })
      expect(body).toStrictEqual({ message: text, code: 'validation', action_hint: text, confirm })
    }
    expect(await pay({ confirm: { ...confirm, new_bank: null, owed: null } })).toMatchObject({
      status: 200,
    })
    const record = (await auditRecordsOf(deps, settlement.settlementId)).at(-1)
    expect(record).toMatchObject({
      action: 'mark-settlement-paid',
      after: { bank_reference: 'BCA 17', confirm },
    })
  })

  it('bank details that replaced others less than 72 hours ago', async () => {
    const { deps, client, settlement, pay } = await anAuditedSettlement({
      bank: { ...BANK, isChange: true, since: DAY_BEFORE },
    })

    const refusal = await pay()

    const until = addMs(DAY_BEFORE, 3 * DAY_MS)
    expect(toOperatorSettlement(settlement, addMs(until, -1)).warning).toContain(until)
    expect(toOperatorSettlement(settlement, until).warning).toBeNull()
    expect(refusal).toMatchObject({ status: 422, body: { confirm: { new_bank: true } } })
    expect(await pay({ confirm: { new_bank: true } })).toMatchObject({ status: 200 })
    await expectBalanced(deps, client.clientId)
  })

  it('the debt of the client, and open findings about its payments', async ({
    deps,
    client,
    payment,
    pay,
  }) => {
    await movePayment(deps, payment, aChargeback(deps, 100_000))
    for (const cause of ['amount_differs', 'fee_assumed'] as const) {
      const subjectFields = {
        subject: payment.paymentId,
        payment: await paymentOf(deps, { payment }),
        now: deps.now(),
      }
      await writeSuspense(deps, finding({ cause, ...subjectFields }))
    }

    const confirm = { owed: 95_900, findings: 1 }
    for (const givenConfirm of [undefined, { owed: 95_900 }]) {
      expect(await pay({ confirm: givenConfirm })).toMatchObject({ status: 422, body: { confirm } })
    }
    expect(await pay({ confirm })).toMatchObject({ status: 200 })
    await expectBalanced(deps, client.clientId)
  })

  it('findings of payments in the window of the settlement, to the millisecond', async () => {
    const deps = memoryDeps()
    const [client, other] = [await withoutFloor(deps), await withoutFloor(deps)]
    const now = deps.now()
    const lastPayment = await aSucceededPayment(deps, client, { paidAt: addMs(now, 1) })
    for (const payment of [
      await aSucceededPayment(deps, client),
      await aSucceededPayment(deps, other),
      lastPayment,
    ]) {
      await writeSuspense(
        deps,
        finding({ cause: 'amount_differs', subject: payment.paymentId, payment, now }),
      )
    }
    const capture = { providerPaymentId: 'py-2', capturedMinor: minor(100_000) }
    await writeSuspense(
      deps,
      heldMoney({ capture, cause: 'second_capture', payment: lastPayment, now }),
    )
    aDayLater(deps)

    for (let window = 0; window < 2; window++) {
      expect(await figuresToConfirm(deps, await sweptNow(deps, client))).toStrictEqual({
        findings: 1,
      })
      deps.clock.advance(1)
    }
  })

  it('no figure that the 422 does not show', async ({ pay, status }) => {
    const halfRefusal = { field_errors: { 'confirm.owed': ['must be an integer'] } }
    expect(await pay({ confirm: { owed: 0.5 } })).toMatchObject({ status: 422, body: halfRefusal })
    const unshownRefusal = {
      field_errors: { confirm: [expect.stringContaining('owed') as unknown] },
    }
    expect(await pay({ confirm: { owed: 1 } })).toMatchObject({ status: 422, body: unshownRefusal })
    expect(await status()).toBe('recorded')
    expect(await pay({ confirm: {} })).toMatchObject({ status: 200 })
  })
})

it('an accepted difference of the settlement stops no payout', async ({
  deps,
  client,
  settlement,
  pay,
}) => {
  await putRaw(deps, {
    ...(await rawItem(deps, settlementKey(settlement.settlementId))),
    gross_minor: 100_001,
  })
  expect(await pay()).toMatchObject({ status: 422 })
  const acceptance = { operator: OPERATOR, client_id: client.clientId, notes: 'a torn row' }

  const { differences } = await auditLedger(withoutSleep(deps), client.clientId)
  for (const difference of differences)
    await invokeAdmin(acceptDifference, deps, { ...acceptance, ...difference })

  expect(await pay()).toMatchObject({ status: 200 })
})
