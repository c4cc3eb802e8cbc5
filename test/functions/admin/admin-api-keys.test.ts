import { describe, expect } from 'vitest'
import { type ApiKey, keyIdOf } from '../../../shared/client/api-key-store.ts'
import { authenticate } from '../../../shared/client/authenticate.ts'
import { runInBackground } from '../../../shared/runtime/runtime-deps.ts'
import { apiKeyKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { invokeAdmin, withClient } from '../../support/operator-actions.ts'
import { aStoredClient, callerOf, issueKey } from '../../support/payment-builders.ts'
import { recordTable } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'

const it = testWith(() => withClient(), 'deps', 'client', 'act', 'clientId', 'trail')

function shownKey({ keyId, clientId, prefix, createdAt }: Partial<ApiKey>, overrides: object = {}) {
  return {
    key_id: keyId,
    client_id: clientId,
    prefix,
    permissions: 'full',
    created_at: createdAt,
    expires_at: null,
    revoked_at: null,
    last_used_on: null,
    ...overrides,
  }
}

describe('issue-api-key (design section 7)', () => {
  it('answers a working key once, and stores only its hash', async ({
    deps,
    client,
    act,
    trail,
  }) => {
    deps.clock.advance(1)

    const { status, body } = await act('issue-api-key')

    const text = String(Object(body)['api_key'])
    const keyId = keyIdOf(text)
    expect(status).toBe(200)
    const prefix = text.slice(0, `gk_test_${client.clientId}_`.length + 4)
    const key = { keyId, clientId: client.clientId, prefix, createdAt: deps.now() }
    expect(body).toStrictEqual({ api_key: text, ...shownKey(key) })
    expect(await authenticate(deps, `Bearer ${text}`)).toStrictEqual(callerOf(client))
    expect(deps.published).toMatchObject([
      { kind: 'client.access_changed', message: expect.stringContaining(`API key ${prefix}…`) },
    ])
    const records = await trail()
    const stored = JSON.stringify([await deps.table.get(apiKeyKey(keyId)), records, deps.lines])
    expect(stored).toContain(keyId)
    expect(stored).not.toContain(text.slice(-43))
    expect(records.slice(1)).toMatchObject([{ action: 'issue-api-key', operator: 'ana' }])
  })

  it.for([
    ...[0, -1, 1.5, '60', 315_360_001].map((expiry) => ['expires_in_seconds', expiry]),
    ['permissions', 'write_only'],
  ])('refuses %s of %j', async ([name, value], { act }) => {
    const answer = await act('issue-api-key', { [String(name)]: value })

    expect(answer).toMatchObject({
      status: 422,
      body: { field_errors: { [String(name)]: [expect.any(String)] } },
    })
  })

  it('issues a key with its permissions, which expires after the stage’s lifetime, or never for null', async ({
    deps,
    act,
  }) => {
    const shortLived = { ...deps, stage: { ...deps.stage, keyLifetimeDays: 2 } }

    for (const [input, expires_at] of [
      [{}, addMs(deps.now(), 2 * DAY_MS)],
      [{ expires_in_seconds: null }, null],
      [{ expires_in_seconds: 315_360_000 }, addMs(deps.now(), 3_650 * DAY_MS)],
    ] as const) {
      const { body } = await act(
        'issue-api-key',
        { ...input, permissions: 'read_only' },
        shortLived,
      )
      expect(body).toMatchObject({ permissions: 'read_only', expires_at })
    }
    expect((await act('issue-api-key')).body).toMatchObject({ expires_at: null })
  })

  it('never overwrites an existing key', async ({ deps, clientId, act, trail }) => {
    const repeating = { ...deps, randomBytes: (length: number) => Buffer.alloc(length, clientId) }
    const { key } = await issueKey(repeating, clientId)
    deps.clock.advance(60)

    expect((await act('issue-api-key', {}, repeating)).status).toBe(500)
    expect(await deps.table.get(apiKeyKey(key.keyId))).toMatchObject({ createdAt: key.createdAt })
    expect(await trail()).toHaveLength(2)
  })
})

describe('revoke-api-key (design section 7)', () => {
  it('answers repeated and concurrent revocations with the first time', async ({
    deps,
    clientId,
    act,
    trail,
  }) => {
    const { key } = await issueKey(deps, clientId)
    const payload = { key_id: key.keyId }
    const ticking = { ...deps, now: () => (deps.clock.advance(1), deps.clock.now()) }

    const together = await Promise.all([1, 2, 3].map(() => act('revoke-api-key', payload, ticking)))
    deps.clock.advance(3_600)
    const later = await act('revoke-api-key', payload)

    for (const answer of together) expect(answer).toStrictEqual(later)
    const revocations = (await trail()).filter(({ action }) => action === 'revoke-api-key')
    const before = { key_id: key.keyId, revoked_at: null }
    expect(revocations).toMatchObject([{ before }])
  })

  it('answers 404 for another client’s key, an unknown key and an invalid key id', async ({
    deps,
    act,
  }) => {
    const stranger = await aStoredClient(deps)
    const { key, header } = await issueKey(deps, stranger.clientId)
    const keyIds = [key.keyId, keyIdOf('never issued'), 'x', 'x'.repeat(3_000), '']

    const answers = await Promise.all(
      keyIds.map((keyId) => act('revoke-api-key', { key_id: keyId })),
    )

    const refusal = { status: 404, body: { code: 'not_found', message: 'api key not found' } }
    for (const answer of answers) expect(answer).toStrictEqual(refusal)
    expect(await authenticate(deps, header)).toStrictEqual(callerOf(stranger))
  })
})

describe('list-api-keys (design section 7)', () => {
  it('shows a key’s last day of use, which each environment tries to write once a day', async ({
    deps,
    clientId,
    act,
  }) => {
    await issueKey(deps, clientId)
    deps.clock.advance(1)
    const { key, header } = await issueKey(deps, clientId)
    const watched = recordTable(deps)
    const begunWork: Promise<unknown>[] = []
    const begin = (work: () => Promise<unknown>) => void begunWork.push(work())
    const environment = () => ({ ...watched.deps, memory: {}, runInBackground: begin })
    const [first, second] = [environment(), environment()]
    const useKey = async () => {
      for (const used of [first, second, first]) await authenticate(used, header)
      const outcomes = await Promise.all(begunWork.splice(0))
      const { body } = await act('list-api-keys')
      const applied = outcomes.filter((outcome) => Object(outcome)['applied'])
      return [outcomes.length, applied.length, Object(body)['data'][0].last_used_on]
    }
    const dayOf = () => deps.now().slice(0, 10)

    expect(Object((await act('list-api-keys')).body)['data'][0].last_used_on).toBe(null)
    expect(await useKey()).toStrictEqual([2, 1, dayOf()])
    expect(await useKey()).toStrictEqual([0, 0, dayOf()])
    deps.clock.advance(86_400)
    expect(await useKey()).toStrictEqual([2, 1, dayOf()])
    expect(await act('revoke-api-key', { key_id: key.keyId })).toMatchObject({
      body: { last_used_on: dayOf() },
    })
    expect((await act('list-api-keys')).body).toMatchObject({
      data: [{ last_used_on: dayOf() }, { last_used_on: null }],
    })
  })

  it('lets no request wait for the write of the day of use, or fail with that write', async ({
    deps,
    client,
    clientId,
  }) => {
    const { header } = await issueKey(deps, clientId)
    const hangingDeps = {
      ...deps,
      table: { ...deps.table, write: () => new Promise<never>(() => {}) },
    }
    const failingDeps = {
      ...deps,
      table: { ...deps.table, write: async () => Promise.reject(new Error('no table')) },
    }

    for (const faultyDeps of [hangingDeps, failingDeps])
      expect(await authenticate({ ...faultyDeps, runInBackground }, header)).toStrictEqual(
        callerOf(client),
      )
  })

  it('lists all keys of a client without their texts, newest first', async ({
    deps,
    clientId,
    act,
  }) => {
    await issueKey(deps, (await aStoredClient(deps)).clientId)
    const first = await issueKey(deps, clientId)
    deps.clock.advance(1)
    const second = await issueKey(deps, clientId, 60)
    await act('revoke-api-key', { key_id: first.key.keyId })

    expect((await invokeAdmin('list-api-keys', deps, { client_id: clientId })).body).toStrictEqual({
      data: [
        shownKey(second.key, { expires_at: second.key.expiresAt }),
        shownKey(first.key, { revoked_at: deps.now() }),
      ],
      pagination: { page: 1, per_page: 25 },
    })
  })
})
