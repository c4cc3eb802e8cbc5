import * as v from 'valibot'
import { ApiKeySchema, issueApiKey } from '../../shared/client/api-key-store.ts'
import { type Client, ClientSchema } from '../../shared/client/client.ts'
import { type ClientId, ClientIdSchema } from '../../shared/ids.ts'
import type { TestDeps } from './test-deps.ts'

export const aClientId = (): ClientId => v.parse(ClientIdSchema, crypto.randomUUID())

export const aClient = (overrides: Partial<Client> = {}): Client =>
  v.parse(ClientSchema, {
    clientId: crypto.randomUUID(),
    name: 'Warung Kopi',
    enabled: true,
    settlementFloorMinor: 10_000,
    createdAt: '2026-11-20T04:00:00.000Z',
    ...overrides,
  })

/** A working key of a stored client, and the header that carries it. */
export const issueKey = async (deps: TestDeps, clientId: ClientId, expiresInSeconds?: number) => {
  const { text, key } = await issueApiKey(deps, { clientId, operator: 'tester', expiresInSeconds })
  return { text, key: v.parse(ApiKeySchema, key), header: `Bearer ${text}` }
}
