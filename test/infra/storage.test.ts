import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../../functions/manifest.ts'
import { TABLE_SCHEMA } from '../../shared/table/schema.ts'
import { synthesised } from '../support/stack-template.ts'

const dev = synthesised('dev')
const prod = synthesised('prod')

const key = (AttributeName: string, KeyType: 'HASH' | 'RANGE') => ({ AttributeName, KeyType })

describe('table', () => {
  const [table, ...others] = dev.ofType('AWS::DynamoDB::GlobalTable')

  it('is one, with the keys, indexes and attributes of the schema', () => {
    const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes } = table?.properties ?? {}

    expect(others).toStrictEqual([])
    expect(KeySchema).toStrictEqual([key('pk', 'HASH'), key('sk', 'RANGE')])
    expect(GlobalSecondaryIndexes).toStrictEqual(
      Object.entries(TABLE_SCHEMA.indexes).map(([IndexName, { partition, sort, include }]) => ({
        IndexName,
        KeySchema: [...partition.map((name) => key(name, 'HASH')), ...sort.map((name) => key(name, 'RANGE'))],
        Projection:
          include.length > 0
            ? { ProjectionType: 'INCLUDE', NonKeyAttributes: [...include] }
            : { ProjectionType: 'KEYS_ONLY' },
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

  it('is on demand, streams new images, expires by ttl and can be restored to any moment', () => {
    expect(table?.properties).toMatchObject({
      TableName: 'gateway-dev',
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      Replicas: [{ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }],
    })
  })
})

describe('queues', () => {
  const queues = new Map(
    dev.ofType('AWS::SQS::Queue').map(({ properties }) => [String(properties['QueueName']), properties]),
  )

  it.each(['webhooks', 'settlements'])(
    '%s sets messages aside in its dead-letter queue after five receives',
    (name) => {
      expect(queues.get(`gateway-dev-${name}`)).toMatchObject({
        MessageRetentionPeriod: 4 * 86_400,
        RedrivePolicy: { deadLetterTargetArn: `<gateway-dev-${name}-dead>.Arn`, maxReceiveCount: 5 },
      })
      // A message set aside keeps its age.
      expect(queues.get(`gateway-dev-${name}-dead`)).toMatchObject({ MessageRetentionPeriod: 14 * 86_400 })
    },
  )

  it('are the two, their dead-letter queues and the one of the stream', () => {
    expect([...queues.keys()].toSorted()).toStrictEqual([
      'gateway-dev-settlements',
      'gateway-dev-settlements-dead',
      'gateway-dev-stream-dead',
      'gateway-dev-webhooks',
      'gateway-dev-webhooks-dead',
    ])
  })

  it('hide a batch for at least six times the timeout of the function that reads it', () => {
    const readers = MANIFEST.flatMap(({ trigger, timeoutSeconds }) =>
      trigger.kind === 'queue' ? [{ queue: trigger.queue, timeoutSeconds }] : [],
    )

    expect(readers.map(({ queue }) => queue)).toContain('webhooks')
    for (const { queue, timeoutSeconds } of readers) {
      expect(queues.get(`gateway-dev-${queue}`)?.['VisibilityTimeout']).toBeGreaterThanOrEqual(6 * timeoutSeconds)
    }
  })

  it('are encrypted and refuse plain connections', () => {
    const refusing = dev
      .ofType('AWS::SQS::QueuePolicy')
      .filter(({ properties }) => JSON.stringify(properties).includes('"aws:SecureTransport":"false"'))
      .flatMap(({ properties }) => [properties['Queues']].flat().map(String))

    expect(refusing.toSorted()).toStrictEqual([...queues.keys()].map((name) => `<${name}>`).toSorted())
    expect([...queues.values()].every((queue) => queue['SqsManagedSseEnabled'] === true)).toBe(true)
  })
})

describe('alerts topic', () => {
  it('is one, named for its stage, and refuses plain connections', () => {
    const topics = dev.ofType('AWS::SNS::Topic').map(({ properties }) => properties['TopicName'])

    expect(topics).toStrictEqual(['gateway-dev-alerts'])
    expect(dev.ofType('AWS::SNS::TopicPolicy').map(({ properties }) => properties)).toMatchObject([
      {
        Topics: ['<gateway-dev-alerts>'],
        PolicyDocument: {
          Statement: [
            { Effect: 'Deny', Action: 'sns:Publish', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
          ],
        },
      },
    ])
  })
})

describe('provider secret', () => {
  it('is born with a random value, which is not in the template, and outlives the stack', () => {
    const [secret, ...others] = dev.ofType('AWS::SecretsManager::Secret')

    expect(others).toStrictEqual([])
    expect(secret).toMatchObject({
      properties: { Name: 'gateway/dev/provider', GenerateSecretString: {} },
      deletionPolicy: 'Retain',
    })
    expect(secret?.properties).not.toHaveProperty('SecretString')
  })
})

describe('stages', () => {
  const kept = ['AWS::DynamoDB::GlobalTable', 'AWS::SQS::Queue', 'AWS::Logs::LogGroup']
  const policies = (template: typeof dev) =>
    new Set(kept.flatMap((type) => template.ofType(type).map(({ deletionPolicy }) => deletionPolicy)))

  it('production keeps its data and refuses to be deleted', () => {
    expect(policies(prod)).toStrictEqual(new Set(['Retain']))
    expect(prod.terminationProtection).toBe(true)
    expect(prod.ofType('AWS::DynamoDB::GlobalTable')[0]?.properties).toMatchObject({
      Replicas: [{ DeletionProtectionEnabled: true }],
    })
  })

  it('any other stage leaves nothing behind', () => {
    expect(policies(dev)).toStrictEqual(new Set(['Delete']))
    expect(dev.terminationProtection).toBe(false)
  })

  it('production is throttled at 1,000 requests a second and route', () => {
    expect(prod.ofType('AWS::ApiGatewayV2::Stage')[0]?.properties).toMatchObject({
      DefaultRouteSettings: { ThrottlingRateLimit: 1_000, ThrottlingBurstLimit: 500 },
    })
  })
})
