/** Goal: only what finance accepted and a second person approved may stand while money goes out. */
import { describe, expect, it } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import { approvalIdOf, newApproval } from '../../../shared/operator/approval-store.ts'
import {
  headOf,
  readAuditRecords,
  recordChange,
} from '../../../shared/operator/audit-record-store.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import {
  approvalKey,
  auditHeadKey,
  auditRecordKey,
  journalPk,
  shardKey,
} from '../../../shared/table/keys.ts'
import { isNew, put } from '../../../shared/table/step.ts'
import {
  acceptanceOf,
  acceptedSubject,
  unacceptedDifferences,
} from '../../../shared/verdict/acceptances.ts'
import type { Difference } from '../../../shared/verdict/difference.ts'
import { recordDifferences } from '../../../shared/verdict/verdict-store.ts'
import { invokeWhole, OPERATOR } from '../../support/operator-actions.ts'
import { expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aSettledClient,
  BANK,
  fail,
  payOut,
  recredit,
  standingOf,
} from '../../support/settlement-builders.ts'
import {
  alter,
  alterSettlement,
  erase,
  keyOfRow,
  putRaw,
  rawItem,
} from '../../support/tampering.ts'
import { memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { APPROVER, accept, askedApproval } from '../../support/with-approval.ts'

async function anAlteredSettlement() {
  const { deps, client, settlement } = await aSettledClient()
  const { settlementId } = settlement
  await alterSettlement(deps, { settlementId }, { net_minor: 959_000 })
  const { differences } = await auditLedger(deps, client.clientId)
  deps.clock.advance(1)
  return { deps, clientId: client.clientId, settlement, differences }
}

async function recordAcceptance(deps: TestDeps, clientId: string, after: object) {
  const subject = acceptedSubject(clientId)
  const by = { operator: 'ana', clientId, subject, action: 'accept-difference' }
  await recordChange(deps, { ...by, after }, {})
}

/** A chain of acceptances without the action that writes them. */
async function forge(deps: TestDeps, owner: string, differences: readonly Difference[]) {
  const subject = acceptedSubject(owner)
  for (const [at, after] of differences.entries()) {
    const { records } = await readAuditRecords(deps, subject)
    const action = { operator: 'ana', action: 'accept-difference', at: deps.now(), after }
    const record = { subject, ...action, number: at + 1, previous: headOf(records)?.digest }
    await deps.table.write(put(auditRecordKey(subject, deps.now(), `forged-${at}`), record, isNew))
  }
}

function setBank(deps: TestDeps, { settlementId }: Settlement, number: number) {
  const bank = { ...BANK, bankAccountNo: String(number).repeat(10) }
  return alterSettlement(deps, { settlementId }, { bank })
}

async function changeRecord(deps: TestDeps, { settlementId }: Settlement, number: number) {
  const { items } = await readAuditRecords(deps, settlementId)
  const key = keyOfRow(items.find((item) => item['number'] === number) ?? {})
  await alter(deps, key, { operator: 'eve' })
}

/** With its client's shard, so that only the entry shows its amount. */
async function addEntry(deps: TestDeps, { clientId, sweptUntil: at }: Settlement, number: number) {
  const { items } = await deps.table.query({ partition: [journalPk(clientId)], limit: 1 })
  const entry = await rawItem(deps, keyOfRow(items[0] ?? {}))
  for (const name of ['gross_minor', 'net_minor', 'provider_minor'])
    entry[name] = Number(entry[name]) + number
  await putRaw(deps, {
    ...entry,
    sk: `${at}#${String(entry['sk']).split('#')[1]}`,
    eligible_at: at,
  })
  await alter(deps, shardKey(clientId, 0), { credited_minor: 95_900 + number })
}

describe('an acceptance', () => {
  it.each([
    ['without the head of its chain', false],
    ['with a whole chain, which nobody approved', true],
  ])('%s counts for nothing, and is found', async (_, hasHead) => {
    const { deps, clientId, settlement, differences } = await anAlteredSettlement()
    expect(differences).not.toStrictEqual([])
    await forge(deps, clientId, differences)
    const subject = acceptedSubject(clientId)
    const head = headOf((await readAuditRecords(deps, subject)).records)
    if (hasHead) await deps.table.write(put(auditHeadKey(subject), { ...head }, isNew))

    await expect(payOut(deps, settlement)).rejects.toMatchObject({
      message: expect.stringContaining('do not balance'),
    })
    const found = (await auditLedger(deps, clientId)).differences.filter(({ id }) => id === subject)
    expect(found).not.toStrictEqual([])
  })

  it('counts for nothing and is found if its approval is forged with it', async () => {
    const { deps, clientId, settlement, differences } = await anAlteredSettlement()
    const subject = acceptedSubject(clientId)
    for (const after of differences) {
      const of = acceptanceOf(clientId, after)
      const [id, at] = [approvalIdOf(of), deps.now()]
      const approval = { ...newApproval(of, 'ana', at), usedAt: at }
      await deps.table.write(put(approvalKey(id), approval, isNew))
      await recordAcceptance(deps, clientId, { ...after, approved: { id, at, used_at: at } })
    }

    await expect(payOut(deps, settlement)).rejects.toThrow('do not balance')

    expect((await auditLedger(deps, clientId)).differences).toContainEqual({
      what: 'audit_record',
      id: subject,
      expected: 'an approval of each acceptance',
      found: `${differences.length} without approval`,
    })
  })

  it('counts from the use of its approval, so that a copy accepts nothing that came later', async () => {
    const { deps, clientId, differences } = await anAlteredSettlement()
    const [difference] = differences
    if (difference === undefined) throw new Error('nothing was found')
    const before = { ...difference, since: deps.now() }
    await accept(deps, difference, clientId)
    const [record] = (await readAuditRecords(deps, acceptedSubject(clientId))).records
    deps.clock.advance(60)
    const after = { ...difference, since: deps.now() }
    const approved = { ...Object(record?.after?.['approved']), used_at: deps.now() }
    await recordAcceptance(deps, clientId, { ...record?.after, approved })
    const { expected, found } = before
    const moved = { ...before, expected: Number(expected) + 1, found: Number(found) + 1 }

    expect(await unacceptedDifferences(deps, clientId, [moved, after])).toStrictEqual([after])
  })

  it('of a broken chain of acceptances counts, so that a lost record stops no payout for ever', async () => {
    const { deps, clientId, settlement, differences } = await anAlteredSettlement()
    for (const difference of differences) await accept(deps, difference, clientId)
    const subject = acceptedSubject(clientId)
    const { items } = await readAuditRecords(deps, subject)
    const firstItem = items.find((item) => item['number'] === 1)
    await erase(deps, keyOfRow(firstItem ?? {}))
    const { differences: found } = await auditLedger(deps, clientId)
    expect(found).toContainEqual(expect.objectContaining({ what: 'audit_record', id: subject }))

    for (const difference of found) await accept(deps, difference, clientId)

    expect(await payOut(deps, settlement)).toMatchObject({ status: 'manual_paid' })
  })

  it('of the gateway is in its list, and a change of it is a difference', async () => {
    const deps = memoryDeps()
    const difference = { what: 'batch', id: '7', expected: 'present', found: 'missing' }
    const found = new Map([['register', [difference]]])
    await recordDifferences(deps, 'gateway', found, { figuresAt: deps.now() })
    await accept(deps, difference)
    await expectHouseBalanced(deps)

    const { items } = await readAuditRecords(deps, acceptedSubject('gateway'))
    const [item = {}] = items
    const key = auditRecordKey(acceptedSubject('gateway'), String(item['at']), String(item['id']))
    const after = Object(item['after'])
    await alter(deps, key, { after: { ...after, id: '8' } })

    const broken = { what: 'audit_record', id: acceptedSubject('gateway') }
    expect((await auditWholeGateway(deps)).differences).toMatchObject([
      { ...broken, expected: 'a complete chain' },
      { ...broken, found: '1 without approval' },
    ])
  })

  it.each([
    ['bank details', setBank],
    ['a chain of records', changeRecord],
    ['an entry without a source', addEntry],
  ])('of %s covers no later change of the same row', async (_, change) => {
    const { deps, client, settlement } = await aSettledClient()
    const { clientId } = client
    await fail(deps, settlement)
    await recredit(deps, settlement)
    const openNow = async () => {
      const { differences } = await auditLedger(deps, clientId)
      deps.clock.advance(1)
      const standing = await standingOf(deps, { clientId })
      return { differences, open: await unacceptedDifferences(deps, clientId, standing) }
    }
    await change(deps, settlement, 1)
    for (const difference of (await openNow()).differences) await accept(deps, difference, clientId)
    expect((await openNow()).open).toStrictEqual([])

    await change(deps, settlement, 2)

    expect((await openNow()).open).not.toStrictEqual([])
  })

  const LONG_LIST = Array.from({ length: 300 }, (_, day) => ({ day: String(day) }))

  it.for([
    ['a long list', 'totals', LONG_LIST],
    ['a text with a hidden character', 'digest', 'x\u200b'],
  ] as const)('of %s is approved and stored by its digest', async ([, name, value]) => {
    const { deps, client, settlement } = await aSettledClient()
    const [total] = settlement.totals
    const altered = typeof value === 'string' ? value : value.map((one) => ({ ...total, ...one }))
    await alterSettlement(deps, settlement, { [name]: altered })
    const { differences } = await auditLedger(deps, client.clientId)
    const shown = differences.find(({ what }) => what === `settlement.${name}`)
    expect(shown?.found).toMatch(/^sha256 [0-9a-f]{64}$/)

    const asked = { client_id: client.clientId, ...shown, notes: 'explained', operator: OPERATOR }
    const refused = await invokeWhole('accept-difference', deps, asked)
    const approvable = askedApproval(Object(refused.body)['action_hint'])
    await invokeWhole('approve', deps, { ...approvable, operator: APPROVER })

    expect(await invokeWhole('accept-difference', deps, asked)).toMatchObject({
      status: 200,
      body: shown,
    })
  })
})
