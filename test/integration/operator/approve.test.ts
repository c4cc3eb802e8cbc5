/**
 * Goal: what raises what leaves the house is written only with another person's approval of exactly
 * its figures, once, within 72 hours. Method: real stores; each approved action runs without an
 * approval, with one of other figures, and with its own.
 */
import { describe, expect } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import {
  approvalIdOf,
  approvalSubject,
  findValidApproval,
  newApproval,
  putApproval,
  useOf,
} from '../../../shared/operator/approval-store.ts'
import { readAuditRecords } from '../../../shared/operator/audit-record-store.ts'
import { approvalKey, type Key } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { invokeWhole, OPERATOR } from '../../support/operator-actions.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { alter, erase, keyOfRow, putRaw, rawItem } from '../../support/tampering.ts'
import {
  beforeCommit,
  beforeFirst,
  memoryDeps,
  type TableCall,
  type TestDeps,
} from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import { APPROVER, askedApproval } from '../../support/with-approval.ts'
import { CASES, REPEATABLE } from './approved-cases.ts'
import { aCorrection, approve, approvedFor } from './approved-for.ts'

const it = testWith(aCorrection, 'adjust', 'asked', 'clientId', 'deps', 'key')

function act(deps: TestDeps, action: string, input: object) {
  return invokeWhole(action, deps, { operator: OPERATOR, ...input })
}

describe('an approved action (design section 11)', () => {
  it.for(CASES)(
    'is refused without its approval, with one of other figures and with one that is replaced, and runs once with it: %s',
    async ([, prepare]) => {
      const deps = memoryDeps()
      const { action, input } = await prepare(deps)

      const refused = await act(deps, action, input)

      expect(refused).toMatchObject({ status: 422, body: { code: 'validation' } })
      const asked = askedApproval(Object(refused.body).action_hint)
      for (const [name, value] of Object.entries(asked?.payload ?? {})) {
        const other = typeof value === 'number' ? value + 1 : '2026-11-24'
        const payload = { ...asked?.payload, [name]: other }
        expect(await approve(deps, asked && { ...asked, payload })).toMatchObject({ status: 200 })
      }
      expect(await act(deps, action, input)).toStrictEqual(refused)
      expect(await approve(deps, asked)).toMatchObject({ status: 200, body: { used_at: null } })
      const replaced = beforeCommit(deps, async () => {
        deps.clock.advance(1)
        await approve(deps, asked)
      })
      // Some actions try again by themselves.
      if ((await act(replaced, action, input)).status === 409)
        expect(await act(deps, action, input)).toMatchObject({ status: 200 })
      const key = approvalKey(asked ? approvalIdOf(asked) : '')
      expect(await deps.table.get(key)).toMatchObject({ usedAt: deps.now(), operator: APPROVER })
    },
  )

  it.for(REPEATABLE)(
    'answers what is booked to a call that another overtook before its approval: %s',
    async ([, prepare]) => {
      const deps = memoryDeps()
      const { action, input } = await prepare(deps)
      const approved = await approvedFor(deps, action, input)
      const isIt = (call: TableCall) => JSON.stringify(call).includes('APPROVAL#')
      const raced = beforeFirst(deps, isIt, () => approved())

      expect(await approved(raced)).toStrictEqual(await approved())
    },
  )

  it('does not run by an approval that is used or over', async ({ deps, adjust, asked }) => {
    const refusedFor = async (reason: string) =>
      expect(await adjust()).toMatchObject({
        status: 422,
        body: { message: `adjust-ledger needs an approval of exactly these figures: ${reason}` },
      })

    await approve(deps, asked)
    deps.clock.pass(3 * DAY_MS)
    await refusedFor(`the last one expired at ${deps.now()}`)
    await approve(deps, asked)
    expect(await adjust()).toMatchObject({ status: 200 })
    expect(await adjust()).toMatchObject({ status: 200 })
    await erase(deps, { pk: `ADJUSTMENT#${asked.payload.client_id}`, sk: 'C-1' })
    await refusedFor(`the last one was used at ${deps.now()}`)
  })

  it('is refused when the approval is used between read and write', async ({
    deps,
    adjust,
    asked,
    key,
  }) => {
    await approve(deps, asked)
    const used = beforeCommit(deps, async () => {
      await alter(deps, key, { used_at: deps.now() })
    })
    const message = expect.stringContaining('was used at')
    expect(await adjust(used)).toMatchObject({ status: 422, body: { message } })
  })

  it('is refused when the approval expires between read and write', async ({ deps, asked }) => {
    await approve(deps, asked)
    const found = await findValidApproval(deps, asked)

    deps.clock.pass(3 * DAY_MS)

    expect(await deps.table.write(useOf(deps, found).step)).toMatchObject({ applied: false })
  })

  it('has the bank’s reference as the action reads it', async () => {
    const payload = { payment_id: 'p', amount_minor: 1, bank_reference: 'trx 7' }

    const { body } = await approve(memoryDeps(), { action: 'refund-payment', payload })

    expect(body).toMatchObject({ payload: { bank_reference: 'TRX7' } })
  })

  it('is used by its time, which is another for each approval, also in one millisecond', async ({
    deps,
    clientId,
    asked,
    adjust,
  }) => {
    await approve(deps, asked)
    expect((await adjust()).status).toBe(200)

    const { body } = await approve(deps, asked)

    expect(body).toMatchObject({ at: addMs(deps.now(), 1), used_at: null })
    await expectBalanced(deps, { clientId })
  })

  it('is approved once when two people approve it at the same time', async ({
    deps,
    clientId,
    asked,
  }) => {
    const raced = beforeCommit(deps, () => approve(deps, asked, 'first@gateway.example'))

    const { status } = await approve(raced, asked)

    expect(status).toBe(409)
    await expectBalanced(deps, { clientId })
  })

  it('needs no approval for what lowers a balance, unless a repayment is taken back', async ({
    deps,
    clientId: client_id,
  }) => {
    const lower = (fields: object) => act(deps, 'adjust-ledger', { client_id, ...fields })

    expect(await lower({ kind: 'correction', amount_minor: -9, reference: 'L' })).toMatchObject({
      status: 200,
    })
    const needed = { status: 422, body: { message: expect.stringContaining('needs an approval') } }
    for (const [kind, back] of [
      ['written_off', { status: 200 }],
      ['recovered', needed],
    ] as const) {
      const given = { kind, amount_minor: 9, reference: `R-${kind}` }
      const { body } = await lower(given)
      await approve(deps, askedApproval(Object(body).action_hint))
      expect(await lower(given)).toMatchObject({ status: 200 })
      expect(await lower({ kind, amount_minor: -9, reference: `T-${kind}` })).toMatchObject(back)
    }
  })
})

