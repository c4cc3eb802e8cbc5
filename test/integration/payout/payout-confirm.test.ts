/**
 * Goal: an operator pays a settlement out only with another person's approval of each
 * figure that must be checked.
 */
import { describe, expect } from 'vitest'
import { changeClient } from '../../../shared/client/client-store.ts'
import { payoutFigures } from '../../../shared/payout/payout-figures.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { resolveSuspense } from '../../../shared/posting/resolve-suspense.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { toOperatorSettlement } from '../../../shared/settlement/settlement-dto.ts'
import { writeSuspense } from '../../../shared/suspense/suspense-store.ts'
import { settlementKey } from '../../../shared/table/keys.ts'
import { addMs, timestampOf } from '../../../shared/time.ts'
import { aLonePayout, answerPaid, fileOf } from '../../support/batch-builders.ts'
import { aChargeback, adjustBalance, aFinding, someHeldMoney } from '../../support/money-rows.ts'
import { auditRecordsOf, invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import { anAssumedPayment, aSucceededPayment } from '../../support/paid-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aDayLater,
  auditedNow,
  BANK,
  bringBack,
  settledAmount,
  settlementsOf,
  sweptNow,
  withoutFloor,
} from '../../support/settlement-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { beforeCommit, interceptTable, memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { APPROVER, approvePayout } from '../../support/with-approval.ts'
import { anAuditedSettlement, auditedTest as it } from './recorded-settlement.ts'

describe('a bank reference', () => {
  it('pays out one settlement: a second use is a conflict', async ({
    deps,
    client,
    settlement,
    pay,
  }) => {
    await pay()
    const second = await settledAmount(deps, client)
    await auditedNow(deps, second)

    const reusedReference = await pay({
      settlement_id: second.settlementId,
      bank_reference: ' BCA17 ',
    })
    // A fault of another settlement does not stop this payout before an audit has found the fault.
    const row = await rawItem(deps, settlementKey(settlement.settlementId))
    await putRaw(deps, { ...row, swept_from: addMs(settlement.sweptFrom, 1) })
    const ownReference = await pay({ settlement_id: second.settlementId, bank_reference: '18E17' })

    await putRaw(deps, row)
    expect(reusedReference).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(ownReference).toMatchObject({ status: 200, body: { status: 'manual_paid' } })
    expect(await settlementsOf(deps, client)).toMatchObject([
      { bankReference: '18E17' },
      { bankReference: 'BCA17' },
    ])
    await expectBalanced(deps, client)
  })

  it('of two concurrent calls is refused as paid, not for its reference', async ({ deps, pay }) => {
    const raced = beforeCommit(deps, () => pay())

    const body = { message: 'settlement cannot be closed in status=manual_paid' }
    expect(await pay({}, raced)).toMatchObject({ status: 422, body })
  })

  it.for([undefined, ' ', 'x'.repeat(101), 'a\nb', '2.02611E+15'])(
    'must be readable: %j',
    async (text, { pay, status }) => {
      expect(await pay({ bank_reference: text })).toMatchObject({
        status: 422,
        body: { field_errors: expect.any(Object) },
      })
      expect(await status()).toBe('recorded')
    },
  )
})

