import { describe, expect, it } from 'vitest'
import { handler as markFailed } from '../../../functions/admin/mark-settlement-failed.ts'
import { handler as markPaid } from '../../../functions/admin/mark-settlement-paid.ts'
import { handler as recredit } from '../../../functions/admin/recredit-settlement.ts'
import { changeClient } from '../../../shared/client/client-store.ts'
import type { AdminHandler } from '../../../shared/runtime/admin-handler.ts'
import { addMs, HOUR_MS } from '../../../shared/time.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { auditRecordsOf, invokeAdmin, OPERATOR, refusedWith, shownSettlement } from '../../support/operator-actions.ts'
import { settled } from '../../support/payout-builders.ts'
import { aSettledClient, BANK, withFloor } from '../../support/settlement-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

describe('mark-settlement-paid, mark-settlement-failed and recredit-settlement', () => {
  it('pay out, fail and recredit a settlement, each answering it as it is then', async () => {
    const deps = testDeps()
    const { client, settlement } = await aSettledClient(deps)
    const { settlement: other } = await aSettledClient(deps)
    const input = { operator: OPERATOR, settlement_id: settlement.settlementId, notes: '  account closed ' }
    deps.clock.advance(60)

    const failed = await invokeAdmin(markFailed, deps, input)
    const recredited = await invokeAdmin(recredit, deps, { ...input, notes: 'new account' })
    const paid = await invokeAdmin(markPaid, deps, {
      operator: OPERATOR,
      settlement_id: other.settlementId,
      confirm_unfunded: true,
    })

    const notes = 'account closed'
    expect(failed).toStrictEqual({ status: 200, body: shownSettlement(settlement, { status: 'failed', notes }) })
    expect(recredited).toStrictEqual({
      status: 200,
      body: shownSettlement(settlement, { status: 'failed', notes, recredited_at: deps.now() }),
    })
    expect(paid).toStrictEqual({
      status: 200,
      body: shownSettlement(other, { status: 'manual_paid', settled_at: deps.now() }),
    })
    const trail = await auditRecordsOf(deps, settlement.settlementId)
    expect(trail.toSorted((a, b) => (String(a.action) < String(b.action) ? -1 : 1))).toStrictEqual([
      {
        operator: OPERATOR,
        action: 'mark-settlement-failed',
        before: { status: 'recorded', settled_at: null, recredited_at: null },
        after: { status: 'failed', settled_at: null, recredited_at: null, notes },
      },
      {
        operator: OPERATOR,
        action: 'recredit-settlement',
        before: { status: 'failed', settled_at: null, recredited_at: null },
        after: { status: 'failed', settled_at: null, recredited_at: deps.now(), notes: 'new account' },
      },
    ])
    await expectBalanced(deps, client.clientId)
  })

  it('refuse a wrong state with a hint', async () => {
    const deps = testDeps()
    const { settlement } = await aSettledClient(deps)
    const input = { operator: OPERATOR, settlement_id: settlement.settlementId, notes: 'x' }

    expect(await invokeAdmin(recredit, deps, input)).toStrictEqual(
      refusedWith('settlement cannot be recredited in status=recorded', {
        action_hint: 'Only a failed settlement can be recredited: mark-settlement-failed first.',
      }),
    )
    await invokeAdmin(markFailed, deps, input)
    const hint = 'It has failed, which is final; recredit-settlement puts its funds back to available.'
    for (const [handler, action] of [
      [markPaid, 'marked paid'],
      [markFailed, 'marked failed'],
    ] as const) {
      expect(await invokeAdmin(handler, deps, input)).toStrictEqual(
        refusedWith(`settlement cannot be ${action} in status=failed`, { action_hint: hint }),
      )
    }
    await invokeAdmin(recredit, deps, input)
    expect(await invokeAdmin(recredit, deps, input)).toStrictEqual(
      refusedWith('settlement was recredited already', {
        action_hint: 'Its funds are in available until the next settlement.',
      }),
    )
  })

  it.each([
    ['recorded', []],
    ['paid out', [markPaid]],
    ['failed', [markFailed]],
    ['recredited', [markFailed, recredit]],
  ])('name in the hint about a %s one no step that will be refused', async (_, history) => {
    const deps = testDeps()
    const { settlement } = await aSettledClient(deps)
    const input = (handler: AdminHandler) => ({
      operator: OPERATOR,
      settlement_id: settlement.settlementId,
      notes: 'x',
      ...(handler === markPaid && { confirm_unfunded: true }),
    })
    for (const handler of history) await invokeAdmin(handler, deps, input(handler))
    const byName = {
      'mark-settlement-paid': markPaid,
      'mark-settlement-failed': markFailed,
      'recredit-settlement': recredit,
    }

    for (const handler of history.length === 0 ? [recredit] : [markPaid, markFailed, recredit]) {
      const copy = await invokeAdmin(handler, deps, input(handler))
      if (copy.status === 200) continue
      const { action_hint: hint = '' } = copy.body as { readonly action_hint?: string }
      const named = Object.entries(byName).filter(([name]) => hint.includes(name))
      for (const [, next] of named) expect(await invokeAdmin(next, deps, input(next))).toMatchObject({ status: 200 })
    }
  })
})

