import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { handler as createClient } from '../../../functions/admin/create-client.ts'
import { handler as getClient } from '../../../functions/admin/get-client.ts'
import { handler as listClients } from '../../../functions/admin/list-clients.ts'
import { findClient } from '../../../shared/client/client-store.ts'
import { type ClientId, ClientIdSchema } from '../../../shared/ids.ts'
import { auditRecordPk, clientKey, windowKey } from '../../../shared/table/keys.ts'
import { put } from '../../../shared/table/step.ts'
import { aClient, aClientId } from '../../support/client-builders.ts'
import { recordTable } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { auditRecordsOf, invokeAdmin } from '../../support/operator-actions.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const BANK = { bank_name: 'BCA', bank_account_no: '0123456789', bank_account_name: 'PT Warung Kopi' }

const theId = (body: object): ClientId => v.parse(ClientIdSchema, Object(body).client_id)

/** Creates a client whose id has been given out before. */
const createTwin = (deps: TestDeps, clientId: ClientId) =>
  invokeAdmin(createClient, { ...deps, newId: () => clientId }, { operator: 'ana', name: 'Twin' })

const NO_URL = 'must be an https URL without user info'

describe('create-client (design section 7)', () => {
  it.each([
    ['operator', { operator: 'budi\nAll is well.' }],
    ['name', { name: 'Toko\u0007' }],
    ['bank.bank_name', { bank: { ...BANK, bank_name: 'BCA\u2028paid' } }],
    ['return_url', { return_url: 'https://merchant.example/\u202emoc' }],
  ])(
    'refuses control characters and line breaks in %s, as every action does, and writes nothing',
    async (field, fields) => {
      const deps = memoryDeps()

      const answer = await invokeAdmin(createClient, deps, { operator: 'ana', name: 'Toko', ...fields })

      expect(answer).toMatchObject({ status: 422, body: { field_errors: { [field]: [expect.any(String)] } } })
      expect(deps.stored.items('')).toStrictEqual([])
    },
  )

  it('registers a client from its name alone, with the defaults', async () => {
    const deps = testDeps()

    const answer = await invokeAdmin(createClient, deps, { operator: 'ana', name: '  Warung Kopi ' })

    const client = {
      client_id: theId(answer.body),
      name: 'Warung Kopi',
      enabled: true,
      settlement_floor_minor: 10_000,
      bank: null,
      bank_since: null,
      bank_is_change: false,
      return_url: null,
      rate_limit_per_second: null,
      payout_hold: null,
      ledger_parts: 1,
      created_at: deps.now(),
    }
    expect(answer).toStrictEqual({ status: 200, body: client })
    expect(await invokeAdmin(getClient, deps, { client_id: client.client_id })).toStrictEqual(answer)
  })

  it('keeps everything it was given, and writes window and audit record with the client', async () => {
    const deps = testDeps()
    const fields = {
      name: 'Toko Buku',
      enabled: false,
      settlement_floor_minor: 0,
      bank: BANK,
      return_url: 'https://toko.example/thanks',
      rate_limit_per_second: 50,
    }

    const { body } = await invokeAdmin(createClient, deps, { operator: 'ana', ...fields })

    const clientId = theId(body)
    const known = {
      payout_hold: null,
      ledger_parts: 1,
      bank_since: deps.now(),
      bank_is_change: false,
      created_at: deps.now(),
    }
    expect(body).toStrictEqual({ client_id: clientId, ...fields, ...known })
    expect(await deps.table.get(windowKey(clientId))).toStrictEqual({
      ...windowKey(clientId),
      settledUntil: deps.now(),
      closedUntil: deps.now(),
      availableMinor: 0,
      inSettlementMinor: 0,
      paidOutMinor: 0,
      writtenOffMinor: 0,
      parts: 1,
    })
    const { items } = await deps.table.query({ partition: [auditRecordPk(clientId)], limit: 100 })
    expect(items).toMatchObject([{ operator: 'ana', action: 'create-client', after: body, at: deps.now() }])
    expect(items[0]).not.toHaveProperty('before')
  })

  it('is born with parts that are in force at once', async () => {
    const deps = testDeps()
    const asked = { operator: 'ana', name: 'x', ledger_parts: 4 }

    const { status, body } = await invokeAdmin(createClient, deps, asked)

    const clientId = theId(body)
    expect([status, body]).toMatchObject([200, { ledger_parts: 4 }])
    expect(await deps.table.get(windowKey(clientId))).toMatchObject({ parts: 4 })
    expect((await findClient(deps, clientId))?.ledgerParts).toStrictEqual({ number: 4, before: 4, from: deps.now() })
  })

  it('writes nothing at all when the window is refused', async () => {
    const deps = testDeps()
    const clientId = aClientId()
    await deps.table.write(put(windowKey(clientId), { settledUntil: deps.now() }))

    const answer = await createTwin(deps, clientId)

    expect(answer.status).toBe(500)
    expect(await findClient(deps, clientId)).toBeUndefined()
    expect(await auditRecordsOf(deps, clientId)).toStrictEqual([])
  })

  it('refuses an id that is taken instead of overwriting its client', async () => {
    const deps = testDeps()
    const client = aClient()
    await deps.table.write(put(clientKey(client.clientId), client))

    const answer = await createTwin(deps, client.clientId)

    expect(answer.status).toBe(500)
    expect(await findClient(deps, client.clientId)).toStrictEqual(client)
    expect(await deps.table.get(windowKey(client.clientId))).toBeUndefined()
  })

  it.each([
    [{ operator: ' ' }, 'operator', 'must name who requests the change'],
    [{ name: undefined }, 'name', 'required'],
    [{ name: ' ' }, 'name', 'must not be empty'],
    [{ name: 'x'.repeat(256) }, 'name', 'at most 255 characters'],
    [{ settlement_floor_minor: -1 }, 'settlement_floor_minor', 'must be >= 0'],
    [{ settlement_floor_minor: null }, 'settlement_floor_minor', expect.any(String)],
    [{ bank: { bank_name: 'BCA' } }, 'bank.bank_account_no', 'required'],
    [{ bank: { ...BANK, swift: 'x' } }, 'bank.swift', 'unknown field'],
    [{ return_url: 'http://a.example' }, 'return_url', NO_URL],
    [{ return_url: 'https://u:p@a.example' }, 'return_url', NO_URL],
    [{ rate_limit_per_second: 0 }, 'rate_limit_per_second', 'must be at least 1'],
    [{ rate_limit_per_second: 1.5 }, 'rate_limit_per_second', 'must be an integer'],
  ])('refuses %j, naming %s', async (payload, field, reason) => {
    const right = { operator: 'ana', name: 'x' }

    const { status, body } = await invokeAdmin(createClient, testDeps(), { ...right, ...payload })

    expect(status).toBe(422)
    expect(body).toMatchObject({ code: 'validation', field_errors: { [field]: [reason] } })
  })
})

it('an operator action does not read for an id of a wrong shape', async () => {
  const deps = testDeps()
  const watched = recordTable(deps)

  await invokeAdmin(getClient, watched.deps, { client_id: 'CLIENT' })

  expect(watched.calls).toStrictEqual([])
})

it('list-clients (design section 7) pages through all clients, newest first', async () => {
  const deps = memoryDeps()
  const names: string[] = []
  for (const client of ['one', 'two', 'three']) {
    deps.clock.advance(1)
    await aStoredClient(deps, { name: client })
  }

  for (const page of [1, 2, 3]) {
    const { body } = await invokeAdmin(listClients, deps, { page, per_page: 2 })
    expect(body).toMatchObject({ pagination: { page, per_page: 2 } })
    names.push(...Object(body).data.map((client: { name: string }) => client.name))
  }

  expect(names).toStrictEqual(['three', 'two', 'one'])
  expect((await invokeAdmin(listClients, deps, {})).body).toMatchObject({ pagination: { page: 1, per_page: 25 } })
})
