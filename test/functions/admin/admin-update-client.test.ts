import { describe, expect, it } from 'vitest'
import { handler as getClient } from '../../../functions/admin/get-client.ts'
import { handler as updateClient } from '../../../functions/admin/update-client.ts'
import { changeClient, findClient } from '../../../shared/client/client-store.ts'
import { ZERO } from '../../../shared/money.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { auditRecordsOf, invokeAdmin } from '../../support/operator-actions.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const BANK = { bank_name: 'BCA', bank_account_no: '0123456789', bank_account_name: 'PT Warung Kopi' }

/** A merchant, and what an operator asks to be changed of it. */
const aMerchant = async (fields: Parameters<typeof aStoredClient>[1] = {}) => {
  const deps = testDeps()
  const client = await aStoredClient(deps, fields)
  const { clientId } = client
  const change = (input: object, own: TestDeps = deps) =>
    invokeAdmin(updateClient, own, { operator: 'ana', client_id: clientId, ...input })
  const shown = async () => (await invokeAdmin(getClient, deps, { client_id: clientId })).body
  return {
    deps,
    client,
    change,
    shown,
    trail: () => auditRecordsOf(deps, clientId),
    now: () => findClient(deps, clientId),
  }
}

describe('update-client (design section 7)', () => {
  it('changes only what is given and records before and after', async () => {
    const { deps, change, shown, trail } = await aMerchant({ returnUrl: 'https://old.example/' })
    const before = await shown()
    const changes = { settlement_floor_minor: 25_000, bank: BANK }
    deps.clock.advance(60)

    const answer = await change({ operator: 'budi', ...changes })

    const after = { ...before, ...changes }
    expect(answer).toStrictEqual({ status: 200, body: after })
    expect(await shown()).toStrictEqual(after)
    expect((await trail()).slice(1)).toStrictEqual([{ operator: 'budi', action: 'update-client', before, after }])
  })

  it('clears optional fields with null', async () => {
    const { client, change, now } = await aMerchant({
      bank: { bankName: 'BCA', bankAccountNo: '1', bankAccountName: 'A' },
      returnUrl: 'https://old.example/',
      rateLimitPerSecond: 5,
    })

    await change({ bank: null, return_url: null, rate_limit_per_second: null })

    const { bank, returnUrl, rateLimitPerSecond, ...rest } = client
    expect([bank, returnUrl, rateLimitPerSecond]).not.toContain(undefined)
    expect(await now()).toStrictEqual(rest)
  })

  it('answers a repeated change the same, without a second record', async () => {
    const { change, trail } = await aMerchant()
    const first = await change({ enabled: false, bank: BANK })

    const second = await change({ enabled: false, bank: BANK })

    expect(second).toStrictEqual(first)
    expect(await trail()).toHaveLength(2)
  })

  it('keeps both changes of two operators at once, and each record says what was really there before', async () => {
    const { change, trail, now } = await aMerchant({ name: 'v0', settlementFloorMinor: ZERO })

    await Promise.all([
      change({ operator: 'ana', name: 'v1' }),
      change({ operator: 'budi', name: 'v2' }),
      change({ operator: 'citra', settlement_floor_minor: 5 }),
    ])

    const renames = (await trail()).filter(({ operator }) => operator === 'ana' || operator === 'budi')
    const chain = new Map(renames.map(({ before, after }) => [String(Object(before).name), String(Object(after).name)]))
    const client = await now()
    expect(client?.settlementFloorMinor).toBe(5)
    expect(chain.get(chain.get('v0') ?? '')).toBe(client?.name)
  })

  it('gives up with a conflict when others change the same field every time, and writes nothing', async () => {
    const { deps, client, change, trail, now } = await aMerchant({ name: 'v0' })
    let changes = 0
    const busy = interceptTable(deps, {
      after: async ({ name }) => {
        if (name !== 'get') return
        await changeClient(deps, { clientId: client.clientId, operator: 'x', changes: { name: `w${changes++}` } })
      },
    })

    const answer = await change({ name: 'mine' }, busy)

    expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect((await now())?.name).toBe('w9')
    expect((await trail()).some(({ operator }) => operator === 'ana')).toBe(false)
  })

  it('refuses an empty change', async () => {
    const { change } = await aMerchant()

    expect(await change({})).toMatchObject({ status: 422, body: { message: 'body: name a field to change' } })
  })
})
