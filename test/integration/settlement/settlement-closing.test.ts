import { describe, expect } from 'vitest'
import { handler as markFailed } from '../../../functions/admin/mark-settlement-failed.ts'
import { handler as markPaid } from '../../../functions/admin/mark-settlement-paid.ts'
import { handler as recreditHandler } from '../../../functions/admin/recredit-settlement.ts'
import { changeClient } from '../../../shared/client/client-store.ts'
import { paymentTimeline } from '../../../shared/inquiry/payment-timeline.ts'
import { getBalance } from '../../../shared/ledger/ledger-store.ts'
import { minor } from '../../../shared/money.ts'
import { findAuditRecordsOfClient } from '../../../shared/operator/audit-record-store.ts'
import { toConfirm } from '../../../shared/payout/mark-settlement-paid.ts'
import { recreditEntry } from '../../../shared/settlement/close-settlement.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { finding } from '../../../shared/suspense/record-suspense.ts'
import { putSuspense } from '../../../shared/suspense/suspense-store.ts'
import { windowKey } from '../../../shared/table/keys.ts'
import { exists, remove } from '../../../shared/table/step.ts'
import { adjusted } from '../../support/money-rows.ts'
import {
  auditRecordsOf,
  invokeAdmin,
  OPERATOR,
  refusedWith,
  shownSettlement,
} from '../../support/operator-actions.ts'
import {
  anOpenPayment,
  aSucceededPayment,
  entriesIn,
  postAssumed,
} from '../../support/paid-builders.ts'
import {
  aDayLater,
  aSettledClient,
  auditedNow,
  BANK,
  fail,
  payOut,
  recredit,
  settlementsOf,
  sweepADayLater,
  sweptADayLater,
  sweptNow,
  trigger,
} from '../../support/settlement-builders.ts'
import { beforeFirst, type TestDeps } from '../../support/test-deps.ts'
import { clientTest as it } from './client-test.ts'

const ACTIONS = {
  'mark-settlement-paid': markPaid,
  'mark-settlement-failed': markFailed,
  'recredit-settlement': recreditHandler,
}
type Action = keyof typeof ACTIONS

/** Performs an operator's action. A payout first waits for the settlement's audit, and has a bank reference. */
async function act(
  deps: TestDeps,
  action: Action,
  settlement: Pick<Settlement, 'settlementId'>,
  fields: object = {},
) {
  const { settlementId: settlement_id } = settlement
  const isPayout = action === 'mark-settlement-paid'
  if (isPayout) await auditedNow(deps, settlement)
  const reference = isPayout ? { bank_reference: `BCA ${settlement_id}` } : {}
  const input = { operator: OPERATOR, settlement_id, notes: ` ${notes} `, ...reference, ...fields }
  return invokeAdmin(ACTIONS[action], deps, input)
}

/** The actions that bring a recorded settlement into each state. */
const STATES = {
  recorded: [],
  manual_paid: ['mark-settlement-paid'],
  failed: ['mark-settlement-failed'],
  recredited: ['mark-settlement-failed', 'recredit-settlement'],
} as const satisfies Readonly<Record<string, readonly Action[]>>

const RECORDED = { status: 'recorded', settled_at: null, recredited_at: null }
/** The stored note: the operator's text without the spaces around it. */
const notes = 'as reported by the bank'

