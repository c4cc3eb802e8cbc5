import { GetSecretValueCommand, ResourceNotFoundException, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { mockClient } from 'aws-sdk-client-mock'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { secretsManager } from '../../../shared/runtime/aws/secrets-manager.ts'

const client = mockClient(SecretsManagerClient)

const opened = (nowMs = () => 0) => secretsManager(new SecretsManagerClient({}), nowMs)

beforeEach(() => void client.reset())
afterAll(() => client.restore())

describe('secrets in Secrets Manager', () => {
  it('are read again half an hour after they were read, and not before', async () => {
    client.on(GetSecretValueCommand).resolvesOnce({ SecretString: 'old' }).resolves({ SecretString: 'new' })
    let nowMs = 0
    const secrets = opened(() => nowMs)

    const seen = []
    for (nowMs of [0, 1_799_999, 1_800_000]) seen.push(await secrets.get('s'))

    expect(seen).toStrictEqual(['old', 'old', 'new'])
  })

  it('are read again after a minute where the value does not fit', async () => {
    client.on(GetSecretValueCommand).resolvesOnce({ SecretString: 'old' }).resolves({ SecretString: 'new' })
    let nowMs = 0
    const secrets = opened(() => nowMs)

    const seen = []
    for (nowMs of [0, 59_999, 60_000]) seen.push(await secrets.get('s', 'fresh'))

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
