/** Goal: no settlement is paid out that is not what its entries say, or that was not looked at where a look is needed. */
import { describe, expect } from 'vitest'
import { handler as acceptDifference } from '../../../functions/admin/accept-difference.ts'
import { handler as updateClient } from '../../../functions/admin/update-client.ts'
import { auditClient, auditLedger, auditRecorded } from '../../../shared/audit/run-audits.ts'
import type { Client } from '../../../shared/client/client.ts'
import { checkDueWork } from '../../../shared/due-work/check-due-work.ts'
import { settlementKey, verdictKey, windowKey } from '../../../shared/table/keys.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import {
  changeClientVerdict,
  noteFound,
  readClientVerdict,
} from '../../../shared/verdict/client-verdict-store.ts'
import type { Difference } from '../../../shared/verdict/difference.ts'
import {
  newSettlementVerdict,
  readSettlementVerdict,
} from '../../../shared/verdict/settlement-verdict-store.ts'
import { auditRecordsOf, invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { withoutFloor } from '../../support/settlement-builders.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import {
  beforeFirst,
  failingOn,
  memoryDeps,
  recordTable,
  type TestDeps,
} from '../../support/test-deps.ts'
import { aRecorded, auditedTest as it, quiet } from './recorded-settlement.ts'

/** A window with another sum than its entries, and an audit of it. */
async function writtenOff(
  deps: TestDeps,
  { clientId }: Client,
  written_off_minor: number,
  audit: typeof auditLedger | typeof auditClient = auditLedger,
) {
  await putRaw(deps, { ...(await rawItem(deps, windowKey(clientId))), written_off_minor })
  await audit(quiet(deps), clientId)
}

function differenceOf({ clientId: id }: Client) {
  return { what: 'window.written_off_minor', id, expected: 0, found: 5 }
}

function note(
  deps: TestDeps,
  { clientId }: Client,
  part: string,
  differences: readonly Difference[],
) {
  return noteFound(deps, clientId, new Map([[part, differences]]), undefined)
}

