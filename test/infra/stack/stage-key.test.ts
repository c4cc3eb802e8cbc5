import { describe, expect, it } from 'vitest'
import { synthesised } from '../../support/stack-template.ts'
import { EVERYTHING } from '../../support/stage-options.ts'

const dev = synthesised('dev')
const prod = synthesised('prod')
const key = prod.only('AWS::KMS::Key')

const statementsFor = (service: string) => {
  const { Statement } = key.properties['KeyPolicy'] as { readonly Statement: readonly Record<string, unknown>[] }
  return Statement.filter(({ Principal }) => JSON.stringify(Principal).includes(service))
}

describe('the stage’s key', () => {
  it('only seals where the stage does not choose it for the rest: nothing is encrypted with it, no service may use it', () => {
    const only = dev.only('AWS::KMS::Key')

    expect(only).toMatchObject({ properties: { EnableKeyRotation: true }, deletionPolicy: 'Delete' })
    expect(JSON.stringify(only.properties['KeyPolicy'])).not.toContain('Service')
    expect(JSON.stringify(dev.resources)).not.toMatch(/kms:ViaService|Kms(Master)?KeyId|KMSMasterKeyId/)
  })

  it('encrypts everything that keeps something', () => {
    const keeping = {
      'AWS::DynamoDB::GlobalTable': 'KMSMasterKeyId',
      'AWS::SQS::Queue': 'KmsMasterKeyId',
      'AWS::SNS::Topic': 'KmsMasterKeyId',
      'AWS::SecretsManager::Secret': 'KmsKeyId',
      'AWS::Logs::LogGroup': 'KmsKeyId',
    }
    for (const [type, property] of Object.entries(keeping)) {
      // A copy of the origin secret is in another region, where this key is not.
      const resources = prod.ofType(type).filter(({ properties }) => properties['Name'] !== 'gateway/prod/origin')
      expect(resources).not.toStrictEqual([])
      for (const { logicalId, properties } of resources) {
        expect(JSON.stringify(properties), `${type} ${logicalId}`).toContain(`"${property}":"<key>.Arn"`)
      }
    }
  })

  it('can be used by the log service for this stage’s groups only', () => {
    const context = 'arn:<AWS::Partition>:logs:<AWS::Region>:<AWS::AccountId>:log-group:*gateway-prod*'

    expect(statementsFor('logs.<AWS::Region>.amazonaws.com')).toMatchObject([
      {
        Effect: 'Allow',
        Principal: { Service: 'logs.<AWS::Region>.amazonaws.com' },
        Condition: { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': context } },
      },
    ])
    const names = synthesised(EVERYTHING).each('AWS::Logs::LogGroup', 'LogGroupName').map(String)
    // A log whose name the key's policy does not cover cannot be made at all.
    expect(names.filter((name) => !name.includes('gateway-prod'))).toStrictEqual([])
    expect(names.length).toBeGreaterThan(prod.ofType('AWS::Logs::LogGroup').length)
  })
})
