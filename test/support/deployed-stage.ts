import {
  CloudFormationClient,
  DescribeStackResourceCommand,
  DescribeStacksCommand,
  DetectStackResourceDriftCommand,
} from '@aws-sdk/client-cloudformation'
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  type GlobalSecondaryIndexDescription,
  type KeySchemaElement,
} from '@aws-sdk/client-dynamodb'
import {
  GetAccountSettingsCommand,
  GetEventSourceMappingCommand,
  GetFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
  LambdaClient,
} from '@aws-sdk/client-lambda'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { ListSubscriptionsByTopicCommand, SNSClient } from '@aws-sdk/client-sns'
import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs'
import { mockClient } from 'aws-sdk-client-mock'
import { pointedTo, type StageTemplate } from '../../infra/stack/stage-template.ts'
import { callbackSecretName, originSecretName, providerSecretName } from '../../shared/secrets.ts'
import { awsRefusal } from './aws-refusal.ts'

type Input = { readonly LogicalResourceId?: string; readonly QueueName?: string }

/** The parts of a synthesised resource that AWS would answer with. */
type Table = {
  readonly TableName: string
  readonly BillingMode: 'PAY_PER_REQUEST'
  readonly KeySchema: KeySchemaElement[]
  readonly GlobalSecondaryIndexes: readonly (GlobalSecondaryIndexDescription & {
    readonly WriteOnDemandThroughputSettings?: { readonly MaxWriteRequestUnits: number }
  })[]
  readonly StreamSpecification: { readonly StreamViewType: 'NEW_IMAGE' }
  readonly SSESpecification: { readonly SSEEnabled: boolean }
  readonly WriteOnDemandThroughputSettings?: { readonly MaxWriteRequestUnits: number }
  readonly Replicas: readonly {
    readonly DeletionProtectionEnabled: boolean
    readonly SSESpecification?: { readonly KMSMasterKeyId: unknown }
    readonly ReadOnDemandThroughputSettings?: { readonly MaxReadRequestUnits: number }
    readonly GlobalSecondaryIndexes?: readonly {
      readonly IndexName: string
      readonly ReadOnDemandThroughputSettings?: { readonly MaxReadRequestUnits: number }
    }[]
  }[]
}
type Queue = {
  readonly QueueName: string
  readonly VisibilityTimeout?: number
  readonly MessageRetentionPeriod: number
  readonly SqsManagedSseEnabled?: boolean
  readonly KmsMasterKeyId?: unknown
  readonly RedrivePolicy?: { readonly deadLetterTargetArn: unknown; readonly maxReceiveCount: number }
}
type Lambda = {
  readonly FunctionName: string
  readonly ReservedConcurrentExecutions?: number
  readonly Environment: { readonly Variables: Readonly<Record<string, string>> }
}

export const STREAM_ARN = 'arn:aws:dynamodb:ap-southeast-3:000000000000:table/gateway-prod/stream/2026'

const arnOf = (name: unknown) => `arn:aws:sqs:ap-southeast-3:000000000000:${String(name)}`