describe('mark-settlement-paid to an account that replaced another (design section 11)', () => {
  const OTHER = { bankName: 'BNI', bankAccountNo: '99887766', bankAccountName: 'PT Lain' }

  /** A settlement recorded some hours behind a change of its client's account, and how it is asked to be paid. */
  const settledBehindChange = async (hours: number, change: readonly (typeof OTHER | null)[] = [OTHER]) => {
    const deps = testDeps()
    const client = await withFloor(deps, 0, { bank: BANK })
    for (const bank of change) {
      await changeClient(deps, { clientId: client.clientId, operator: 'ana', changes: { bank } })
    }
    const since = deps.now()
    const settlement = await settled(deps, client, 100_000)
    deps.clock.set(addMs(since, hours * HOUR_MS))
    const pay = (fields: object = {}) =>
      invokeAdmin(markPaid, deps, {
        operator: OPERATOR,
        settlement_id: settlement.settlementId,
        confirm_unfunded: true,
        ...fields,
      })
    return { deps, since, settlement, pay }
  }

  it('is refused while the account is younger than 72 hours, until that is confirmed', async () => {
    const { deps, since, settlement, pay } = await settledBehindChange(71)

    expect(await pay()).toMatchObject({
      status: 422,
      body: { field_errors: { confirm_new_bank: [expect.any(String)] }, action_hint: expect.any(String) as unknown },
    })
    expect(await auditRecordsOf(deps, settlement.settlementId)).toStrictEqual([])
    expect(await pay({ confirm_new_bank: true })).toMatchObject({
      status: 200,
      body: { status: 'manual_paid', bank_account_no: OTHER.bankAccountNo, bank_since: since },
    })
    expect(await auditRecordsOf(deps, settlement.settlementId)).toMatchObject([{ after: { confirm_new_bank: true } }])
  })

  it('is not, from the 72nd hour on', async () => {
    const { pay } = await settledBehindChange(72)

    expect(await pay()).toMatchObject({ status: 200 })
  })

  it('is refused too where the old account was taken out first', async () => {
    const { pay } = await settledBehindChange(48, [null, OTHER])

    expect(await pay()).toMatchObject({ status: 422 })
  })

  it('is not to an account given first, however young', async () => {
    const deps = testDeps()
    const client = await withFloor(deps, 0)
    await changeClient(deps, { clientId: client.clientId, operator: 'ana', changes: { bank: OTHER } })
    const settlement = await settled(deps, client, 100_000)
    const input = { operator: OPERATOR, settlement_id: settlement.settlementId, confirm_unfunded: true }

    expect(await invokeAdmin(markPaid, deps, input)).toMatchObject({ status: 200 })
  })
})
