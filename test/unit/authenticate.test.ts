import { randomBytes } from 'node:crypto'
import { describe, expect } from 'vitest'
import { apiKeyRow, apiKeyText, keyIdOf, revokeApiKey } from '../../shared/client/api-key-store.ts'
import { authenticate } from '../../shared/client/authenticate.ts'
import { changeClient } from '../../shared/client/client-store.ts'
import { apiKeyKey } from '../../shared/table/keys.ts'
import { put, update } from '../../shared/table/step.ts'
import { aClientId, aStoredClient, callerOf, issueKey } from '../support/payment-builders.ts'
import { interceptTable, memoryDeps, recordTable, testDeps } from '../support/test-deps.ts'
import { testWith } from '../support/test-with.ts'

const REFUSAL = { code: 'auth', message: 'invalid credentials' }

async function aClientWithKey(expiresInSeconds?: number) {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const { text, key, header } = await issueKey(deps, client.clientId, expiresInSeconds)
  const ask = (from = deps) => authenticate(from, header)
  const revoke = () =>
    revokeApiKey(deps, { clientId: client.clientId, keyId: key.keyId, operator: 'tester' })
  return { deps, otherEnvironment: { ...deps, memory: {} }, client, text, key, ask, revoke }
}
const it = testWith(() => aClientWithKey(), 'deps', 'client', 'text', 'key', 'ask')

describe('authenticate (spec 5)', () => {
  it('takes keys of the documented form, with the scheme in upper or lower case', async ({
    deps,
    client,
    text,
    key,
  }) => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect(await authenticate(deps, `${scheme} ${text}`)).toStrictEqual(callerOf(client))
    }
    expect(text).toMatch(new RegExp(`^gk_test_${client.clientId}_[A-Za-z0-9_-]{43}$`))
    expect(key.prefix).toBe(text.slice(0, `gk_test_${client.clientId}_`.length + 4))
  })

  it('refuses a text that is no key of this stage, without a read of the table', async ({
    deps,
    client,
    text,
  }) => {
    deps.lines.length = 0
    const watched = recordTable(deps)
    const keys = [
      '',
      `${text} `,
      `${text}\n`,
      `${text},Bearer ${text}`,
      `${text} ${text}`,
      `${text}x`,
      text.slice(0, -1),
      text.toUpperCase(),
      apiKeyText('production', client.clientId, Buffer.alloc(32, 7)),
      'A'.repeat(100_000),
      `gk_test_${'0'.repeat(36)}_${'A'.repeat(43)}`,
    ]
    const schemes = [
      undefined,
      '',
      'Bearer',
      text,
      `Basic ${text}`,
      ` Bearer ${text}`,
      `Bearer\t${text}`,
    ]

    for (const header of [...schemes, ...keys.map((key) => `Bearer ${key}`)]) {
      const error: unknown = await authenticate(watched.deps, header).catch(
        (thrown: unknown) => thrown,
      )

      expect(error).toMatchObject(REFUSAL)
      expect(error instanceof Error ? `${error.message} ${error.stack ?? ''}` : text).not.toContain(
        text,
      )
    }
    expect(watched.calls).toStrictEqual([])
    expect(deps.lines).toStrictEqual([])
  })

  it('refuses a stored key whose item names another client', async ({ deps, key, ask }) => {
    await deps.table.write(update(apiKeyKey(key.keyId), { set: { clientId: aClientId() } }))

    await expect(ask()).rejects.toMatchObject(REFUSAL)
  })

  it('refuses the keys of a client only while it is disabled', async ({ deps, client, ask }) => {
    const change = (enabled: boolean) =>
      changeClient(deps, { clientId: client.clientId, operator: 'tester', changes: { enabled } })
    await change(false)

    await expect(ask()).rejects.toMatchObject(REFUSAL)
    await change(true)

    expect(await ask()).toStrictEqual(callerOf(client))
  })

  it('refuses a key from the millisecond of its expiry on, also a cached key', async () => {
    const { deps, client, ask } = await aClientWithKey(10)
    deps.clock.advance(9.999)
    expect(await ask()).toStrictEqual(callerOf(client))

    deps.clock.advance(0.001)

    await expect(ask()).rejects.toMatchObject(REFUSAL)
  })

  it('reads a key once in 15 s and then again', async ({ deps, ask }) => {
    const watched = recordTable(deps)
    const reads: number[] = []

    for (const seconds of [0, 14.999, 0.001]) {
      deps.clock.advance(seconds)
      await ask(watched.deps)
      reads.push(watched.calls.length)
    }

    expect(reads).toStrictEqual([1, 1, 2])
  })

  it.each([
    ['within 15 s', 0, 15],
    ['within 15 s from before the read, so a slow read lengthens nothing', 10, 5],
    ['at once when the wall clock was set back', 0, -3_600],
  ])(
    'refuses a revoked key at once where it is not cached, and %s where it is cached',
    async (_case, readSeconds, passedSeconds) => {
      const { deps, otherEnvironment, ask, revoke } = await aClientWithKey()
      const cached = interceptTable(deps, { after: () => deps.clock.advance(readSeconds) })
      await ask(cached)
      await revoke()

      await expect(ask(otherEnvironment)).rejects.toMatchObject(REFUSAL)
      deps.clock.advance(passedSeconds)

      await expect(ask(cached)).rejects.toMatchObject(REFUSAL)
      deps.clock.advance(-passedSeconds)
      await expect(ask(cached)).rejects.toMatchObject(REFUSAL)
    },
  )

  it('keeps at most 1,000 keys and forgets the oldest first', async () => {
    const ownDeps = memoryDeps()
    const { clientId } = await aStoredClient(ownDeps)
    const issued = await issueKey(ownDeps, clientId)
    const headers = [issued.header]
    while (headers.length < 1_001) {
      const text = apiKeyText('test', clientId, randomBytes(32))
      const keyId = keyIdOf(text)
      await ownDeps.table.write(put(apiKeyKey(keyId), apiKeyRow({ ...issued.key, keyId })))
      headers.push(`Bearer ${text}`)
    }
    const { deps, calls } = recordTable(ownDeps)
    const readsAfter = async (keys: readonly string[]) => {
      for (const header of keys) await authenticate(deps, header)
      return calls.filter(({ name }) => name === 'batchGet').length
    }

    const reads = [
      await readsAfter(headers),
      await readsAfter([...headers.slice(1, 2), ...headers.slice(-1)]),
      await readsAfter(headers.slice(0, 1)),
    ]

    expect(reads).toStrictEqual([1_001, 1_001, 1_002])
  })
})