/** AWS as it answers when a stage is deployed exactly as its template says. Tests change one answer at a time. */
export const deployedAws = (template: StageTemplate, outputs: Readonly<Record<string, string>>) => {
  const aws = {
    cloudFormation: mockClient(CloudFormationClient),
    dynamodb: mockClient(DynamoDBClient),
    lambda: mockClient(LambdaClient),
    secretsManager: mockClient(SecretsManagerClient),
    sns: mockClient(SNSClient),
    sqs: mockClient(SQSClient),
  }
  const nameOf = (value: unknown) =>
    template.resources.find(({ logicalId }) => logicalId === pointedTo(value))?.properties['QueueName']

  const stack = () => {
    aws.cloudFormation.on(DescribeStacksCommand).resolves({
      Stacks: [
        {
          StackName: template.stackName,
          CreationTime: new Date(0),
          StackStatus: 'UPDATE_COMPLETE',
          Outputs: Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })),
        },
      ],
    })
    aws.cloudFormation.on(DescribeStackResourceCommand).callsFake(({ LogicalResourceId: id = '' }: Input) => ({
      StackResourceDetail: { PhysicalResourceId: `physical-${id}` },
    }))
    aws.cloudFormation
      .on(DetectStackResourceDriftCommand)
      .callsFake(() => ({ StackResourceDrift: { StackResourceDriftStatus: 'IN_SYNC' } }))
    aws.sns.on(ListSubscriptionsByTopicCommand).resolves({ Subscriptions: [{ SubscriptionArn: 'arn:aws:sns:one' }] })
    const stage = template.stackName.replace('gateway-', '')
    const stored = {
      [originSecretName(stage)]: { current: 'x'.repeat(64) },
      [providerSecretName(stage)]: { secret_key: 'xnd_development_local' },
      [callbackSecretName(stage)]: { callback_tokens: ['the-old-token-of-tests', 'the-new-token-of-tests'] },
    }
    for (const [SecretId, fields] of Object.entries(stored)) {
      aws.secretsManager.on(GetSecretValueCommand, { SecretId }).resolves({ SecretString: JSON.stringify(fields) })
    }
  }

  const table = () => {
    const synthesised = template.ofType('AWS::DynamoDB::GlobalTable')[0]?.properties as unknown as Table
    const [replica] = synthesised.Replicas
    aws.dynamodb.on(DescribeTableCommand, { TableName: synthesised.TableName }).resolves({
      Table: {
        TableStatus: 'ACTIVE',
        BillingModeSummary: { BillingMode: synthesised.BillingMode },
        KeySchema: synthesised.KeySchema,
        // The order is nobody's promise.
        GlobalSecondaryIndexes: synthesised.GlobalSecondaryIndexes.toReversed().map((index) => ({
          ...index,
          IndexStatus: 'ACTIVE',
          OnDemandThroughput: {
            MaxReadRequestUnits:
              replica?.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === index.IndexName)
                ?.ReadOnDemandThroughputSettings?.MaxReadRequestUnits ?? -1,
            MaxWriteRequestUnits: index.WriteOnDemandThroughputSettings?.MaxWriteRequestUnits ?? -1,
          },
        })),
        StreamSpecification: { StreamEnabled: true, ...synthesised.StreamSpecification },
        DeletionProtectionEnabled: replica?.DeletionProtectionEnabled ?? false,
        LatestStreamArn: STREAM_ARN,
        ...(synthesised.SSESpecification.SSEEnabled && {
          SSEDescription: {
            Status: 'ENABLED',
            KMSMasterKeyArn: `arn:aws:kms:ap-southeast-3:000000000000:key/physical-${pointedTo(replica?.SSESpecification?.KMSMasterKeyId) ?? ''}`,
          },
        }),
        OnDemandThroughput: {
          MaxReadRequestUnits: replica?.ReadOnDemandThroughputSettings?.MaxReadRequestUnits ?? -1,
          MaxWriteRequestUnits: synthesised.WriteOnDemandThroughputSettings?.MaxWriteRequestUnits ?? -1,
        },
      },
    })
    aws.dynamodb.on(DescribeContinuousBackupsCommand).resolves({
      ContinuousBackupsDescription: {
        ContinuousBackupsStatus: 'ENABLED',
        PointInTimeRecoveryDescription: {
          PointInTimeRecoveryStatus: 'ENABLED',
          EarliestRestorableDateTime: new Date(0),
        },
      },
    })
    aws.dynamodb.on(DescribeTimeToLiveCommand).resolves({
      TimeToLiveDescription: { TimeToLiveStatus: 'ENABLED', AttributeName: 'ttl' },
    })
  }

  const queues = () => {
    aws.sqs.on(GetQueueUrlCommand).callsFake(({ QueueName = '' }: Input) => ({ QueueUrl: `https://sqs/${QueueName}` }))
    for (const { properties } of template.ofType('AWS::SQS::Queue')) {
      const queue = properties as unknown as Queue
      aws.sqs.on(GetQueueAttributesCommand, { QueueUrl: `https://sqs/${queue.QueueName}` }).resolves({
        Attributes: {
          ApproximateNumberOfMessages: '0',
          VisibilityTimeout: String(queue.VisibilityTimeout ?? 30),
          MessageRetentionPeriod: String(queue.MessageRetentionPeriod),
          SqsManagedSseEnabled: String(queue.SqsManagedSseEnabled ?? false),
          ...(queue.KmsMasterKeyId !== undefined && { KmsMasterKeyId: 'arn:aws:kms:key' }),
          ...(queue.RedrivePolicy && {
            RedrivePolicy: JSON.stringify({
              deadLetterTargetArn: arnOf(nameOf(queue.RedrivePolicy.deadLetterTargetArn)),
              maxReceiveCount: queue.RedrivePolicy.maxReceiveCount,
            }),
          }),
        },
      })
    }
  }

  const functions = () => {
    aws.lambda.on(GetAccountSettingsCommand).resolves({ AccountLimit: { ConcurrentExecutions: 1_000 } })
    aws.lambda.on(GetFunctionConfigurationCommand).rejects(awsRefusal('ResourceNotFoundException'))
    for (const { properties } of template.ofType('AWS::Lambda::Function')) {
      const { FunctionName, ReservedConcurrentExecutions, ...settings } = properties as unknown as Lambda
      aws.lambda
        .on(GetFunctionConfigurationCommand, { FunctionName })
        .resolves({ ...settings, State: 'Active', LastUpdateStatus: 'Successful' })
      aws.lambda
        .on(GetFunctionConcurrencyCommand, { FunctionName })
        .resolves(ReservedConcurrentExecutions === undefined ? {} : { ReservedConcurrentExecutions })
    }
    for (const { logicalId, properties } of template.ofType('AWS::Lambda::EventSourceMapping')) {
      aws.lambda
        .on(GetEventSourceMappingCommand, { UUID: `physical-${logicalId}` })
        .resolves({ ...(properties as { BatchSize: number }), State: 'Enabled', EventSourceArn: STREAM_ARN })
    }
  }

  stack()
  table()
  queues()
  functions()
  return aws
}
