import { describe, expect } from 'vitest'
import { getBalance } from '../../../shared/ledger/ledger-store.ts'
import { findAuditRecordsOfClient } from '../../../shared/operator/audit-record-store.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { windowKey } from '../../../shared/table/keys.ts'
import {
  auditRecordsOf,
  invokeAdmin,
  OPERATOR,
  refusedWith,
  shownSettlement,
} from '../../support/operator-actions.ts'
import {
  aSettledClient,
  auditedNow,
  payOut,
  sweepADayLater,
} from '../../support/settlement-builders.ts'
import { erase } from '../../support/tampering.ts'
import { beforeCommit, type TestDeps } from '../../support/test-deps.ts'
import { APPROVER } from '../../support/with-approval.ts'
import { clientTest as it } from './client-test.ts'

type Action = 'mark-settlement-paid' | 'mark-settlement-failed' | 'recredit-settlement'

async function act(
  deps: TestDeps,
  action: Action,
  settlement: Pick<Settlement, 'settlementId'>,
  fields: object = {},
) {
  const { settlementId: settlement_id } = settlement
  const isPayout = action === 'mark-settlement-paid'
  if (isPayout) await auditedNow(deps, settlement)
  const input = {
    operator: OPERATOR,
    settlement_id,
    notes: ` ${notes} `,
    ...(isPayout && { bank_reference: `BCA ${settlement_id}` }),
    ...fields,
  }
  return invokeAdmin(action, deps, input)
}

const STATES = {
  recorded: [],
  manual_paid: ['mark-settlement-paid'],
  failed: ['mark-settlement-failed'],
  recredited: ['mark-settlement-failed', 'recredit-settlement'],
} satisfies Readonly<Record<string, readonly Action[]>>

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

    const closedFields = { status: 'manual_paid', settled_at: deps.now(), notes }
    const bank_reference = `BCA${settlementId.toUpperCase()}`
    expect(reply).toStrictEqual({
      status: 200,
      body: shownSettlement(settlement, { ...closedFields, bank_reference }),
    })
    expect(await findAnySettlement(deps, settlementId)).toEqual({
      ...settlement,
      status: 'manual_paid',
      settledAt: deps.now(),
      notes,
      bankReference: bank_reference,
    })
    const after = { ...closedFields, recredited_at: null, bank_reference, figures: {} }
    const record = { operator: OPERATOR, action: 'mark-settlement-paid', before: RECORDED, after }
    expect(await auditRecordsOf(deps, settlementId)).toStrictEqual([record])
    expect(
      await findAuditRecordsOfClient(deps, client.clientId, { page: 1, perPage: 1 }),
    ).toMatchObject({ rows: [record] })
  })

  it('as failed stores the notes; only a recredit makes the funds available', async ({
    deps,
    client,
    settlement,
  }) => {
    const { settlementId } = settlement
    const failure = { operator: OPERATOR, action: 'mark-settlement-failed', before: RECORDED }
    const failedFields = { status: 'failed', settled_at: null, recredited_at: null, notes }

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
    expect(await auditRecordsOf(deps, settlementId)).toStrictEqual([
      { ...failure, after: failedFields },
    ])
    const recreditReply = await act(deps, 'recredit-settlement', settlement, {
      notes: 'new account',
    })
    const recreditedNow = { recredited_at: deps.now() }
    expect(recreditReply.body).toStrictEqual(
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
      after: {
        status: 'failed',
        settled_at: null,
        ...recreditedNow,
        notes: 'new account',
        approved: expect.objectContaining({ operator: APPROVER, used_at: deps.now() }),
      },
    })
  })

  it.for([
    [
      'recorded',
      'recredit-settlement',
      'settlement cannot be recredited in status=recorded',
      'Only a failed settlement can be recredited. If the bank did not pay it, run ' +
        'mark-settlement-failed first.',
    ],
    [
      'failed',
      'mark-settlement-paid',
      'settlement cannot be marked paid in status=failed',
      'Do not run recredit-settlement until the bank says whether the money arrived.',
    ],
    [
      'failed',
      'mark-settlement-failed',
      'settlement cannot be marked failed in status=failed',
      'It has failed, which is final; recredit-settlement makes its funds available again.',
    ],
    [
      'recredited',
      'recredit-settlement',
      'settlement was recredited already',
      'Its funds are in available_minor until the next settlement.',
    ],
    [
      'manual_paid',
      'mark-settlement-failed',
      'settlement cannot be marked failed in status=manual_paid',
      'It is paid out, which is final. return-payout books a transfer that came back.',
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
    const raced = beforeCommit(deps, () => erase(deps, windowKey(client.clientId)))

    await expect(payOut(raced, settlement)).rejects.toThrow('do not balance')

    expect(await findAnySettlement(deps, settlement.settlementId)).toMatchObject({
      status: 'recorded',
    })
    expect(await auditRecordsOf(deps, settlement.settlementId)).toStrictEqual([])
  })
})
