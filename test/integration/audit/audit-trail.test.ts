/**
 * Goal: the audit finds each record that is changed or removed, and an action that failed leaves no
 * record.
 */
import { describe, expect } from 'vitest'
import { auditClient, auditLedger } from '../../../shared/audit/audit-client.ts'
import { changeClient } from '../../../shared/client/client-store.ts'
import { readAuditRecords, recordChange } from '../../../shared/operator/audit-record-store.ts'
import { auditHeadKey, auditRecordPk, clientKey } from '../../../shared/table/keys.ts'
import { DAY_MS } from '../../../shared/time.ts'
import { updateEndpoint } from '../../../shared/webhook/endpoint/change-endpoint.ts'
import { invokeAdmin, invokeWhole } from '../../support/operator-actions.ts'
import { aStoredClient, issueKey } from '../../support/payment-builders.ts'
import { standingOf } from '../../support/settlement-builders.ts'
import { alter, erase, keyOfRow, putRaw, rawItem } from '../../support/tampering.ts'
import { interceptTable, type TestDeps, testDeps } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'

async function aTrail() {
  const deps = testDeps()
  const { clientId } = await aStoredClient(deps)
  const rename = (name: string, renamingDeps = deps) =>
    changeClient(renamingDeps, { clientId, operator: 'ana', changes: { name } })
  for (const name of ['one', 'two']) {
    deps.clock.advance(1)
    await rename(name)
  }
  deps.clock.advance(1)
  const { endpointId } = await storedEndpoint(deps, { clientId })
  deps.clock.advance(1)
  await updateEndpoint(deps, {
    clientId,
    endpointId,
    operator: 'ana',
    enabled: false,
    eventTypes: undefined,
  })
  deps.clock.advance(1)
  const erasure = { subject: crypto.randomUUID(), operator: 'ana', action: 'erase-customer' }
  await recordChange(deps, { ...erasure, clientId }, {})
  const keysOf = async (subject: string) => {
    const { items } = await deps.table.query({ partition: [auditRecordPk(subject)], limit: 50 })
    return items.map(keyOfRow)
  }
  const auditNow = async () => {
    const { balanced, differences } = await auditLedger(deps, clientId)
    return { balanced, found: differences.map(({ what, id, found }) => [what, id, found]) }
  }
  return { deps, clientId, paymentId: erasure.subject, rename, keysOf, auditNow }
}
const it = testWith(aTrail, 'deps', 'clientId', 'auditNow', 'keysOf', 'rename', 'paymentId')

const INTACT_TRAIL = { balanced: true, found: [] }
function brokenTrailOf(subject: string) {
  return {
    balanced: false,
    found: expect.arrayContaining([['audit_record', subject, expect.any(String)]]),
  }
}