describe('approve', () => {
  it('shows what it approves, for how long, and keeps a record in the list of the client', async ({
    deps,
    clientId,
    asked,
  }) => {
    const { body } = await approve(deps, asked)

    const until = addMs(deps.now(), 3 * DAY_MS)
    const shown = { ...asked, approved_by: APPROVER, at: deps.now(), until, used_at: null }
    expect(body).toStrictEqual(shown)
    await expectBalanced(deps, { clientId })
  })

  it.for([
    [{ action: 'create-client', payload: {} }, 'action: '],
    [{ action: 'adjust-ledger', payload: { amount_minor: 1.5 } }, 'payload'],
    [{ action: 'adjust-ledger', payload: { reference: 'x'.repeat(5_000) } }, 'payload'],
    [{ action: 'adjust-ledger', payload: [] }, 'payload.client_id: required'],
    [
      { action: 'mark-settlement-paid', payload: { unproven: 5 } },
      'payload.settlement_id: required',
    ],
    [
      { action: 'adjust-house', payload: { bank_minor: -6_500, bank: 1, reference: 'I' } },
      'payload.bank: unknown field',
    ],
    [{ action: 'payout-file', payload: { cancel: '7' } }, 'payload.cancel: must be number'],
    [{ action: 'payout-file', payload: { cancel: 7, constructor: 8 } }, 'payload.constructor'],
    [{ action: 'payout-file', payload: { cancel: 7, ['__proto__']: 8 } }, 'payload.__proto__'],
  ] as const)('refuses %o', async ([input, message]) => {
    const refused = await approve(memoryDeps(), input as never)

    const text = expect.stringContaining(message)
    expect(refused).toMatchObject({ status: 422, body: { message: text } })
  })

  it.for(['payload', 'until', 'operator', 'used_at'])(
    'an approval whose %s was changed is a difference, of its client or of the gateway',
    async (name, { deps, clientId, asked }) => {
      for (const approved of [asked, { action: 'payout-file', payload: { cancel: 1 } } as const]) {
        await approve(deps, approved)
        const key = approvalKey(approvalIdOf(approved))
        await alter(deps, key, { [name]: 'other' })
      }

      const found = [await auditLedger(deps, clientId), await auditWholeGateway(deps)]

      for (const { differences } of found)
        expect(differences).toContainEqual(expect.objectContaining({ what: `approval.${name}` }))
    },
  )

  it('is found by the record of its action when its use or the list of its own record is lost', async ({
    deps,
    clientId,
    asked,
    adjust,
  }) => {
    await approve(deps, asked)
    await adjust()
    const id = approvalIdOf(asked)
    const { items } = await readAuditRecords(deps, approvalSubject(id))

    const recordKey = keyOfRow(items[0] ?? {})

    const withoutField = async (key: Key, name: string) => {
      const whole = await rawItem(deps, key)
      await putRaw(deps, Object.fromEntries(Object.entries(whole).filter(([one]) => one !== name)))
      const { differences } = await auditLedger(deps, clientId)
      await putRaw(deps, whole)
      return differences
    }

    expect(await withoutField(approvalKey(id), 'used_at')).toMatchObject([
      { what: 'approval.used_at' },
    ])
    expect(await withoutField(recordKey, 'entity')).toMatchObject([{ what: 'audit_record.entity' }])
    expect(await auditLedger(deps, clientId)).toMatchObject({ balanced: true })
  })

  it('is a difference when its row was written without it', async ({
    deps,
    clientId,
    asked,
    adjust,
  }) => {
    await deps.table.write(putApproval(newApproval(asked, 'nobody', deps.now()), undefined))

    expect(await adjust()).toMatchObject({ status: 200 })

    expect((await auditLedger(deps, clientId)).differences).toMatchObject([
      { what: 'approval', id: approvalIdOf(asked), found: 'not recorded' },
    ])
  })
})
