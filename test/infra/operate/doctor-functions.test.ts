import { DescribeStackResourceCommand, DetectStackResourceDriftCommand } from '@aws-sdk/client-cloudformation'
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import {
  GetEventSourceMappingCommand,
  GetFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda'
import { beforeEach, describe, expect, it } from 'vitest'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { checkFunctions } from '../../../infra/operate/doctor/check-functions.ts'
import { awsRefusal } from '../../support/aws-refusal.ts'
import { STREAM_ARN } from '../../support/deployed-stage.ts'
import { type ExaminedStage, examinedStage, template } from '../../support/examined-stage.ts'

const FUNCTION = 'gateway-prod-api-create-payment'

let aws: ExaminedStage['aws']
let notOk: ExaminedStage['notOk']

beforeEach(async () => {
  ;({ aws, notOk } = await examinedStage())
})

describe('the doctor on functions and what starts them', () => {
  it.each([
    ['timeout', { Timeout: 3 }],
    ['memory', { MemorySize: 128 }],
    ['runtime', { Runtime: 'nodejs20.x' as const }],
    ['environment', { Environment: { Variables: { GATEWAY_PROVIDER_URL: 'https://elsewhere.example' } } }],
    ['last update', { LastUpdateStatus: 'Failed' as const }],
  ])('sees a function whose %s is another, without its values', async (setting, changed) => {
    const found = await awsClients('r').lambda.send(new GetFunctionConfigurationCommand({ FunctionName: FUNCTION }))
    aws.lambda.on(GetFunctionConfigurationCommand, { FunctionName: FUNCTION }).resolves({ ...found, ...changed })

    const findings = await notOk()

    expect(findings).toMatchObject([
      { what: `function ${FUNCTION}`, state: 'wrong', detail: expect.stringContaining(setting) },
    ])
    expect(JSON.stringify(findings)).not.toContain('elsewhere')
  })

  it.each(['gateway-prod-api-get-payment', FUNCTION])(
    'sees that %s was stopped, whether the stage reserves for it or not',
    async (FunctionName) => {
      aws.lambda.on(GetFunctionConcurrencyCommand, { FunctionName }).resolves({ ReservedConcurrentExecutions: 0 })

      expect(await notOk()).toMatchObject([
        {
          what: `function ${FunctionName}`,
          state: 'wrong',
          detail: expect.stringContaining('reserved concurrency is 0, should be '),
        },
      ])
    },
  )

  it('leaves no function of ours unlooked at because its template has another form', async () => {
    const ofType: typeof template.ofType = (type) =>
      template
        .ofType(type)
        .map((resource) =>
          resource.properties['FunctionName'] === FUNCTION
            ? { ...resource, properties: { ...resource.properties, Timeout: '22' } }
            : resource,
        )

    expect(await checkFunctions(awsClients('r').lambda, { ofType })).toMatchObject([
      { what: `function ${FUNCTION}`, state: 'wrong' },
    ])
  })

  it('sees a function that is missing', async () => {
    aws.lambda
      .on(GetFunctionConfigurationCommand, { FunctionName: FUNCTION })
      .rejects(awsRefusal('ResourceNotFoundException'))

    expect(await notOk()).toMatchObject([{ what: `function ${FUNCTION}`, detail: 'is missing' }])
  })

  it('sees an event source that is switched off or gone', async () => {
    aws.lambda.on(GetEventSourceMappingCommand).resolves({ State: 'Disabled', BatchSize: 1 })
    const off = await notOk()
    aws.cloudFormation
      .on(DescribeStackResourceCommand)
      .rejects(awsRefusal('ValidationError', 'Resource does not exist'))
    const gone = await notOk()

    expect(off.map(({ what }) => what)).toContain('event source gateway-prod-webhooks')
    expect(off[0]?.detail).toContain('state is "Disabled", should be "Enabled"')
    expect(gone).toContainEqual(
      expect.objectContaining({ what: 'event source gateway-prod-webhooks', detail: 'is missing' }),
    )
  })

  it('sees a stream that is no longer the table’s, as after a restore', async () => {
    const { Table } = await awsClients('r').dynamodb.send(new DescribeTableCommand({ TableName: 'gateway-prod' }))
    aws.dynamodb.on(DescribeTableCommand).resolves({ Table: { ...Table, LatestStreamArn: 'arn:the-new-one' } })

    expect(await notOk()).toMatchObject([
      {
        what: 'event source gateway-prod',
        state: 'wrong',
        detail: `reads ${STREAM_ARN}, not the table's stream arn:the-new-one`,
        todo: 'docs/operations.md, "7. Restoring the table in place", step 7',
      },
    ])
  })

  it('sees a stream whose reader fails', async () => {
    const [{ logicalId, properties } = { logicalId: '', properties: {} }] = template
      .ofType('AWS::Lambda::EventSourceMapping')
      .filter(({ properties: { StartingPosition } }) => StartingPosition !== undefined)
    aws.lambda.on(GetEventSourceMappingCommand, { UUID: `physical-${logicalId}` }).resolves({
      ...properties,
      State: 'Enabled',
      EventSourceArn: STREAM_ARN,
      LastProcessingResult: 'PROBLEM: Function call failed',
    })

    expect(await notOk()).toMatchObject([
      { what: 'event source gateway-prod', state: 'wrong', detail: 'the last batch: PROBLEM: Function call failed' },
    ])
  })

  it('sees a schedule that someone switched off', async () => {
    aws.cloudFormation.on(DetectStackResourceDriftCommand).resolves({
      StackResourceDrift: {
        StackId: 's',
        LogicalResourceId: 'l',
        ResourceType: 'AWS::Events::Rule',
        Timestamp: new Date(0),
        StackResourceDriftStatus: 'MODIFIED',
        PropertyDifferences: [
          { PropertyPath: '/State', ExpectedValue: 'ENABLED', ActualValue: 'DISABLED', DifferenceType: 'NOT_EQUAL' },
        ],
      },
    })

    expect((await notOk())[0]).toMatchObject({ state: 'wrong', detail: 'State is DISABLED, should be ENABLED' })
  })
})