describe('the audit trail', () => {
  it('is complete when nothing was altered, and shows the whole change', async ({
    deps,
    clientId,
    auditNow,
  }) => {
    expect(await auditNow()).toStrictEqual(INTACT_TRAIL)
    const { records } = await readAuditRecords(deps, clientId)
    const shown = records.map(({ action, number }) => `${number} ${action}`)
    const changes = ['2 update-client', '3 update-client']
    const endpoints = ['4 register-endpoint', '5 update-endpoint']
    expect(shown).toStrictEqual(['1 create-client', ...changes, ...endpoints])
    expect((await readAuditRecords(deps, `${clientId}#HEAD`)).records).toStrictEqual([])
  })

  it.for([
    ['operator', 'other-operator'],
    ['at', '2026-01-01T00:00:00.000Z'],
    ['after', { name: 'three' }],
    ['request_id', 'r-1'],
    ['number', 7],
    ['number', undefined],
    ['operator', undefined],
    ['previous', 'x'],
  ] as const)(
    'finds any record whose %s became %j',
    async ([field, value], { deps, clientId, keysOf, auditNow }) => {
      for (const key of await keysOf(clientId)) {
        const record = await rawItem(deps, key)
        const { [field]: _, ...others } = record
        await putRaw(deps, value === undefined ? others : { ...record, [field]: value })

        expect(await auditNow()).toMatchObject(brokenTrailOf(clientId))
        const body = value === undefined ? { unreadable_ids: [key.sk] } : {}
        for (const subject of ['subject', 'client_id']) {
          const listed = await invokeAdmin('list-audit', deps, { [subject]: clientId })
          expect(listed).toMatchObject({ status: 200, body })
        }
        await putRaw(deps, record)
      }
      expect(await auditNow()).toStrictEqual(INTACT_TRAIL)
    },
  )

  it('finds a client that changed without a record, and shows no bank details', async ({
    deps,
    clientId,
  }) => {
    const bank = {
      bankName: 'BNI',
      bankAccountNo: '6660001',
      bankAccountName: 'PT',
      since: deps.now(),
    }
    await alter(deps, clientKey(clientId), { name: 'three', bank })

    const { differences } = await auditLedger(deps, clientId)

    const found = expect.stringMatching(/^sha256 [0-9a-f]{64}$/)
    expect(differences).toStrictEqual([
      { what: 'client.bank', id: clientId, expected: 'as derived', found },
      { what: 'client.name', id: clientId, expected: 'two', found: 'three' },
    ])
  })

  it('finds a missing record, even the newest, and a missing head', async ({
    deps,
    clientId,
    keysOf,
    auditNow,
  }) => {
    for (const key of [...(await keysOf(clientId)), auditHeadKey(clientId)]) {
      const record = await rawItem(deps, key)
      await erase(deps, key)

      expect(await auditNow()).toMatchObject(brokenTrailOf(clientId))
      await putRaw(deps, record)
    }
    const [key = auditHeadKey('')] = await keysOf(clientId)
    const extra = { ...(await rawItem(deps, key)), sk: `${deps.now()}#extra`, number: 'none' }
    await putRaw(deps, extra)
    expect((await auditNow()).found).toContainEqual(['audit_record', clientId, '1 unreadable'])
    await erase(deps, auditHeadKey(clientId))
    const problem = expect.stringContaining('the head does not name record 5')
    expect((await auditNow()).found).toContainEqual(['audit_record', clientId, problem])
  })

  it('is also checked for everything of the client, at any age', async ({
    deps,
    clientId,
    paymentId,
    keysOf,
    auditNow,
  }) => {
    const [key] = await keysOf(paymentId)
    await alter(deps, key ?? auditHeadKey(''), { operator: 'other-operator' })
    const brokenTrail = {
      balanced: false,
      found: [['audit_record', paymentId, expect.stringContaining('record 1')]],
    }

    expect(await auditNow()).toStrictEqual(brokenTrail)
    deps.clock.pass(4 * DAY_MS)
    expect(await auditNow()).toStrictEqual(brokenTrail)
    for (let day = 0; day < 3; day++) {
      await auditClient(deps, clientId)
      expect(await standingOf(deps, { clientId })).toMatchObject([{ id: paymentId }])
      deps.clock.pass(DAY_MS)
    }
  })

  it.for(['the trail’s head', 'the client'])(
    'refuses a change if other writers change %s at each try',
    async (target, { deps, clientId, rename, auditNow }) => {
      let made = 0
      const contended = interceptTable(deps, {
        before: async ({ name }) => {
          if (name !== 'transact') return
          await (target === 'the trail’s head' ? issueKey(deps, clientId) : rename(`w${made++}`))
        },
      })

      await expect(rename('three', contended)).rejects.toMatchObject({ code: 'conflict' })

      const { records } = await readAuditRecords(deps, clientId)
      expect(records.slice(5)).toHaveLength(5)
      expect(records).not.toContainEqual(
        expect.objectContaining({ after: expect.objectContaining({ name: 'three' }) }),
      )
      expect(await auditNow()).toStrictEqual(INTACT_TRAIL)
    },
  )

  it('keeps a record when the next record has the same time and id', async ({
    deps,
    rename,
    auditNow,
  }) => {
    const repeating = { ...deps, newId: () => 'id-1' }
    await rename('three', repeating)

    await expect(rename('four', repeating)).rejects.toMatchObject({ code: 'conflict' })

    expect(await auditNow()).toStrictEqual(INTACT_TRAIL)
  })
})

describe('list-audit (design section 7)', () => {
  const list = (deps: TestDeps, payload: object) => invokeAdmin('list-audit', deps, payload)

  it('shows all changes of a client and their request ids, in pages', async ({
    deps,
    clientId,
    paymentId,
  }) => {
    deps.clock.advance(1)
    const change = { operator: 'cid', client_id: clientId, name: 'four' }
    const { audit } = await invokeWhole('update-client', deps, change)
    expect(await invokeWhole('update-client', deps, change)).toMatchObject({
      status: 200,
      audit: undefined,
    })

    const { body } = await list(deps, { client_id: clientId, per_page: 2 })

    const renameRecord = {
      action: 'update-client',
      subject: clientId,
      before: { name: 'two' },
      after: { name: 'four' },
    }
    const erasureRecord = { operator: 'ana', subject: paymentId, request_id: null }
    const data = [{ ...Object(audit), ...renameRecord }, erasureRecord]
    expect(body).toMatchObject({ data, pagination: { page: 1, per_page: 2 } })
    const switchRecord = { action: 'update-endpoint', subject: clientId }
    const olderRecords = { data: [switchRecord, { action: 'register-endpoint' }] }
    expect(await list(deps, { client_id: clientId, per_page: 2, page: 2 })).toMatchObject({
      body: olderRecords,
    })
  })

  it('shows the actions on one object, and refuses a request that does not name either an object or a client', async ({
    deps,
    clientId,
    paymentId,
  }) => {
    const nothing = { status: 200, body: { data: [] } }
    const record = { operator: 'ana', action: 'erase-customer' }
    expect(await list(deps, { subject: paymentId })).toMatchObject({ body: { data: [record] } })
    const second = { data: [{ action: 'register-endpoint' }] }
    expect(await list(deps, { subject: clientId, page: 2, per_page: 1 })).toMatchObject({
      body: second,
    })
    expect(await list(deps, { subject: 'x'.repeat(500) })).toMatchObject(nothing)
    expect(await list(deps, { subject: 'x'.repeat(501) })).toMatchObject({ status: 422 })
    const refusal = { status: 422, body: { message: 'body: name subject or client_id' } }
    for (const payload of [{}, { subject: paymentId, client_id: paymentId }])
      expect(await list(deps, payload)).toMatchObject(refusal)
  })
})
