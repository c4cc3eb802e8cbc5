import { describe, expect, it } from 'vitest'
import { synthesised } from '../../support/stack-template.ts'
import { EVERYTHING } from '../../support/stage-options.ts'

const dev = synthesised('dev')
const prod = synthesised('prod')

describe('the stage’s key', () => {
  it('encrypts nothing where the stage does not choose it for the rest: it only seals', () => {
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

  it('lets the log service use it for every log that the stage can have', () => {
    const names = synthesised(EVERYTHING).each('AWS::Logs::LogGroup', 'LogGroupName').map(String)

    // The key's policy covers these names alone. A log with another name cannot be made at all.
    expect(names.filter((name) => !name.includes('gateway-prod'))).toStrictEqual([])
    expect(names.length).toBeGreaterThan(prod.ofType('AWS::Logs::LogGroup').length)
  })
})
