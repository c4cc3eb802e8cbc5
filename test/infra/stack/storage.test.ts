import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { synthesised, synthesisedFront } from '../../support/stack-template.ts'
import { DOMAIN, OTHER_FIGURES, stageWith } from '../../support/stage-options.ts'

const dev = synthesised('dev')
// What a front adds is looked at in its own tests.
const prod = synthesised(stageWith({ domain: undefined, front: 'none', monthlyBudgetUsd: undefined }, 'prod'))

const key = (AttributeName: string, KeyType: 'HASH' | 'RANGE') => ({ AttributeName, KeyType })

describe('table', () => {
  const table = dev.only('AWS::DynamoDB::GlobalTable')

  it('is one, with the keys, indexes and attributes of the schema', () => {
    const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes } = table.properties

    expect(KeySchema).toStrictEqual([key('pk', 'HASH'), key('sk', 'RANGE')])
    expect(GlobalSecondaryIndexes).toStrictEqual(
      Object.entries(TABLE_SCHEMA.indexes).map(([IndexName, { partition, sort, include }]) => ({
        IndexName,
        KeySchema: [...partition.map((name) => key(name, 'HASH')), ...sort.map((name) => key(name, 'RANGE'))],
        Projection:
          include.length > 0
            ? { ProjectionType: 'INCLUDE', NonKeyAttributes: [...include] }
            : { ProjectionType: 'KEYS_ONLY' },
        WriteOnDemandThroughputSettings: { MaxWriteRequestUnits: 1_000 },
      })),
    )
    expect(new Set(Array.isArray(AttributeDefinitions) ? AttributeDefinitions : [])).toStrictEqual(
      new Set(
        Object.entries(TABLE_SCHEMA.attributeTypes).map(([AttributeName, AttributeType]) => ({
          AttributeName,
          AttributeType,
        })),
      ),
    )
  })

  it.each([
    ['dev', dev, 1_000],
    ['prod', prod, 20_000],
  ] as const)('of %s is on demand up to a maximum, has no stream and expires by ttl', (name, template, most) => {
    const read = { ReadOnDemandThroughputSettings: { MaxReadRequestUnits: most } }
    const write = { WriteOnDemandThroughputSettings: { MaxWriteRequestUnits: most } }
    const indexes = Object.keys(TABLE_SCHEMA.indexes).map((IndexName) => ({ IndexName }))

    const properties = template.only('AWS::DynamoDB::GlobalTable').properties

    expect(properties).toMatchObject({
      TableName: `gateway-${name}`,
      BillingMode: 'PAY_PER_REQUEST',
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      ...write,
      // Each index is metered by itself: one without a maximum would spend without one.
      GlobalSecondaryIndexes: indexes.map((index) => ({ ...index, ...write })),
      Replicas: [{ ...read, GlobalSecondaryIndexes: indexes.map((index) => ({ ...index, ...read })) }],
    })
    expect(properties).not.toHaveProperty('StreamSpecification')
  })

  it.each([
    ['dev', dev],
    ['prod', prod],
  ] as const)('of %s can be restored to any moment of the last 35 days, at no other standing cost', (_, template) => {
    const properties = template.only('AWS::DynamoDB::GlobalTable').properties

    expect(properties).toMatchObject({
      Replicas: [{ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 35 } }],
    })
    expect(JSON.stringify(properties)).not.toMatch(/ContributorInsights|WarmThroughput/)
  })

  it('is warm from the start where the stage says so, and so are its indexes', () => {
    const warm = synthesised(OTHER_FIGURES)
    const WarmThroughput = { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 4_000 }

    expect(warm.only('AWS::DynamoDB::GlobalTable').properties).toMatchObject({
      WarmThroughput,
      GlobalSecondaryIndexes: Object.keys(TABLE_SCHEMA.indexes).map((IndexName) => ({ IndexName, WarmThroughput })),
    })
  })
})