describe('a payout needs an approval of', () => {
  const DAY_BEFORE = timestampOf(Date.UTC(2026, 10, 20, 3))

  it('the amount that no settled row proves, of which list-settlements warns, and more is approved too', async () => {
    const { deps, settlement, pay } = await anAuditedSettlement({}, anAssumedPayment)
    const confirm = { unproven: 95_900 }
    const text = expect.any(String)

    const others: (Record<string, number> | undefined)[] = [
      undefined,
      { unproven: 95_899 },
      { findings: 1 },
    ]
    for (const figures of others) {
      if (figures) await approvePayout(deps, settlement, figures)
      const { body } = await pay()
      expect(body).toStrictEqual({ message: text, code: 'validation', action_hint: text, confirm })
    }
    expect(await listedWarning(deps, settlement)).toBe('needs an approval of {"unproven":95900}')
    await approvePayout(deps, settlement, { unproven: 95_901 })

    expect(await listedWarning(deps, settlement)).toBeNull()
    expect(await pay()).toMatchObject({ status: 200 })
    const record = (await auditRecordsOf(deps, settlement.settlementId)).at(-1)
    expect(record).toMatchObject({
      action: 'mark-settlement-paid',
      after: {
        bank_reference: 'BCA17',
        figures: confirm,
        // The third approval of the settlement within one millisecond.
        approved: { operator: APPROVER, at: addMs(deps.now(), 2) },
      },
    })
  })

  it('an account that was never paid, until a payout to it stands', async () => {
    const { deps, client, settlement, pay } = await anAuditedSettlement({
      bank: { ...BANK, isChange: true, since: DAY_BEFORE },
    })
    const new_bank = `${BANK.bankName} ${BANK.bankAccountNo}`

    expect(toOperatorSettlement(settlement).warning).toContain('new_bank')
    expect(await pay()).toMatchObject({ status: 422, body: { confirm: { new_bank } } })
    await approvePayout(deps, settlement, { new_bank: 'BCA 1' })
    const message = expect.stringContaining('names other figures')
    expect(await pay()).toMatchObject({ status: 422, body: { message } })
    await approvePayout(deps, settlement, { new_bank })
    expect(await pay()).toMatchObject({ status: 200 })
    const next = await settledAmount(deps, client)
    expect(await payoutFigures(deps, next)).toStrictEqual({})
    expect(await listedWarning(deps, next)).toBeNull()
    // A row that is unreadable, or another client's, proves no account.
    const row = await rawItem(deps, settlementKey(settlement.settlementId))
    for (const change of [{ net_minor: 'x' }, { client_id: crypto.randomUUID() }]) {
      await putRaw(deps, { ...row, ...change })
      expect(await payoutFigures(deps, next)).toStrictEqual({ new_bank })
    }
    await putRaw(deps, row)
    await bringBack(deps, settlement)
    expect(await payoutFigures(deps, next)).toStrictEqual({ new_bank })
    expect(await listedWarning(deps, next)).toBe(`needs an approval of {"new_bank":"${new_bank}"}`)
    await expectBalanced(deps, client)
  })

  it('no account of before the first credit', async ({ deps, client }) => {
    const figures = []
    for (const bankAccountNo of ['7777777777', BANK.bankAccountNo]) {
      await changeClient(deps, {
        clientId: client.clientId,
        operator: OPERATOR,
        changes: { bank: { ...BANK, bankAccountNo } },
      })
      figures.push(await payoutFigures(deps, await settledAmount(deps, client)))
    }

    expect(figures).toStrictEqual([{ new_bank: 'BCA 7777777777' }, {}])
  })

  it('the debt of the client, and findings about its payments, explained ones too', async ({
    deps,
    client,
    payment,
    settlement,
    pay,
  }) => {
    await movePayment(deps, payment, aChargeback(deps, 100_000))
    const about = { subject: payment.paymentId, payment: await paymentOf(deps, { payment }) }
    await aFinding(deps, {
      cause: 'statement_differs',
      payment: { paymentId: undefined, clientId: client.clientId },
    })
    const { suspenseId } = await aFinding(deps, { cause: 'amount_differs', ...about })
    await resolveSuspense(deps, { suspenseId, operator: OPERATOR, resolution: 'explained' })

    const confirm = { owed: 95_900, findings: 1 }
    expect(await pay()).toMatchObject({ status: 422, body: { confirm } })
    await approvePayout(deps, settlement, { owed: 95_900 })
    expect(await pay()).toMatchObject({ status: 422, body: { confirm } })
    await approvePayout(deps, settlement, confirm)
    expect(await pay()).toMatchObject({ status: 200 })
    await expectBalanced(deps, client)
  })

  it.for<[string, number, typeof answerPaid?]>([
    ['', 200],
    [', by the next call if the process died', 500],
    [', by the bank’s answer', 500, answerPaid],
  ])(
    'less than what was found after the commit is told%s',
    async ([, died, answer], { deps, payment, settlement, pay }) => {
      const raced = interceptTable(deps, {
        before: async ({ name }) => {
          if (name !== 'transact') return
          if (died === 200) await movePayment(deps, payment, aChargeback(deps, 100_000))
          else await aFinding(deps, { subject: payment.paymentId, payment })
        },
        after: ({ name }) => {
          if (name === 'transact' && died === 500) throw new Error('killed')
        },
      })

      expect(await pay({}, raced)).toMatchObject({ status: died })
      if (answer) await answer(deps, settlement)
      else if (died === 500) expect(await pay()).toMatchObject({ status: 422 })

      const paid = expect.stringMatching(
        /was marked paid, and by now its figures are.*list-suspense\.$/,
      )
      expect(deps.published.filter(({ kind }) => kind === 'payout.changed')).toMatchObject([
        { subject: settlement.settlementId, message: paid },
      ])
    },
  )

  it.each([undefined, fileOf])(
    'no growth is told of a payout whose approval is given again, or that came back %#',
    async (claim) => {
      const { deps, ...settlement } = await aLonePayout()
      await adjustBalance(deps, settlement, 'correction', -200_000)
      for (const act of [answerPaid, answerPaid, bringBack, answerPaid]) {
        await approvePayout(deps, settlement, { owed: 200_000 })
        await claim?.(deps)
        await act(deps, settlement)
      }

      expect(deps.published).toStrictEqual([])
    },
  )

  it('findings of payments in the window of the settlement, to the millisecond', async () => {
    const deps = memoryDeps()
    const [client, other] = [await withoutFloor(deps), await withoutFloor(deps)]
    const lastPayment = await aSucceededPayment(deps, client, { paidAt: addMs(deps.now(), 1) })
    for (const payment of [
      await aSucceededPayment(deps, client),
      await aSucceededPayment(deps, other),
      lastPayment,
    ]) {
      await aFinding(deps, { cause: 'amount_differs', subject: payment.paymentId, payment })
    }
    const about = { cause: 'second_capture', payment: lastPayment } as const
    await writeSuspense(deps, someHeldMoney(deps, 'py-2', 100_000, about))
    aDayLater(deps)

    for (let window = 0; window < 2; window++) {
      expect(await payoutFigures(deps, await sweptNow(deps, client))).toStrictEqual({ findings: 1 })
      deps.clock.advance(1)
    }
  })
})

/** In the list of what is to be paid out. */
async function listedWarning(deps: TestDeps, { settlementId }: Settlement) {
  const { body } = await invokeAdmin('list-settlements', deps, { status: 'recorded' })
  const { data } = body as { data: readonly { id: string; warning: string | null }[] }
  return data.find(({ id }) => id === settlementId)?.warning
}
