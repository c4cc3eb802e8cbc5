import { matchesGlob } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { synthesised } from '../../support/stack-template.ts'
import { EVERYTHING, OTHER_FIGURES, RESTORED } from '../../support/stage-options.ts'

const dev = synthesised('dev')

it('the table is warm from the start where the stage says so, and so are its indexes', () => {
  const WarmThroughput = { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 4_000 }

  expect(synthesised(OTHER_FIGURES).only('AWS::DynamoDB::GlobalTable').properties).toMatchObject({
    WarmThroughput,
    GlobalSecondaryIndexes: Object.keys(TABLE_SCHEMA.indexes).map((IndexName) => ({ IndexName, WarmThroughput })),
  })
})

describe('generations of the table', () => {
  const tableIn = (template: typeof dev) => template.only('AWS::DynamoDB::GlobalTable')

  it('the roles may use a restored one alone, and the stack keeps its own as it was', () => {
    const template = synthesised(RESTORED)

    expect(tableIn(template).properties).toStrictEqual(tableIn(dev).properties)
    const policies = JSON.stringify(template.all('AWS::IAM::Role'))
    expect(policies).toContain('table/gateway-dev-2')
    expect(policies).not.toContain('<gateway-dev>.Arn')
  })

  it('the stack takes a restored one over under another logical id, so that the former one is kept', () => {
    const adopted = tableIn(synthesised({ ...RESTORED, table: { ...RESTORED.table, adopted: 2 } }))

    expect(adopted.properties['TableName']).toBe('gateway-dev-2')
    expect(adopted.logicalId).not.toBe(tableIn(dev).logicalId)
  })
})

describe('the stage’s key', () => {
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
      const all = synthesised('prod')
        .all(type)
        .filter(({ Name }) => Name !== 'gateway/prod/origin')
      expect(all).not.toStrictEqual([])
      for (const one of all) expect(JSON.stringify(one), type).toContain(`"${property}":"<key>.Arn"`)
    }
  })

  it('lets the log service use it for every log that it encrypts, and for no other stage’s', () => {
    const stage = synthesised(EVERYTHING)
    const patterns = JSON.stringify(stage.all('AWS::KMS::Key')).match(/log-group:[^"]+/g) ?? []
    const isCovered = (name: string) => patterns.some((pattern) => matchesGlob(`log-group:${name}`, pattern))
    const names = stage
      .all('AWS::Logs::LogGroup')
      .flatMap(({ KmsKeyId, LogGroupName }) => (KmsKeyId === undefined ? [] : [String(LogGroupName)]))

    // A log with another name cannot be made at all.
    expect(names.filter((name) => !isCovered(name))).toStrictEqual([])
    expect(names.length).toBeGreaterThan(MANIFEST.length)
    expect(names.filter((name) => isCovered(name.replace('gateway-prod', 'gateway-prod2')))).toStrictEqual([])
  })
})
