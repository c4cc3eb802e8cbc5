import { describe, expect, it } from 'vitest'
import { getBalance } from '../../../shared/ledger/balance.ts'
import { listAuditRecords } from '../../../shared/operator/audit-record.ts'
import { noteProviderSettled } from '../../../shared/payment/fee/fee-store.ts'
import { findPaymentsByKey, findStoredPayment } from '../../../shared/payment/payment-store.ts'
import {
  markSettlementFailed,
  markSettlementPaid,
  recreditSettlement,
} from '../../../shared/settlement/close-settlement.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { aDayLater, aSettledClient, settle } from '../../support/settlement-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const OPERATOR = 'sari@gateway.example'
const NOTES = 'refused: account closed'

const paid = (deps: TestDeps, { settlementId }: Settlement, confirmUnfunded = true) =>
  markSettlementPaid(deps, { settlementId, operator: OPERATOR, notes: 'transfer 4711', confirmUnfunded })
const failed = (deps: TestDeps, { settlementId }: Settlement) =>
  markSettlementFailed(deps, { settlementId, operator: OPERATOR, notes: NOTES })
const recredited = (deps: TestDeps, { settlementId }: Settlement) =>
  recreditSettlement(deps, { settlementId, operator: OPERATOR, notes: 'pay out again' })

const ACTIONS = { 'mark-settlement-paid': paid, 'mark-settlement-failed': failed, 'recredit-settlement': recredited }
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

const inState = async (deps: TestDeps, state: State) => {
  const scene = await aSettledClient(deps)
  for (const action of STATES[state]) await ACTIONS[action](deps, scene.settlement)
  return scene
}

describe('closing a settlement (spec 3.2)', () => {
  it('as paid sets settled_at and the notes, once, with an audit record', async () => {
    const deps = testDeps()
    const { client, settlement } = await aSettledClient(deps)
    deps.clock.advance(90)

    await paid(deps, settlement)

    expect(await findAnySettlement(deps, settlement.settlementId)).toStrictEqual({
      ...settlement,
      status: 'manual_paid',
      settledAt: deps.now(),
      notes: 'transfer 4711',
    })
    expect(await listAuditRecords(deps, settlement.settlementId)).toStrictEqual([
      {
        subject: settlement.settlementId,
        operator: OPERATOR,
        action: 'mark-settlement-paid',
        at: deps.now(),
        before: { status: 'recorded', settled_at: null, recredited_at: null },
        after: {
          status: 'manual_paid',
          settled_at: deps.now(),
          recredited_at: null,
          notes: 'transfer 4711',
          confirm_unfunded: true,
        },
      },
    ])
    await expectBalanced(deps, client.clientId)
  })

  it('as failed keeps the cause, moves no funds, and no later run brings them back', async () => {
    const deps = testDeps()
    const { client, settlement } = await aSettledClient(deps)

    await failed(deps, settlement)
    for (let day = 0; day < 3; day++) {
      aDayLater(deps)
      const { settlements } = await settle(deps, client)
      expect(settlements).toStrictEqual([])
    }

    expect(await findAnySettlement(deps, settlement.settlementId)).toStrictEqual({
      ...settlement,
      status: 'failed',
      notes: NOTES,
    })
    expect(await getBalance(deps, client.clientId)).toMatchObject({ availableMinor: 0, pendingMinor: 0 })
    expect(await listAuditRecords(deps, settlement.settlementId)).toMatchObject([
      { operator: OPERATOR, action: 'mark-settlement-failed', after: { status: 'failed', notes: NOTES } },
    ])
    await expectBalanced(deps, client.clientId)
  })

  it.each(REFUSED)('refuses %s in state %s with a hint, and changes nothing', async (action, state) => {
    const deps = testDeps()
    const { client, settlement } = await inState(deps, state)
    const before = await findAnySettlement(deps, settlement.settlementId)
    const trail = await listAuditRecords(deps, settlement.settlementId)
    deps.clock.advance(1)

    await expect(ACTIONS[action](deps, settlement)).rejects.toMatchObject({
      code: 'validation',
      actionHint: expect.stringMatching(/\w/),
    })

    expect(await findAnySettlement(deps, settlement.settlementId)).toStrictEqual(before)
    expect(await listAuditRecords(deps, settlement.settlementId)).toStrictEqual(trail)
    await expectBalanced(deps, client.clientId)
  })

  it.each(Array.from({ length: 10 }, (_, index) => index + 1))(
    'lets one of two operators through who close it differently at once (round %i)',
    async () => {
      const deps = testDeps()
      const { client, settlement } = await aSettledClient(deps)

      const results = await Promise.allSettled([paid(deps, settlement), failed(deps, settlement)])

      const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.status] : []))
      expect(won).toHaveLength(1)
      expect((await findAnySettlement(deps, settlement.settlementId)).status).toBe(won[0])
      expect(await listAuditRecords(deps, settlement.settlementId)).toHaveLength(1)
      await expectBalanced(deps, client.clientId)
    },
  )

  it.each(['paid', 'failed', 'recredited'])('answers 404 when an unknown settlement is to be %s', async (action) => {
    const close = { paid, failed, recredited }[action]
    const { settlement } = await aSettledClient(testDeps())

    const unknown = { ...settlement, settlementId: crypto.randomUUID() as Settlement['settlementId'] }

    await expect(close?.(testDeps(), unknown)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('marking a settlement paid before the provider has paid us', () => {
  it('is refused with what is missing, until it is there or the operator confirms', async () => {
    const deps = testDeps()
    const { client, settlement } = await aSettledClient(deps, [
      { providerSettledAt: deps.now() },
      { notionalMinor: 50_000, paymentId: crypto.randomUUID() as never },
    ])

    await expect(paid(deps, settlement, false)).rejects.toMatchObject({
      code: 'validation',
      message: 'the provider has not paid us 46000 IDR of this settlement yet',
      fieldErrors: { confirm_unfunded: [expect.any(String)] },
      actionHint: expect.stringContaining('"confirm_unfunded": true'),
    })
    expect((await findAnySettlement(deps, settlement.settlementId)).status).toBe('recorded')
    expect(await listAuditRecords(deps, settlement.settlementId)).toStrictEqual([])

    expect((await paid(deps, settlement, true)).status).toBe('manual_paid')
    await expectBalanced(deps, client.clientId)
  })

  it('needs no confirmation once all of it has arrived', async () => {
    const deps = testDeps()
    const paymentId = crypto.randomUUID() as never
    const { client, settlement } = await aSettledClient(deps, [{ paymentId }])
    const [payment] = await findPaymentsByKey(deps, [paymentId])
    if (payment) await noteProviderSettled(deps, payment, deps.now())

    expect((await paid(deps, settlement, false)).status).toBe('manual_paid')

    expect(await findStoredPayment(deps, paymentId)).toMatchObject({ providerSettledAt: deps.now() })
    expect(await listAuditRecords(deps, settlement.settlementId)).toMatchObject([
      { after: { confirm_unfunded: false } },
    ])
    await expectBalanced(deps, client.clientId)
  })
})
