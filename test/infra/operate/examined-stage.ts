import {
  CloudFormationClient,
  DescribeStackDriftDetectionStatusCommand,
  DescribeStackResourceDriftsCommand,
  DescribeStacksCommand,
  DetectStackDriftCommand,
  ListStackResourcesCommand,
  type Stack,
} from '@aws-sdk/client-cloudformation'
import { DescribeLimitsCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { GetRoleCommand, IAMClient, ListEntitiesForPolicyCommand } from '@aws-sdk/client-iam'
import {
  GetAccountSettingsCommand,
  GetAliasCommand,
  GetFunctionConcurrencyCommand,
  InvokeCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { ListSubscriptionsByTopicCommand, SNSClient } from '@aws-sdk/client-sns'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { mockClient } from 'aws-sdk-client-mock'
import { onTestFinished } from 'vitest'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import type { Finding } from '../../../infra/operate/check/finding.ts'
import { examineStage } from '../../../infra/operate/doctor/examine-stage.ts'
import {
  type DeployedStage,
  deployedStage,
  PLACEHOLDER_ACCOUNT,
} from '../../../infra/stack/stage.ts'
import { lambdaAnswer } from '../../support/lambda-answer.ts'
import { json, startScriptedServer } from '../../support/scripted-server.ts'
import { type StackTemplate, synthesised } from '../../support/stack-template.ts'
import { EVERYTHING, READY_PRODUCTION } from '../../support/stage-options.ts'
import { awsRefusal } from './around-tools.ts'

const TEMPLATES = { dev: synthesised('dev'), prod: synthesised(EVERYTHING) }

export type ExaminedStage = Awaited<ReturnType<typeof examinedStage>>

/** The doctor waits on a clock of the test. */
export async function examinedStage(
  name: keyof typeof TEMPLATES,
  options: Partial<DeployedStage> = {},
) {
  const stage = { ...(name === 'dev' ? deployedStage('dev') : READY_PRODUCTION), ...options }
  const api = await startScriptedServer((response, request) => {
    if (request.url === '/v1/gateway-doctor')
      return json(404, { code: 'not_found' })(response, request)
    const token =
      request.url === '/callbacks/xendit' ? String(request.headers['x-callback-token']) : ''
    const right = /^the-(old|new)-token-of-tests$/.test(token)
    json(right ? 200 : 401, right ? { outcome: 'ignored' } : { code: 'auth' })(response, request)
  })
  const provider = await startScriptedServer((response, request) => {
    const answer = /^\/(transactions|balance)/.test(request.url)
      ? json(200, { data: [], has_more: false, balance: 0 })
      : json(404, { error_code: 'DATA_NOT_FOUND' })
    answer(response, request)
  })
  const aws = deployedAws(TEMPLATES[name], name, api.url)
  const startMs = Date.now()
  let waitedMs = 0
  const io = {
    providerUrl: provider.url,
    nowMs: () => startMs + waitedMs,
    // Overlapping waits pass together.
    sleep: async (ms: number) => {
      const untilMs = waitedMs + ms
      await new Promise(setImmediate)
      waitedMs = Math.max(waitedMs, untilMs)
    },
  }
  const examine = () => examineStage({ stage, aws: awsClients('ap-southeast-3'), ...io })
  return {
    api,
    provider,
    aws,
    io,
    examine,
    notOk: async () => notOk(await examine()),
    waitedMs: () => waitedMs,
  }
}

/** AWS as it answers when a stage is deployed exactly as its template says. */
function deployedAws(template: StackTemplate, stage: string, ApiUrl: string) {
  const aws = {
    cloudFormation: mockClient(CloudFormationClient),
    dynamodb: mockClient(DynamoDBClient),
    iam: mockClient(IAMClient),
    lambda: mockClient(LambdaClient),
    secretsManager: mockClient(SecretsManagerClient),
    sns: mockClient(SNSClient),
    sts: mockClient(STSClient),
  }
  onTestFinished(() => {
    for (const mock of Object.values(aws)) mock.restore()
  })
  const policy = (duty: string) => `arn:aws:iam::000000000000:policy/gateway-${stage}-${duty}`
  const outputs = {
    ApiUrl,
    AlertsTopicArn: `arn:aws:sns:ap-southeast-3:000000000000:gateway-${stage}-alerts`,
    AdminPolicyArn: policy('admin'),
    FinancePolicyArn: policy('finance'),
    ApprovePolicyArn: policy('approve'),
  }
  const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({
    OutputKey,
    OutputValue,
  }))
  const stackDescription = {
    StackName: 'any',
    CreationTime: new Date(0),
    StackStatus: 'UPDATE_COMPLETE' as const,
    Outputs,
  }
  const stacksAre = (changes: Partial<Stack>) =>
    aws.cloudFormation
      .on(DescribeStacksCommand)
      .resolves({ Stacks: [{ ...stackDescription, ...changes }] })
  stacksAre({})
  aws.cloudFormation.on(DetectStackDriftCommand).resolves({ StackDriftDetectionId: 'd1' })
  const detection = { StackId: 's1', StackDriftDetectionId: 'd1', Timestamp: new Date(0) }
  aws.cloudFormation
    .on(DescribeStackDriftDetectionStatusCommand)
    .resolvesOnce({ ...detection, DetectionStatus: 'DETECTION_IN_PROGRESS' })
    .resolves({ ...detection, DetectionStatus: 'DETECTION_COMPLETE' })
  aws.cloudFormation.on(DescribeStackResourceDriftsCommand).resolves({ StackResourceDrifts: [] })
  aws.lambda
    .on(GetAccountSettingsCommand)
    .resolves({ AccountLimit: { ConcurrentExecutions: 1_000 } })
  aws.lambda.on(GetAliasCommand).resolves({ FunctionVersion: '7' })
  const versions = template
    .all('AWS::Lambda::Function')
    .map(({ FunctionName }) => ({
      LogicalResourceId: `Version${String(FunctionName)}`,
      PhysicalResourceId: `arn:aws:lambda:ap-southeast-3:000000000000:function:${String(FunctionName)}:7`,
      ResourceType: 'AWS::Lambda::Version',
      LastUpdatedTimestamp: new Date(0),
      ResourceStatus: 'CREATE_COMPLETE' as const,
    }))
  aws.cloudFormation.on(ListStackResourcesCommand).resolves({ StackResourceSummaries: versions })
  const tableLimits = { TableMaxReadCapacityUnits: 40_000, TableMaxWriteCapacityUnits: 40_000 }
  aws.dynamodb.on(DescribeLimitsCommand).resolves(tableLimits)
  const reserved = new Map(
    template
      .all('AWS::Lambda::Function')
      .map(({ FunctionName, ReservedConcurrentExecutions: runs }) => [
        FunctionName,
        typeof runs === 'number' ? { ReservedConcurrentExecutions: runs } : {},
      ]),
  )
  // A stub for each input would be compared with each call.
  aws.lambda
    .on(GetFunctionConcurrencyCommand)
    .callsFake(async ({ FunctionName }) => reserved.get(FunctionName))
  const mappings = template
    .all('AWS::Lambda::EventSourceMapping')
    .map(({ EventSourceArn, ...settings }) => ({
      ...(settings as { BatchSize: number }),
      FunctionName: String(settings['FunctionName']).replaceAll(/[<>]/g, ''),
      State: 'Enabled',
      EventSourceArn: String(EventSourceArn).replace(
        /^<(.+)>\.Arn$/,
        'arn:aws:sqs:ap-southeast-3:000000000000:$1',
      ),
    }))
  const mappingsOf = Map.groupBy(mappings, ({ FunctionName }) => FunctionName)
  aws.lambda
    .on(ListEventSourceMappingsCommand)
    .callsFake(async ({ FunctionName }) => ({ EventSourceMappings: mappingsOf.get(FunctionName) }))
  aws.lambda.on(InvokeCommand).resolves(lambdaAnswer({ problems: [] }))
  const secrets = {
    origin: { current: 'x'.repeat(64) },
    provider: { secret_key: 'xnd_production_of_tests' },
    'provider-callback': { callback_tokens: ['the-old-token-of-tests', 'the-new-token-of-tests'] },
  }
  for (const [name, fields] of Object.entries(secrets)) {
    aws.secretsManager
      .on(GetSecretValueCommand, { SecretId: `gateway/${stage}/${name}` })
      .resolves({ SecretString: JSON.stringify(fields) })
  }
  aws.sts.on(GetCallerIdentityCommand).resolves({ Account: PLACEHOLDER_ACCOUNT })
  aws.iam.on(ListEntitiesForPolicyCommand).resolves({})
  aws.iam.on(GetRoleCommand).rejects(awsRefusal('NoSuchEntityException'))
  aws.sns
    .on(ListSubscriptionsByTopicCommand)
    .resolves({ Subscriptions: [{ SubscriptionArn: 'arn:aws:sns:one' }] })
  return { ...aws, Outputs, stacksAre }
}

/**
 * A line for each finding that is not `ok`, such as `wrong routes: no answer`, without its remedy.
 */
export function notOk(findings: readonly Finding[]) {
  return findings.flatMap(({ what, state, detail }) =>
    state === 'ok' ? [] : [`${state} ${what}: ${detail}`],
  )
}
