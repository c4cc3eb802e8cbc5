import { GetSecretValueCommand, ResourceNotFoundException, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { mockClient } from 'aws-sdk-client-mock'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { secretsManager } from '../../../shared/runtime/aws/kept-secrets.ts'

const client = mockClient(SecretsManagerClient)

const opened = (nowMs = () => 0) => secretsManager(new SecretsManagerClient({}), nowMs)

beforeEach(() => void client.reset())
afterAll(() => client.restore())

describe('secrets in Secrets Manager', () => {
  it.each([
    ['half an hour', undefined, 1_800_000],
    ['a minute where the value does not fit', 'fresh', 60_000],
  ] as const)('are read again after %s, and not before', async (_case, fresh, keptMs) => {
    client.on(GetSecretValueCommand).resolvesOnce({ SecretString: 'old' }).resolves({ SecretString: 'new' })
    let nowMs = 0
    const secrets = opened(() => nowMs)

    const seen = []
    for (nowMs of [0, keptMs - 1, keptMs]) seen.push(await secrets.get('s', fresh))

    expect(seen).toStrictEqual(['old', 'old', 'new'])
  })

  it('are looked for again while they are not there', async () => {
    const missing = new ResourceNotFoundException({ message: 'no', $metadata: {} })
    client.on(GetSecretValueCommand).rejectsOnce(missing).resolves({ SecretString: 'value' })
    const secrets = opened()

    for (const seen of [undefined, 'value', 'value']) expect(await secrets.get('s')).toBe(seen)
    expect(client.commandCalls(GetSecretValueCommand)).toHaveLength(2)
  })
})