describe('closing a settlement (spec 3.2; design section 7)', () => {
  it('as paid sets settled_at and the notes, with one audit record', async ({
    deps,
    client,
    settlement,
  }) => {
    const { settlementId } = settlement

    const reply = await act(deps, 'mark-settlement-paid', settlement)

    const closed = { status: 'manual_paid', settled_at: deps.now(), notes }
    const bank_reference = `BCA ${settlementId}`
    expect(reply).toStrictEqual({
      status: 200,
      body: shownSettlement(settlement, { ...closed, bank_reference }),
    })
    const paid = {
      status: 'manual_paid',
      settledAt: deps.now(),
      notes,
      bankReference: bank_reference,
    }
    expect(await findAnySettlement(deps, settlementId)).toEqual({ ...settlement, ...paid })
    const after = { ...closed, recredited_at: null, bank_reference, confirm: {} }
    const record = { operator: OPERATOR, action: 'mark-settlement-paid', before: RECORDED, after }
    expect(await auditRecordsOf(deps, settlementId)).toStrictEqual([record])
    expect(
      await findAuditRecordsOfClient(deps, client.clientId, { page: 1, perPage: 1 }),
    ).toMatchObject([record])
  })

  it('as failed stores the notes; only a recredit makes the funds available', async ({
    deps,
    client,
    settlement,
  }) => {
    const { settlementId } = settlement
    const failure = { operator: OPERATOR, action: 'mark-settlement-failed', before: RECORDED }
    const failed = { status: 'failed', settled_at: null, recredited_at: null, notes }

    const reply = await act(deps, 'mark-settlement-failed', settlement)
    for (let day = 0; day < 3; day++) expect(await sweepADayLater(deps, client)).toBeUndefined()

    expect(reply).toStrictEqual({
      status: 200,
      body: shownSettlement(settlement, { status: 'failed', notes }),
    })
    expect(await findAnySettlement(deps, settlementId)).toEqual({
      ...settlement,
      status: 'failed',
      notes,
    })
    expect(await getBalance(deps, client.clientId)).toMatchObject({
      availableMinor: 0,
      pendingMinor: 0,
    })
    expect(await auditRecordsOf(deps, settlementId)).toStrictEqual([{ ...failure, after: failed }])
    const again = await act(deps, 'recredit-settlement', settlement, { notes: 'new account' })
    const recreditedNow = { recredited_at: deps.now() }
    expect(again.body).toStrictEqual(
      shownSettlement(settlement, { status: 'failed', notes, ...recreditedNow }),
    )
    expect(await getBalance(deps, client.clientId)).toMatchObject({
      availableMinor: 95_900,
      updatedAt: deps.now(),
    })
    expect(await auditRecordsOf(deps, settlementId)).toContainEqual({
      operator: OPERATOR,
      action: 'recredit-settlement',
      before: { status: 'failed', settled_at: null, recredited_at: null },
      after: { status: 'failed', settled_at: null, ...recreditedNow, notes: 'new account' },
    })
  })

  const FINAL =
    'It has failed, which is final; recredit-settlement makes its funds available again.'
  const FIRST = 'Only a failed settlement can be recredited: mark-settlement-failed first.'
  const PAID = 'It is paid out, which is final; list-settlements shows it.'
  const WAITING = 'Its funds are in available_minor until the next settlement.'
  it.for([
    [
      'recorded',
      'recredit-settlement',
      'settlement cannot be recredited in status=recorded',
      FIRST,
    ],
    ['failed', 'mark-settlement-paid', 'settlement cannot be marked paid in status=failed', FINAL],
    [
      'failed',
      'mark-settlement-failed',
      'settlement cannot be marked failed in status=failed',
      FINAL,
    ],
    ['recredited', 'recredit-settlement', 'settlement was recredited already', WAITING],
    [
      'manual_paid',
      'mark-settlement-failed',
      'settlement cannot be marked failed in status=manual_paid',
      PAID,
    ],
  ] as const)(
    'a %s settlement refuses %s: %s',
    async ([state, action, message, hint], { deps, settlement }) => {
      for (const step of STATES[state]) await act(deps, step, settlement)
      const trail = await auditRecordsOf(deps, settlement.settlementId)

      expect(await act(deps, action, settlement)).toStrictEqual(
        refusedWith(message, { action_hint: hint }),
      )

      expect(await auditRecordsOf(deps, settlement.settlementId)).toStrictEqual(trail)
    },
  )

  it('as paid writes nothing when the window is deleted before the write', async ({ deps }) => {
    const { client, settlement } = await aSettledClient(deps)
    await auditedNow(deps, settlement)
    const window = remove(windowKey(client.clientId), exists)
    const raced = beforeFirst(deps, 'transact', () => deps.table.write(window))

    await expect(payOut(raced, settlement)).rejects.toThrow('do not balance')

    expect(await findAnySettlement(deps, settlement.settlementId)).toMatchObject({
      status: 'recorded',
    })
    expect(await auditRecordsOf(deps, settlement.settlementId)).toStrictEqual([])
  })
})

describe('a re-credit', () => {
  it('is one line of the next settlement, with the current bank details', async ({
    deps,
    client,
    recredited,
  }) => {
    const changes = { bank: { ...BANK, bankAccountNo: '7777777777' } }
    await changeClient(deps, { clientId: client.clientId, operator: OPERATOR, changes })
    deps.clock.advance(60)

    const settlement = await trigger(deps, client)

    const sums = { grossMinor: 100_000, feeMinor: 4_000, markupMinor: 100, netMinor: 95_900 }
    const counts = { paymentCount: 1, entryCount: 1, recreditedMinor: 95_900, unprovenMinor: 0 }
    const now = { triggeredBy: 'manual', bank: { bankAccountNo: '7777777777', isChange: true } }
    expect(settlement).toMatchObject({
      ...sums,
      ...counts,
      previousId: recredited.settlementId,
      ...now,
    })
    expect(await settlementsOf(deps, client)).toEqual([settlement, recredited])
    expect(await entriesIn(deps, client)).toMatchObject([
      { type: 'payment' },
      { type: 'recredit', netMinor: 95_900 },
    ])
    expect(await getBalance(deps, client.clientId)).toMatchObject({
      availableMinor: 0,
      pendingMinor: 0,
    })
  })

  it('refuses altered sums, and reduces the debt that a payout must confirm', async ({
    deps,
    client,
    recredited,
  }) => {
    expect(() => recreditEntry({ ...recredited, netMinor: minor(95_901) }, deps.now())).toThrow(
      'figures do not add up',
    )
    await adjusted(deps, client, 'recovered', -100_000)

    expect(await toConfirm(deps, recredited)).toStrictEqual({ owed: 100_000 - 95_900 })
  })

  it('carries over the unproven amount and the findings of failed settlements', async ({
    deps,
    client,
  }) => {
    const payment = await aSucceededPayment(deps, client)
    await putSuspense(
      deps,
      finding({ cause: 'amount_differs', subject: 'txn', payment, now: deps.now() }),
    )
    await postAssumed(deps, await anOpenPayment(deps, client, { notionalMinor: 50_000 }))
    let settlement = await sweptADayLater(deps, client)

    for (let time = 0; time < 3; time++) {
      expect(settlement).toMatchObject({ netMinor: 141_850, unprovenMinor: 45_950 })
      await recredit(deps, await fail(deps, settlement))
      deps.clock.advance(60)
      settlement = await sweptNow(deps, client)
    }

    expect(await toConfirm(deps, settlement)).toStrictEqual({ unproven: 45_950, findings: 1 })
  })

  it('adds the next settlement to the timelines of its payments', async ({ deps, client }) => {
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    const payment = await aSucceededPayment(deps, client)
    await sweptNow(deps, client)
    const failed = await sweptADayLater(deps, client)
    await recredit(deps, await fail(deps, failed))
    deps.clock.advance(60)
    const again = await sweptNow(deps, client)

    expect((await paymentTimeline(deps, payment)).timeline.settlements).toMatchObject([
      { settlement_id: failed.settlementId, status: 'failed' },
      { settlement_id: again.settlementId, status: 'recorded' },
    ])
  })
})
