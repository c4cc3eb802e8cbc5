import { BatchGetCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import { describe, expect, inject, it } from 'vitest'
import { apiKeyText, keyIdOf } from '../../shared/client/api-key.ts'
import { revokeApiKey } from '../../shared/client/api-key-store.ts'
import { authenticate } from '../../shared/client/authenticate.ts'
import { changeClient } from '../../shared/client/client-store.ts'
import { apiKeyKey } from '../../shared/table/keys.ts'
import { put } from '../../shared/table/step.ts'
import { aClientId, issueKey, registerClient } from '../support/client-builders.ts'
import { interceptTable, recordTable } from '../support/intercept-table.ts'
import { type TestDeps, testDeps } from '../support/test-deps.ts'

const refused = { code: 'auth', message: 'invalid credentials' }

const withKey = async (deps: TestDeps, expiresInSeconds?: number) => {
  const client = await registerClient(deps)
  return { client, ...(await issueKey(deps, client.clientId, expiresInSeconds)) }
}

/** A second environment on the same table: it shares no cache with the first. */
const anotherEnvironment = (deps: TestDeps): TestDeps => ({ ...deps, table: { ...deps.table } })

describe('authenticate (spec 5)', () => {
  it('answers the client of a valid key, with the scheme in any case', async () => {
    const deps = testDeps()
    const { client, text } = await withKey(deps)

    const clients = await Promise.all(
      ['Bearer', 'bearer', 'BEARER'].map((scheme) => authenticate(deps, `${scheme} ${text}`)),
    )

    expect(clients).toStrictEqual([client, client, client])
  })

  it('issues keys of the documented form', async () => {
    const deps = testDeps()

    const { client, text, key } = await withKey(deps)

    expect(text).toMatch(new RegExp(`^gk_test_${client.clientId}_[A-Za-z0-9_-]{43}$`))
    expect(key.prefix).toBe(text.slice(0, `gk_test_${client.clientId}_`.length + 4))
  })

  it('refuses whatever is not one key of this stage, without reading the table', async () => {
    const deps = testDeps()
    const { client, text } = await withKey(deps)
    const watched = recordTable(deps)
    const headers = [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      text,
      `Basic ${text}`,
      `Bearer ${text} `,
      ` Bearer ${text}`,
      `Bearer\t${text}`,
      `Bearer ${text}\n`,
      `Bearer ${text},Bearer ${text}`,
      `Bearer ${text} ${text}`,
      `Bearer ${text}x`,
      `Bearer ${text.slice(0, -1)}`,
      `Bearer ${text.toUpperCase()}`,
      `Bearer ${apiKeyText('production', client.clientId, Buffer.alloc(32, 7))}`,
      `Bearer gk_test_${'0'.repeat(36)}_${'A'.repeat(43)}`,
      `Bearer ${'A'.repeat(100_000)}`,
    ]

    const answers = await Promise.allSettled(headers.map((header) => authenticate(watched.deps, header)))

    for (const answer of answers) expect(answer).toMatchObject({ status: 'rejected', reason: refused })
    expect(watched.calls).toStrictEqual([])
  })

  it('refuses an unknown key of a client that exists', async () => {
    const deps = testDeps()
    const { clientId } = await registerClient(deps)

    const answer = authenticate(deps, `Bearer ${apiKeyText('test', clientId, deps.randomBytes(32))}`)

    await expect(answer).rejects.toMatchObject(refused)
  })

  it('refuses a stored key whose item names another client', async () => {
    const deps = testDeps()
    const { clientId } = await registerClient(deps)
    const text = apiKeyText('test', clientId, deps.randomBytes(32))
    const keyId = keyIdOf(text)
    const item = { keyId, clientId: aClientId(), prefix: 'gk_test_', createdAt: deps.now() }
    await deps.table.write(put(apiKeyKey(keyId), item))

    await expect(authenticate(deps, `Bearer ${text}`)).rejects.toMatchObject(refused)
  })

  it('refuses the keys of a disabled client, and takes them again at once when it is enabled', async () => {
    const deps = testDeps()
    const { client, header } = await withKey(deps)
    const change = (enabled: boolean) =>
      changeClient(deps, { clientId: client.clientId, operator: 'tester', changes: { enabled } })
    await change(false)

    await expect(authenticate(deps, header)).rejects.toMatchObject(refused)
    await change(true)

    expect(await authenticate(deps, header)).toStrictEqual(client)
  })

  it('refuses a key from the millisecond of its expiry on, also one that is cached', async () => {
    const deps = testDeps()
    const { client, header } = await withKey(deps, 10)
    deps.clock.advance(9.999)
    expect(await authenticate(deps, header)).toStrictEqual(client)

    deps.clock.advance(0.001)

    await expect(authenticate(deps, header)).rejects.toMatchObject(refused)
  })

  it('reads a key once in 15 s and then again', async () => {
    const deps = testDeps()
    const { header } = await withKey(deps)
    const watched = recordTable(deps)
    const reads: number[] = []

    for (const seconds of [0, 14.999, 0.001]) {
      deps.clock.advance(seconds)
      await authenticate(watched.deps, header)
      reads.push(watched.calls.length)
    }

    expect(reads).toStrictEqual([1, 1, 2])
  })

  it('refuses a revoked key at once where it is not cached, and within 15 s where it is', async () => {
    const deps = testDeps()
    const { client, key, header } = await withKey(deps)
    await authenticate(deps, header)
    await revokeApiKey(deps, { clientId: client.clientId, keyId: key.keyId, operator: 'tester' })

    await expect(authenticate(anotherEnvironment(deps), header)).rejects.toMatchObject(refused)
    deps.clock.advance(15)

    await expect(authenticate(deps, header)).rejects.toMatchObject(refused)
  })

  it('counts the 15 s from before the read, so a slow read lengthens nothing', async () => {
    const deps = testDeps()
    const { client, key, header } = await withKey(deps)
    const slow = interceptTable(deps, { after: () => deps.clock.advance(10) })
    await authenticate(slow, header)
    await revokeApiKey(deps, { clientId: client.clientId, keyId: key.keyId, operator: 'tester' })

    deps.clock.advance(5)

    await expect(authenticate(slow, header)).rejects.toMatchObject(refused)
  })

  it('reads again when the wall clock was set back', async () => {
    const deps = testDeps()
    const { client, key, header } = await withKey(deps)
    await authenticate(deps, header)
    await revokeApiKey(deps, { clientId: client.clientId, keyId: key.keyId, operator: 'tester' })

    deps.clock.advance(-3_600)

    await expect(authenticate(deps, header)).rejects.toMatchObject(refused)
  })

  it('keeps at most 1,000 keys and forgets the oldest first', async () => {
    const deps = testDeps()
    const { text: first, client } = await withKey(deps)
    const table = mockClient(DynamoDBDocumentClient)
    table
      .on(BatchGetCommand)
      .callsFake((input: { RequestItems: Record<string, { Keys: { pk: string; sk: string }[] }> }) => {
        const [keyKey, clientKey] = input.RequestItems[inject('tableName')]?.Keys ?? []
        const keyItem = {
          ...keyKey,
          key_id: keyKey?.pk.slice('APIKEY#'.length),
          client_id: client.clientId,
          prefix: 'p',
        }
        const clientItem = {
          ...clientKey,
          client_id: client.clientId,
          name: 'n',
          enabled: true,
          settlement_floor_minor: 0,
        }
        const created = { created_at: deps.now() }
        return {
          Responses: {
            [inject('tableName')]: [
              { ...keyItem, ...created },
              { ...clientItem, ...created },
            ],
          },
        }
      })
    const texts = Array.from({ length: 1_000 }, () => apiKeyText('test', client.clientId, deps.randomBytes(32)))
    for (const text of [first, ...texts]) await authenticate(deps, `Bearer ${text}`)
    const filled = table.commandCalls(BatchGetCommand).length

    for (const text of texts) await authenticate(deps, `Bearer ${text}`)
    const cached = table.commandCalls(BatchGetCommand).length
    await authenticate(deps, `Bearer ${first}`)

    expect([filled, cached, table.commandCalls(BatchGetCommand).length]).toStrictEqual([1_001, 1_001, 1_002])
    table.restore()
  })

  it('lets a failing table fail the request instead of calling the key invalid', async () => {
    const deps = testDeps()
    const { header } = await withKey(deps)
    const table = mockClient(DynamoDBDocumentClient)
    table.on(BatchGetCommand).rejects(new Error('no table today'))

    await expect(authenticate(deps, header)).rejects.toThrow('no table today')

    table.restore()
  })

  it('logs nothing and puts no key into an error', async () => {
    const deps = testDeps()
    const { text } = await withKey(deps)

    const error: unknown = await authenticate(deps, `Bearer ${text}x`).catch((thrown: unknown) => thrown)

    expect(deps.lines).toStrictEqual([])
    expect(error instanceof Error ? `${error.message} ${error.stack ?? ''}` : '').not.toContain(text)
  })
})
