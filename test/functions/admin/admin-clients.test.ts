import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { readTrail } from '../../../shared/audit/judged/audit-trails.ts'
import { CLIENTS_SUBJECT, registrationKey } from '../../../shared/client/client-register.ts'
import { type ClientId, ClientIdSchema } from '../../../shared/ids.ts'
import { auditRecordPk, clientKey, shardKey, windowKey } from '../../../shared/table/keys.ts'
import { put } from '../../../shared/table/step.ts'
import { auditRecordsOf, invokeAdmin, TYPED_BANK } from '../../support/operator-actions.ts'
import { aClient, aClientId, aStoredClient } from '../../support/payment-builders.ts'
import { interceptTable, memoryDeps, testDeps } from '../../support/test-deps.ts'

function clientIdOf(body: object) {
  return v.parse(ClientIdSchema, Object(body).client_id)
}

const DEFAULTS = {
  enabled: true,
  settlement_floor_minor: 10_000,
  bank: null,
  bank_since: null,
  bank_is_change: false,
  had_bank: false,
  return_url: null,
  rate_limit_per_second: null,
  payout_hold: null,
}

describe('create-client (design section 7)', () => {
  it('registers a client with only a name, and uses the defaults', async () => {
    const deps = testDeps()

    const answer = await invokeAdmin('create-client', deps, {
      operator: 'ana',
      name: '  Warung Kopi ',
    })

    const client = {
      client_id: clientIdOf(answer.body),
      ...DEFAULTS,
      name: 'Warung Kopi',
      created_at: deps.now(),
    }
    expect(answer).toStrictEqual({ status: 200, body: client })
    expect(await invokeAdmin('get-client', deps, { client_id: client.client_id })).toStrictEqual(
      answer,
    )
  })

  it('stores every field, and writes the window and the audit records', async () => {
    const deps = memoryDeps()
    const fields = {
      name: '😀'.repeat(255),
      enabled: false,
      settlement_floor_minor: 0,
      bank: TYPED_BANK,
      return_url: 'https://toko.example/thanks',
      rate_limit_per_second: 50,
      payout_hold: 'not checked yet',
    }

    const { body } = await invokeAdmin('create-client', deps, { operator: 'ana', ...fields })

    const [clientId, now] = [clientIdOf(body), deps.now()]
    expect(body).toStrictEqual({
      ...DEFAULTS,
      ...fields,
      client_id: clientId,
      bank_since: now,
      created_at: now,
    })
    const window = {
      ...windowKey(clientId),
      availableMinor: 0,
      inSettlementMinor: 0,
      paidOutMinor: 0,
      writtenOffMinor: 0,
      settledUntil: now,
      closedUntil: now,
    }
    expect(await deps.table.get(windowKey(clientId))).toStrictEqual(window)
    const { items } = await deps.table.query({ partition: [auditRecordPk(clientId)], limit: 100 })
    expect(items).toMatchObject([
      { operator: 'ana', action: 'create-client', after: body, at: deps.now() },
    ])
    expect(items[0]).not.toHaveProperty('before')
    const registration = await deps.table.get(registrationKey({ clientId, createdAt: now }))
    expect(registration).toMatchObject({ number: 1, after: { client_id: clientId } })
    expect(registration).not.toHaveProperty('owner')
  })

  it('answers 409 and writes nothing when other clients are registered during each try', async () => {
    const deps = memoryDeps()
    const raced = interceptTable(deps, {
      before: ({ name }) => (name === 'transact' ? aStoredClient(deps) : undefined),
    })

    const answer = await invokeAdmin('create-client', raced, { operator: 'ana', name: 'Late' })

    expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(deps.stored.items('CLIENT#')).toHaveLength(5)
    expect((await readTrail(deps, CLIENTS_SUBJECT, undefined)).records).toHaveLength(5)
  })

  it.each([
    [
      'window',
      (clientId: ClientId) =>
        put(windowKey(clientId), { settledUntil: '2026-11-20T00:00:00.000Z' }),
    ],
    [
      'shard',
      (clientId: ClientId) =>
        put(shardKey(clientId, 3), { closedUntil: '2026-11-20T00:00:00.000Z' }),
    ],
    ['client', (clientId: ClientId) => put(clientKey(clientId), aClient({ clientId }))],
  ])('fails and writes nothing when a %s with its id exists', async (_, stepOf) => {
    const deps = testDeps()
    const clientId = aClientId()
    const step = stepOf(clientId)
    await deps.table.write(step)
    const before = await deps.table.get(step.key)

    const twin = invokeAdmin(
      'create-client',
      { ...deps, newId: () => clientId },
      { operator: 'ana', name: 'Twin' },
    )

    expect((await twin).status).toBe(500)
    const found = await deps.table.getMany([
      windowKey(clientId),
      shardKey(clientId, 3),
      clientKey(clientId),
    ])
    expect(found.filter((item) => item !== undefined)).toStrictEqual([before])
    expect(await auditRecordsOf(deps, clientId)).toStrictEqual([])
  })

  it.each<readonly [object, string, unknown]>([
    [{ operator: 'budi\nAll is well.' }, 'operator', expect.any(String)],
    [{ bank: { ...TYPED_BANK, bank_name: 'BCA\u2028paid' } }, 'bank.bank_name', expect.any(String)],
    [{ bank: { ...TYPED_BANK, bank_name: 'Bank X' } }, 'bank.bank_name', expect.any(String)],
    [
      { bank: { ...TYPED_BANK, bank_account_no: '012345678' } },
      'bank.bank_account_no',
      'must have 10 digits at BCA, and has 9',
    ],
    ...['\u200b', '\u00ad', '\u2060', '\u115f', '\u202e'].map(
      (hidden) => [{ name: `Kopi${hidden}` }, 'name', expect.any(String)] as const,
    ),
    [{ name: undefined }, 'name', 'required'],
    [{ name: 'x'.repeat(256) }, 'name', 'at most 255 characters'],
    [{ settlement_floor_minor: -1 }, 'settlement_floor_minor', 'must be >= 0'],
    [{ bank: { bank_name: 'BCA' } }, 'bank.bank_account_no', 'required'],
    [{ bank: { ...TYPED_BANK, swift: 'x' } }, 'bank.swift', 'unknown field'],
    ...[
      'http://a.example',
      ' https://a.example',
      'https://a.example\\b',
      'https://u:p@a.example',
    ].map(
      (return_url) =>
        [{ return_url }, 'return_url', 'must be an https URL without user info'] as const,
    ),
    [
      { return_url: `https://a.example/${'./'.repeat(1_024)}` },
      'return_url',
      'at most 2048 characters',
    ],
    [{ rate_limit_per_second: 0 }, 'rate_limit_per_second', 'must be at least 1'],
    [{ rate_limit_per_second: 1.5 }, 'rate_limit_per_second', 'must be an integer'],
  ])('refuses %j with an error for %s, and writes nothing', async (payload, field, reason) => {
    const deps = memoryDeps()

    const answer = await invokeAdmin('create-client', deps, {
      operator: 'ana',
      name: 'x',
      ...payload,
    })

    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'validation', field_errors: { [field]: [reason] } },
    })
    expect(deps.stored.items('')).toStrictEqual([])
  })
})

it('list-clients (design section 7) pages through all clients, newest first', async () => {
  const deps = memoryDeps()
  for (const client of ['one', 'two', 'three']) {
    deps.clock.advance(1)
    await aStoredClient(deps, { name: client })
  }

  const queries = [{ page: 1, per_page: 2 }, { page: 2, per_page: 2 }, {}]
  const pages = await Promise.all(queries.map((page) => invokeAdmin('list-clients', deps, page)))

  expect(pages.map(({ body }) => body)).toMatchObject([
    { data: [{ name: 'three' }, { name: 'two' }], pagination: queries[0] },
    { data: [{ name: 'one' }], pagination: queries[1] },
    { pagination: { page: 1, per_page: 25 } },
  ])
})
