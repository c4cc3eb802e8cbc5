import { describe, expect, it } from 'vitest'
import { handler as getClient } from '../../../functions/admin/get-client.ts'
import { handler as updateClient } from '../../../functions/admin/update-client.ts'
import { changeClient, findClient } from '../../../shared/client/client-store.ts'
import { ZERO } from '../../../shared/money.ts'
import { auditRecordPk } from '../../../shared/table/keys.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const BANK = { bank_name: 'BCA', bank_account_no: '0123456789', bank_account_name: 'PT Warung Kopi' }

const auditRecordsOf = async (deps: TestDeps, subject: string) => {
  const { items } = await deps.table.query({ partition: [auditRecordPk(subject)], limit: 100 })
  return items.map(({ operator, action, before, after, at }) => ({ operator, action, before, after, at }))
}

describe('update-client (design section 7)', () => {
  it('changes only what is given and records before and after', async () => {
    const deps = testDeps()
    const { clientId } = await aStoredClient(deps, { returnUrl: 'https://old.example/' })
    const { body: before } = await invokeAdmin(getClient, deps, { client_id: clientId })
    deps.clock.advance(60)

    const answer = await invokeAdmin(updateClient, deps, {
      operator: 'budi',
      client_id: clientId,
      settlement_floor_minor: 25_000,
      bank: BANK,
    })

    const after = { ...before, settlement_floor_minor: 25_000, bank: BANK }
    expect(answer).toStrictEqual({ status: 200, body: after })
    expect((await invokeAdmin(getClient, deps, { client_id: clientId })).body).toStrictEqual(after)
    expect((await auditRecordsOf(deps, clientId)).slice(1)).toStrictEqual([
      { operator: 'budi', action: 'update-client', before, after, at: deps.now() },
    ])
  })

  it('clears optional fields with null', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps, {
      bank: { bankName: 'BCA', bankAccountNo: '1', bankAccountName: 'A' },
      returnUrl: 'https://old.example/',
      rateLimitPerSecond: 5,
    })

    await invokeAdmin(updateClient, deps, {
      operator: 'ana',
      client_id: client.clientId,
      bank: null,
      return_url: null,
      rate_limit_per_second: null,
    })

    const { bank, returnUrl, rateLimitPerSecond, ...rest } = client
    expect([bank, returnUrl, rateLimitPerSecond]).not.toContain(undefined)
    expect(await findClient(deps, client.clientId)).toStrictEqual(rest)
  })

  it('answers a repeated change the same, without a second record', async () => {
    const deps = testDeps()
    const { clientId } = await aStoredClient(deps)
    const payload = { operator: 'ana', client_id: clientId, enabled: false, bank: BANK }
    const first = await invokeAdmin(updateClient, deps, payload)

    const second = await invokeAdmin(updateClient, deps, payload)

    expect(second).toStrictEqual(first)
    expect(await auditRecordsOf(deps, clientId)).toHaveLength(2)
  })

  it('keeps both changes of two operators at once, and each record says what was really there before', async () => {
    const deps = testDeps()
    const { clientId } = await aStoredClient(deps, { name: 'v0', settlementFloorMinor: ZERO })

    await Promise.all([
      invokeAdmin(updateClient, deps, { operator: 'ana', client_id: clientId, name: 'v1' }),
      invokeAdmin(updateClient, deps, { operator: 'budi', client_id: clientId, name: 'v2' }),
      invokeAdmin(updateClient, deps, { operator: 'citra', client_id: clientId, settlement_floor_minor: 5 }),
    ])

    const trail = await auditRecordsOf(deps, clientId)
    const renames = trail.filter(({ operator }) => operator === 'ana' || operator === 'budi')
    const chain = new Map(renames.map(({ before, after }) => [String(Object(before).name), String(Object(after).name)]))
    const client = await findClient(deps, clientId)
    expect(client?.settlementFloorMinor).toBe(5)
    expect(chain.get(chain.get('v0') ?? '')).toBe(client?.name)
  })

  it('gives up with a conflict when others change the same field every time, and writes nothing', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps, { name: 'v0' })
    let changes = 0
    const busy = interceptTable(deps, {
      after: async ({ name }) => {
        if (name !== 'get') return
        await changeClient(deps, { clientId: client.clientId, operator: 'x', changes: { name: `w${changes++}` } })
      },
    })

    const answer = await invokeAdmin(updateClient, busy, { operator: 'ana', client_id: client.clientId, name: 'mine' })

    expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect((await findClient(deps, client.clientId))?.name).toBe('w4')
    expect((await auditRecordsOf(deps, client.clientId)).some(({ operator }) => operator === 'ana')).toBe(false)
  })

  it('refuses an empty change and unknown fields', async () => {
    const deps = testDeps()
    const { clientId } = await aStoredClient(deps)

    const empty = await invokeAdmin(updateClient, deps, { operator: 'ana', client_id: clientId })
    const unknown = await invokeAdmin(updateClient, deps, { operator: 'ana', client_id: clientId, created_at: 'x' })

    expect(empty).toMatchObject({ status: 422, body: { message: 'body: name a field to change' } })
    expect(unknown).toMatchObject({ status: 422, body: { field_errors: { created_at: ['unknown field'] } } })
  })
})
