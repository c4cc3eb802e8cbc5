import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { synthesised, synthesisedFront } from '../../support/stack-template.ts'
import { DOMAIN, OTHER_FIGURES, stageWith } from '../../support/stage-options.ts'

const dev = synthesised('dev')
// What a front adds is looked at in its own tests.
const prod = synthesised(stageWith({ domain: undefined, front: 'none', monthlyBudgetUsd: undefined }, 'prod'))

describe('table', () => {
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

describe('stages', () => {
  const policies = (template: typeof dev, ...types: readonly string[]) =>
    new Set(types.flatMap((type) => template.ofType(type).map(({ deletionPolicy }) => deletionPolicy)))
  const TABLE = 'AWS::DynamoDB::GlobalTable'
  const THE_REST = ['AWS::SQS::Queue', 'AWS::Logs::LogGroup', 'AWS::SecretsManager::Secret']

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
})
