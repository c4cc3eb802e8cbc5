import { describe, expect } from 'vitest'
import { getBalance } from '../../../shared/ledger/balance.ts'
import { listAuditRecords } from '../../../shared/operator/audit-record.ts'
import { noteProviderSettled } from '../../../shared/payment/fee/fee-store.ts'
import { findPaymentsByKey, findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { markSettlementPaid } from '../../../shared/settlement/close-settlement.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { sweepADayLater } from '../../support/payout-builders.ts'
import { aSettledClient, BY_OPERATOR, fail, payOut, recredit } from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest as it } from './client-test.ts'

const { operator, notes } = BY_OPERATOR

const payUnconfirmed = (deps: TestDeps, { settlementId }: Settlement) =>
  markSettlementPaid(deps, { settlementId, ...BY_OPERATOR, confirmUnfunded: false })

const ACTIONS = { 'mark-settlement-paid': payOut, 'mark-settlement-failed': fail, 'recredit-settlement': recredit }
type Action = keyof typeof ACTIONS

/** How a settlement gets into each state, from `recorded`. */
const STATES = {
  recorded: [],
  manual_paid: ['mark-settlement-paid'],
  failed: ['mark-settlement-failed'],
  'failed and recredited': ['mark-settlement-failed', 'recredit-settlement'],
} as const satisfies Readonly<Record<string, readonly Action[]>>
type State = keyof typeof STATES

const ALLOWED: Readonly<Record<State, readonly Action[]>> = {
  recorded: ['mark-settlement-paid', 'mark-settlement-failed'],
  manual_paid: [],
  failed: ['recredit-settlement'],
  'failed and recredited': [],
}

const REFUSED = (Object.keys(STATES) as State[]).flatMap((state) =>
  (Object.keys(ACTIONS) as Action[])
    .filter((action) => !ALLOWED[state].includes(action))
    .map((action) => [action, state] as const),
)

describe('closing a settlement (spec 3.2)', () => {
  it('as paid sets settled_at and the notes, once, with an audit record', async ({ deps, settlement }) => {
    const { settlementId } = settlement
    deps.clock.advance(90)

    await payOut(deps, settlement)

    const paid = { status: 'manual_paid', settledAt: deps.now(), notes }
    expect(await findAnySettlement(deps, settlementId)).toStrictEqual({ ...settlement, ...paid })
    expect(await listAuditRecords(deps, settlementId)).toStrictEqual([
      {
        subject: settlementId,
        operator,
        action: 'mark-settlement-paid',
        at: deps.now(),
        before: { status: 'recorded', settled_at: null, recredited_at: null },
        after: {
          status: 'manual_paid',
          settled_at: deps.now(),
          recredited_at: null,
          notes,
          confirm_unfunded: true,
        },
        number: 1,
      },
    ])
  })

  it('as failed keeps the cause, moves no funds, and no later run brings them back', async ({
    deps,
    client,
    settlement,
  }) => {
    const { settlementId } = settlement

    await fail(deps, settlement)
    for (let day = 0; day < 3; day++) expect(await sweepADayLater(deps, client)).toStrictEqual([])

    expect(await findAnySettlement(deps, settlementId)).toStrictEqual({ ...settlement, status: 'failed', notes })
    expect(await getBalance(deps, client.clientId)).toMatchObject({ availableMinor: 0, pendingMinor: 0 })
    expect(await listAuditRecords(deps, settlementId)).toMatchObject([
      { operator, action: 'mark-settlement-failed', after: { status: 'failed', notes } },
    ])
  })

  it.for(REFUSED)(
    'refuses %s in state %s with a hint, and changes nothing',
    async ([action, state], { deps, settlement }) => {
      for (const done of STATES[state]) await ACTIONS[done](deps, settlement)
      const before = await findAnySettlement(deps, settlement.settlementId)
      const trail = await listAuditRecords(deps, settlement.settlementId)
      deps.clock.advance(1)

      const refused = { code: 'validation', actionHint: expect.stringMatching(/\w/) }
      await expect(ACTIONS[action](deps, settlement)).rejects.toMatchObject(refused)

      expect(await findAnySettlement(deps, settlement.settlementId)).toStrictEqual(before)
      expect(await listAuditRecords(deps, settlement.settlementId)).toStrictEqual(trail)
    },
  )

  it('lets one of two operators through who close it differently at once', { repeats: 9 }, async ({
    deps,
    settlement,
  }) => {
    const results = await Promise.allSettled([payOut(deps, settlement), fail(deps, settlement)])

    const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.status] : []))
    expect(won).toHaveLength(1)
    expect((await findAnySettlement(deps, settlement.settlementId)).status).toBe(won[0])
    expect(await listAuditRecords(deps, settlement.settlementId)).toHaveLength(1)
  })

  it.for(Object.entries(ACTIONS))(
    'answers 404 to %s of an unknown settlement',
    async ([, act], { deps, settlement }) => {
      const unknown = { ...settlement, settlementId: crypto.randomUUID() as Settlement['settlementId'] }

      await expect(act(deps, unknown)).rejects.toMatchObject({ code: 'not_found' })
    },
  )
})

describe('marking a settlement paid before the provider has paid us', () => {
  it('is refused with what is missing, until it is there or the operator confirms', async ({ deps }) => {
    const { client, settlement } = await aSettledClient(deps, [
      { providerSettledAt: deps.now() },
      { notionalMinor: 50_000, paymentId: crypto.randomUUID() as never },
    ])

    await expect(payUnconfirmed(deps, settlement)).rejects.toMatchObject({
      code: 'validation',
      message: 'the provider has not paid us 46000 IDR of this settlement yet',
      fieldErrors: { confirm_unfunded: [expect.any(String)] },
      actionHint: expect.stringContaining('"confirm_unfunded": true'),
    })
    expect((await findAnySettlement(deps, settlement.settlementId)).status).toBe('recorded')
    expect(await listAuditRecords(deps, settlement.settlementId)).toStrictEqual([])

    expect((await payOut(deps, settlement)).status).toBe('manual_paid')
    await expectBalanced(deps, client.clientId)
  })

  it('needs no confirmation once all of it has arrived', async ({ deps }) => {
    const paymentId = crypto.randomUUID() as never
    const { client, settlement } = await aSettledClient(deps, [{ paymentId }])
    const [payment] = await findPaymentsByKey(deps, [paymentId])
    if (payment) await noteProviderSettled(deps, payment, deps.now())

    expect((await payUnconfirmed(deps, settlement)).status).toBe('manual_paid')

    expect(await findStoredPayment(deps, paymentId)).toMatchObject({ providerSettledAt: deps.now() })
    expect(await listAuditRecords(deps, settlement.settlementId)).toMatchObject([
      { after: { confirm_unfunded: false } },
    ])
    await expectBalanced(deps, client.clientId)
  })
})