describe('generations of the table', () => {
  const restored = { ...stageWith({}).table, generation: 2 }

  it('the functions use a restored one, and the stack keeps its own as it was', () => {
    const template = synthesised(stageWith({ table: restored }))

    expect(template.only('AWS::DynamoDB::GlobalTable').properties).toStrictEqual(
      dev.only('AWS::DynamoDB::GlobalTable').properties,
    )
    const told = template.all('AWS::Lambda::Function').map(({ Environment }) => JSON.stringify(Environment))
    expect(told.filter((one) => one.includes('"GATEWAY_TABLE":"gateway-dev-2"'))).toHaveLength(MANIFEST.length)
    const policies = JSON.stringify(template.all('AWS::IAM::Role'))
    expect(policies).toContain('table/gateway-dev-2')
    expect(policies).not.toContain('<gateway-dev>.Arn')
  })

  it('the stack takes a restored one over under another logical id, so that the former one is kept', () => {
    const template = synthesised(stageWith({ table: { ...restored, adopted: 2 } }))
    const [own, adopted] = [dev, template].map(({ only }) => only('AWS::DynamoDB::GlobalTable'))

    expect(adopted?.properties['TableName']).toBe('gateway-dev-2')
    expect(adopted?.logicalId).not.toBe(own?.logicalId)
  })

  it('none is taken over before it is there', () => {
    expect(() => synthesised(stageWith({ table: { ...restored, generation: 1, adopted: 2 } }))).toThrow(
      'adopted is at most generation',
    )
  })
})

describe('provider secrets', () => {
  it('are two, for the API key and for callback tokens', () => {
    const names = dev.each('AWS::SecretsManager::Secret', 'Name')

    expect(names).toStrictEqual(['gateway/dev/provider', 'gateway/dev/provider-callback'])
  })

  it('are born with random values, which are not in the template, and outlive the stack of a stage that keeps its data', () => {
    for (const { properties, deletionPolicy } of dev.ofType('AWS::SecretsManager::Secret')) {
      expect({ properties, deletionPolicy }).toMatchObject({
        properties: { GenerateSecretString: {} },
        deletionPolicy: 'Delete',
      })
      expect(properties).not.toHaveProperty('SecretString')
    }
    expect(prod.ofType('AWS::SecretsManager::Secret').map(({ deletionPolicy }) => deletionPolicy)).toStrictEqual([
      'RetainExceptOnCreate',
      'RetainExceptOnCreate',
    ])
  })
})

describe('stages', () => {
  const policies = (template: typeof dev, ...types: readonly string[]) =>
    new Set(types.flatMap((type) => template.ofType(type).map(({ deletionPolicy }) => deletionPolicy)))
  const TABLE = 'AWS::DynamoDB::GlobalTable'
  const THE_REST = ['AWS::SQS::Queue', 'AWS::Logs::LogGroup', 'AWS::SecretsManager::Secret']

  it('production keeps its data and refuses to be deleted', () => {
    expect(policies(prod, TABLE)).toStrictEqual(new Set(['Retain']))
    expect(prod.terminationProtection).toBe(true)
    expect(prod.only('AWS::DynamoDB::GlobalTable').properties).toMatchObject({
      Replicas: [{ DeletionProtectionEnabled: true }],
    })
  })

  it('a creation that fails in production takes back every fixed name that the next one needs, but for the table, with its key and the versions of functions', () => {
    expect(policies(prod, ...THE_REST)).toStrictEqual(new Set(['RetainExceptOnCreate']))
    expect(
      new Set(prod.resources.filter(({ deletionPolicy }) => deletionPolicy === 'Retain').map(({ type }) => type)),
      // The bucket of the invocation trail has no fixed name.
    ).toStrictEqual(new Set([TABLE, 'AWS::KMS::Key', 'AWS::Lambda::Version', 'AWS::S3::Bucket']))
  })

  it('the front keeps nothing: its logs have fixed names too, and it is turned off and on', () => {
    const front = synthesisedFront(stageWith({ domain: DOMAIN, front: 'cloudfront' }, 'prod'))

    expect(front.ofType('AWS::Logs::LogGroup')).toHaveLength(2)
    expect(policies(front, 'AWS::Logs::LogGroup')).toStrictEqual(new Set(['Delete']))
  })

  it('any other stage leaves nothing after', () => {
    expect(policies(dev, TABLE, ...THE_REST)).toStrictEqual(new Set(['Delete']))
    expect(dev.terminationProtection).toBe(false)
  })
})
