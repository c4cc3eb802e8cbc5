import { matchesGlob } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isHttp, queuesOf, routeKeyOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { synthesised } from '../../support/stack-template.ts'
import { EVERYTHING, OTHER_FIGURES, RESTORED, stageWith } from '../../support/stage-options.ts'

/*
 * Figures of resources that depend on each other. The file test/infra/templates has the single
 * figures.
 */

const dev = synthesised('dev')

it('the table and its indexes are warm from the start if the stage says so', () => {
  const WarmThroughput = { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 4_000 }

  expect(synthesised(OTHER_FIGURES).only('AWS::DynamoDB::GlobalTable').properties).toMatchObject({
    WarmThroughput,
    GlobalSecondaryIndexes: Object.keys(TABLE_SCHEMA.indexes).map((IndexName) => ({
      IndexName,
      WarmThroughput,
    })),
  })
})

describe('generations of the table', () => {
  const tableIn = (template: typeof dev) => template.only('AWS::DynamoDB::GlobalTable')

  it('the roles may use only a restored table, and the stack keeps its own table unchanged', () => {
    const template = synthesised(RESTORED)

    expect(tableIn(template).properties).toStrictEqual(tableIn(dev).properties)
    const policies = JSON.stringify(template.all('AWS::IAM::Role'))
    expect(policies).toContain('table/gateway-dev-2')
    expect(policies).not.toContain('<gateway-dev>.Arn')
  })

  it('the stack adopts a restored table under another logical id, so that the former table is kept', () => {
    const adopted = tableIn(synthesised({ ...RESTORED, table: { ...RESTORED.table, adopted: 2 } }))

    expect(adopted.properties['TableName']).toBe('gateway-dev-2')
    expect(adopted.logicalId).not.toBe(tableIn(dev).logicalId)
  })
})

