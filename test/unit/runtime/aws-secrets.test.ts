import {
  CreateSecretCommand,
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import { mockClient } from 'aws-sdk-client-mock'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { secretsManager } from '../../../shared/runtime/aws/secrets-manager.ts'

const client = mockClient(SecretsManagerClient)
const KEY = 'arn:aws:kms:ap-southeast-3:111122223333:key/k'

const opened = (kmsKeyArn?: string) => secretsManager(new SecretsManagerClient({}), () => 0, kmsKeyArn)
const created = () => client.commandCalls(CreateSecretCommand).map(({ args: [{ input }] }) => input)

beforeEach(() => void client.reset())
afterAll(() => client.restore())

describe('secrets in Secrets Manager', () => {
  it.each([KEY, undefined])('are encrypted with the stage’s key when it brings one, else AWS’s: %s', async (key) => {
    client.on(CreateSecretCommand).resolves({})

    await opened(key).create('gateway/prod/endpoint/e', 'value')

    expect(created()).toEqual([{ Name: 'gateway/prod/endpoint/e', SecretString: 'value', KmsKeyId: key }])
  })

  it('are read once a minute, and looked for again while they are not there', async () => {
    const missing = new ResourceNotFoundException({ message: 'no', $metadata: {} })
    client.on(GetSecretValueCommand).rejectsOnce(missing).resolves({ SecretString: 'value' })
    const secrets = opened()

    for (const seen of [undefined, 'value', 'value']) expect(await secrets.get('s')).toBe(seen)
    expect(client.commandCalls(GetSecretValueCommand)).toHaveLength(2)
  })
})