describe('the payout gate (design section 11)', () => {
  it('allows the payout after the settlement’s audit, a minute after its record', async () => {
    const { deps, client, settlement, pay, status } = await aRecorded()
    const retryAt = addMs(settlement.createdAt, MINUTE_MS)

    const refused = await pay()
    deps.clock.set(retryAt)
    await checkDueWork(deps)
    const audits = deps.sent
      .filter(({ queue }) => queue === 'audits')
      .map(({ message }) => message.body)
    await auditRecorded(deps, settlement.settlementId)

    expect(refused).toMatchObject({ status: 422, body: { code: 'validation', retry_at: retryAt } })
    expect(audits).toStrictEqual([{ settlement_id: settlement.settlementId }])
    expect(await pay()).toMatchObject({ status: 200, body: { status: 'manual_paid' } })
    expect(await status()).toBe('manual_paid')
    await expectBalanced(deps, client.clientId)
  })

  it('audits a settlement once for repeated messages, and again after a crashed worker', async () => {
    const { deps, settlement } = await aRecorded()
    deps.clock.set(addMs(settlement.createdAt, MINUTE_MS))
    const dying = failingOn(deps, 'update', 'after')
    await expect(auditRecorded(dying, settlement.settlementId)).rejects.toThrow('cannot be reached')

    await auditRecorded(deps, settlement.settlementId)
    const claimed = await readSettlementVerdict(deps, settlement.settlementId)
    deps.clock.advance(600)
    await auditRecorded(deps, settlement.settlementId)
    const reads = deps.changes.length
    await auditRecorded(deps, settlement.settlementId)

    // A recount that did not see the verdict does not begin it anew.
    expect(await deps.table.write(newSettlementVerdict(settlement))).toMatchObject({
      applied: false,
    })
    expect(claimed?.state).toBe('waiting')
    expect(await readSettlementVerdict(deps, settlement.settlementId)).toMatchObject({
      state: 'audited',
    })
    expect(deps.changes).toHaveLength(reads)
  })

  it('alerts about the differences of its audit, not about the client’s other differences', async () => {
    const { deps, client, settlement } = await aRecorded()
    const stood = { what: 'ledger.count_pending', id: client.clientId, expected: '5', found: '6' }
    await note(deps, client, 'counts', [stood])
    await putRaw(deps, {
      ...(await rawItem(deps, settlementKey(settlement.settlementId))),
      gross_minor: 100_001,
    })
    deps.clock.set(addMs(settlement.createdAt, MINUTE_MS))

    await auditRecorded(quiet(deps), settlement.settlementId)

    const message: unknown = expect.stringContaining(
      '(differences: 1). The first is settlement.gross_minor',
    )
    expect(deps.published).toStrictEqual([
      { kind: 'audit.imbalance', subject: client.clientId, message },
    ])
    expect(await readSettlementVerdict(deps, settlement.settlementId)).toMatchObject({
      state: 'audited',
    })
  })

  it.each([0, 1])(
    'keeps the differences of two concurrent audits, after %i earlier ones',
    async (earlier) => {
      const deps = memoryDeps()
      const client = await withoutFloor(deps)
      const noteOf = (by: TestDeps, part: string) => note(by, client, part, [differenceOf(client)])
      if (earlier) await noteOf(deps, 'counts')

      const overtaken = beforeFirst(deps, 'put', () => noteOf(deps, 'window'))
      await noteOf(overtaken, 'figures')

      const parts = [...(earlier ? ['counts'] : []), 'window', 'figures']
      expect((await readClientVerdict(deps, client.clientId)).standing).toMatchObject(
        parts.map((part) => ({ part })),
      )
    },
  )

  it('refuses while the audit is inconclusive, and shows when it runs again', async ({
    deps,
    settlement,
    pay,
  }) => {
    const row = await rawItem(deps, verdictKey(settlement.settlementId))
    const dueAt = addMs(deps.now(), MINUTE_MS)
    await putRaw(deps, { ...row, state: 'inconclusive', due_at: dueAt })

    const body = { message: expect.stringContaining('inconclusive') as unknown, retry_at: dueAt }
    expect(await pay()).toMatchObject({ status: 422, body })
  })

  it.for([
    ['is inconclusive', { state: 'inconclusive' }, 422, 1],
    ['is newer', { audited_at: '2031-01-01T00:00:00.000Z' }, 200, 2],
  ] as const)(
    'is checked again when the audit %s at the write',
    async ([, change, status, writes], { world }) => {
      const { deps, settlement, pay } = world
      const row = await rawItem(deps, verdictKey(settlement.settlementId))
      const overtaken = beforeFirst(deps, 'transact', () => putRaw(deps, { ...row, ...change }))
      const { deps: watched, calls } = recordTable(overtaken)

      expect((await pay({}, watched)).status).toBe(status)
      expect(calls.filter(({ name }) => name === 'transact')).toHaveLength(writes)
    },
  )

  it('refuses while the client has a difference, unless finance accepted it', async ({
    deps,
    client,
    pay,
    status,
  }) => {
    const { clientId } = client
    await writtenOff(deps, client, 5, auditClient)
    const difference = differenceOf(client)
    const asked = {
      operator: OPERATOR,
      client_id: clientId,
      notes: 'the bank says so',
      ...difference,
    }
    const accept = (fields: object = {}) =>
      invokeAdmin(acceptDifference, deps, { ...asked, ...fields })

    const refused = await pay()
    const wrong = [
      { found: 6 },
      { id: 'x' },
      { expected: null },
      { client_id: crypto.randomUUID() },
    ]
    const others = (await Promise.all(wrong.map(accept))).map((reply) => reply.status)
    const accepted = await accept()
    const again = await accept()

    const body = {
      message: 'the books of this client do not balance (differences: 1)',
      field_errors: { differences: [`window.written_off_minor of ${clientId}`] },
      action_hint: expect.stringContaining('accept-difference') as unknown,
    }
    expect(refused).toMatchObject({ status: 422, body })
    expect(others).toStrictEqual([422, 422, 422, 404])
    const done = { status: 200, body: difference }
    expect([accepted, again]).toStrictEqual([done, done])
    const records = (await auditRecordsOf(deps, clientId)).filter(
      ({ action }) => action === 'accept-difference',
    )
    expect(records).toHaveLength(1)
    expect(await status()).toBe('recorded')
    expect(await pay()).toMatchObject({ status: 200 })
  })

  it('an acceptance ends when figures change; a repaired difference is removed', async ({
    deps,
    client,
    pay,
  }) => {
    await writtenOff(deps, client, 5)
    const asked = {
      operator: OPERATOR,
      client_id: client.clientId,
      notes: 'x',
      ...differenceOf(client),
    }
    await invokeAdmin(acceptDifference, deps, asked)

    const statuses: number[] = []
    for (const amount of [6, 5, 0]) {
      await writtenOff(deps, client, amount)
      statuses.push((await pay()).status)
    }

    expect(statuses).toStrictEqual([422, 422, 200])
    await expectBalanced(deps, client.clientId)
  })

  it.for([
    ['the settlement', { net_minor: 95_901, gross_minor: 100_001 }],
    ['the window', { settled_until: '2026-11-22T00:00:00.000Z' }],
  ] as const)(
    'audits once more, and refuses if %s was altered',
    async ([item, altered], { world }) => {
      const { deps, client, settlement, pay, status } = world
      const key =
        item === 'the window' ? windowKey(client.clientId) : settlementKey(settlement.settlementId)
      const row = await rawItem(deps, key)
      await putRaw(deps, { ...row, ...altered })

      expect(await pay({}, quiet(deps))).toMatchObject({
        status: 422,
        body: { field_errors: expect.any(Object) },
      })
      expect(await status()).toBe('recorded')
      await putRaw(deps, row)
      expect(await pay()).toMatchObject({ status: 200 })
      await expectBalanced(deps, client.clientId)
    },
  )

  it('refuses while payouts are on hold, also from just before the write', async ({
    deps,
    client,
    pay,
    status,
  }) => {
    const hold = (payout_hold: string | null) =>
      invokeAdmin(updateClient, deps, {
        operator: OPERATOR,
        client_id: client.clientId,
        payout_hold,
      })

    expect(await hold('a court order')).toMatchObject({
      status: 200,
      body: { payout_hold: 'a court order' },
    })
    expect(await pay()).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('a court order') },
    })
    await hold(null)
    const late = beforeFirst(deps, 'transact', () => hold('a second one'))
    expect(await pay({}, late)).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('a second one') },
    })
    expect(await status()).toBe('recorded')
    await hold(null)
    expect(await pay()).toMatchObject({ status: 200 })
  })

  it('refuses because of a difference that follows a hundred others', async ({
    deps,
    client,
    pay,
  }) => {
    const all = Array.from({ length: 101 }, (_, at) => ({ ...differenceOf(client), id: `${at}` }))
    const [one, others] = [all.slice(0, 1), all.slice(1)]
    await note(deps, client, 'payments 1', others)
    await note(deps, client, 'payments 2', one)
    expect((await readClientVerdict(deps, client.clientId)).standing).toHaveLength(100)
    const repaired = await note(deps, client, 'payments 1', [])

    await note(deps, client, 'payments 1', others)
    await note(deps, client, 'payments 2', [])
    const before = await readClientVerdict(deps, client.clientId)
    const accepted = others.map((each) => ({
      ...each,
      operator: OPERATOR,
      notes: 'x',
      at: deps.now(),
    }))
    await deps.table.write(changeClientVerdict(client.clientId, before, { ...before, accepted }))
    const found = await note(deps, client, 'payments 2', one)

    expect([repaired, found]).toMatchObject([one, one])
    expect(await pay()).toMatchObject({ status: 422 })
  })

  it('refuses while every audit finds another difference', async ({
    deps,
    settlement,
    pay,
    status,
  }) => {
    const row = await rawItem(deps, settlementKey(settlement.settlementId))
    let looks = 0
    const alter = async () => void (await putRaw(deps, { ...row, entry_count: 2 + looks++ }))
    await alter()

    const body = { retry_at: expect.any(String) as unknown }
    expect(await pay({}, { ...deps, sleep: alter })).toMatchObject({ status: 422, body })
    expect(await status()).toBe('recorded')
    await putRaw(deps, row)
    expect(await pay()).toMatchObject({ status: 200 })
  })

  it('refuses when an audit finds a difference just before the write', async ({
    deps,
    client,
    pay,
    status,
  }) => {
    const late = beforeFirst(deps, 'transact', () => writtenOff(deps, client, 5))

    expect(await pay({}, late)).toMatchObject({
      status: 422,
      body: { field_errors: expect.any(Object) },
    })
    expect(await status()).toBe('recorded')
  })
})