describe('the stage’s key', () => {
  it('encrypts every resource that stores data', () => {
    const keyProperties = {
      'AWS::DynamoDB::GlobalTable': 'KMSMasterKeyId',
      'AWS::SQS::Queue': 'KmsMasterKeyId',
      'AWS::SecretsManager::Secret': 'KmsKeyId',
      'AWS::Logs::LogGroup': 'KmsKeyId',
    }
    for (const [type, property] of Object.entries(keyProperties)) {
      // The origin secret has a copy in another region, which does not have this key.
      const resources = synthesised('prod')
        .all(type)
        .filter(({ Name }) => Name !== 'gateway/prod/origin')
      expect(resources).not.toStrictEqual([])
      for (const resource of resources)
        expect(JSON.stringify(resource), type).toContain(`"${property}":"<key>.Arn"`)
    }
  })

  it('lets the log service use the key for every encrypted log of the stage, and for no log of another stage', () => {
    const stage = synthesised(EVERYTHING)
    const patterns = JSON.stringify(stage.all('AWS::KMS::Key')).match(/log-group:[^"]+/g) ?? []
    const isCovered = (name: string) =>
      patterns.some((pattern) => matchesGlob(`log-group:${name}`, pattern))
    const names = stage
      .all('AWS::Logs::LogGroup')
      .flatMap(({ KmsKeyId, LogGroupName }) =>
        KmsKeyId === undefined ? [] : [String(LogGroupName)],
      )

    // CloudFormation could not create a log with another name.
    expect(names.filter((name) => !isCovered(name))).toStrictEqual([])
    expect(names.length).toBeGreaterThan(MANIFEST.length)
    expect(
      names.filter((name) => isCovered(name.replace('gateway-prod', 'gateway-prod2'))),
    ).toStrictEqual([])
  })
})

it('only its trail writes to the bucket of the trail', () => {
  expect(JSON.stringify(synthesised('prod').all('AWS::S3::BucketPolicy'))).toMatch(
    /"StringNotEquals":{"aws:SourceArn":"[^"]+trail\/gateway-prod-invocations-<AWS::Region>"}},"Effect":"Deny","Principal":{"AWS":"\*"}/,
  )
})

it('a closed stage starts nothing by queue or schedule, and is refused with canaries', () => {
  const closedStage = synthesised(RESTORED)

  expect(new Set(closedStage.each('AWS::Lambda::EventSourceMapping', 'Enabled'))).toStrictEqual(
    new Set([false]),
  )
  expect(new Set(closedStage.each('AWS::Events::Rule', 'State'))).toStrictEqual(
    new Set(['DISABLED']),
  )
  expect(() => synthesised(stageWith({ role: 'closed' }, 'prod'))).toThrow(
    'set deployment: alias-only',
  )
})

it.each([
  ['the fee contract of the stage', OTHER_FIGURES, String.raw`\"providerFees\":\"invoiced\"`],
  ['the provider’s quota', OTHER_FIGURES, String.raw`\"providerCallsPerMinute\":6000`],
  ['whether the stage is closed', RESTORED, String.raw`{\"isClosed\":true`],
  ['the restored table', RESTORED, '"GATEWAY_TABLE":"gateway-dev-2"'],
])('the environment of every function contains %s', (_, stage, setting) => {
  const environments = synthesised(stage)
    .each('AWS::Lambda::Function', 'Environment')
    .map((environment) => JSON.stringify(environment))

  expect(environments.filter((environment) => environment.includes(setting))).toHaveLength(
    MANIFEST.length,
  )
})

describe('the HTTP API', () => {
  it('outlasts every function it calls, so that the answer is always ours', () => {
    const longest = Math.max(...MANIFEST.filter(isHttp).map(({ timeoutSeconds }) => timeoutSeconds))
    const timeouts = synthesised('dev')
      .each('AWS::ApiGatewayV2::Integration', 'TimeoutInMillis')
      .map(Number)

    expect(timeouts.length).toBeGreaterThan(7)
    expect(Math.min(...timeouts)).toBeGreaterThan(longest * 1_000)
  })

  it('has a throttle for every route of the manifest, and sets it after the route exists', () => {
    const { only, ofType } = synthesised(OTHER_FIGURES)
    const { properties, dependsOn } = only('AWS::ApiGatewayV2::Stage')

    expect(Object.keys(Object(properties['RouteSettings']))).toStrictEqual(
      MANIFEST.flatMap((spec) => routeKeyOf(spec) ?? []),
    )
    const routes = ofType('AWS::ApiGatewayV2::Route').map(({ logicalId }) => logicalId)
    expect(dependsOn).toStrictEqual(expect.arrayContaining(routes))
  })

  it('closes its generated address and calls an alias only when the other way is there', () => {
    const { only, ofType } = synthesised(EVERYTHING)
    const integrations = ofType('AWS::ApiGatewayV2::Integration').map(({ dependsOn }) => dependsOn)

    const { logicalId } = only('AWS::ApiGatewayV2::DomainName')
    expect(only('AWS::ApiGatewayV2::Api').dependsOn).toContain(logicalId)
    expect(integrations).toStrictEqual(
      integrations.map(() => [expect.stringContaining('IntegrationPermission')]),
    )
  })

  it('names its log as API Gateway stores the name, so that the doctor finds no drift', () => {
    const { AccessLogSettings: log } = dev.only('AWS::ApiGatewayV2::Stage').properties

    expect(Object(log).DestinationArn).toMatch(/:log-group:<\/aws\/vendedlogs[^:]+>$/)
  })

  it.each(['GET /v1/payment', '$Default'])(
    'refuses a throttle of %j, which no function answers',
    (route) => {
      const { routeThrottles } = deployedStage('dev')
      const stage = stageWith({
        routeThrottles: { ...routeThrottles, [route]: { requestsPerSecond: 1, burst: 1 } },
      })

      expect(() => synthesised(stage)).toThrow(`no function answers ${route}`)
    },
  )

  it('never lets a route through faster than Jakarta lets an account', () => {
    const { throttle, routeThrottles } = deployedStage('prod')

    for (const { requestsPerSecond, burst } of [throttle, ...Object.values(routeThrottles)]) {
      expect(requestsPerSecond).toBeLessThanOrEqual(2_500)
      expect(burst).toBeLessThanOrEqual(1_250)
    }
  })
})

it('a queue hides a batch for six times its reader’s timeout, or for the timeout and two seconds if a claim guards the work', () => {
  const hiddenSeconds = synthesised('prod')
    .all('AWS::SQS::Queue')
    .flatMap(({ QueueName, VisibilityTimeout: seconds }) =>
      seconds === undefined ? [] : [[QueueName, seconds]],
    )
  const expectedSeconds = MANIFEST.flatMap(({ trigger, timeoutSeconds: seconds }) =>
    queuesOf(trigger).map(({ queue }) => [
      `gateway-prod-${queue}`,
      queue.startsWith('webhooks') ? seconds + 2 : 6 * seconds,
    ]),
  )

  expect(Object.fromEntries(hiddenSeconds)).toStrictEqual(Object.fromEntries(expectedSeconds))
})

it('the sweep runs every day at 02:00 UTC (spec 3.2), or at the time the stage has set', () => {
  const [byDefault, expressions] = [dev, synthesised(OTHER_FIGURES)].map((template) =>
    template.each('AWS::Events::Rule', 'ScheduleExpression'),
  )

  expect(byDefault).toContain('cron(0 2 * * ? *)')
  expect(expressions).toContain('cron(30 17 * * ? *)')
  expect(expressions).not.toContain('cron(0 2 * * ? *)')
})

it('the logs of requests are kept for 14 days (spec 8)', () => {
  const retention = synthesised('prod').each('AWS::Logs::LogGroup', 'RetentionInDays')

  expect(new Set(retention)).toStrictEqual(new Set([14]))
})
