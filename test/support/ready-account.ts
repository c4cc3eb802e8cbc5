import { CloudFormationClient, DescribeStacksCommand, type StackStatus } from '@aws-sdk/client-cloudformation'
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { GetAccountSettingsCommand, GetFunctionConcurrencyCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { GetHostedZoneCommand, Route53Client } from '@aws-sdk/client-route-53'
import { DescribeSecretCommand, GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { mockClient } from 'aws-sdk-client-mock'
import type { Finding } from '../../infra/operate/check/finding.ts'
import { type PreflightInput, preflight } from '../../infra/operate/deploy/preflight.ts'
import { PROJECT_ROOT } from '../../infra/operate/deploy/run-deploy.ts'
import { awsRefusal } from './aws-refusal.ts'
import { READY_PRODUCTION } from './stage-options.ts'

export const cloudFormation = mockClient(CloudFormationClient)
export const dynamodb = mockClient(DynamoDBClient)
export const lambda = mockClient(LambdaClient)
export const route53 = mockClient(Route53Client)
export const secretsManager = mockClient(SecretsManagerClient)
export const sqs = mockClient(SQSClient)
export const sts = mockClient(STSClient)

export const ready = READY_PRODUCTION

export const stackAbsent = awsRefusal('ValidationError', 'Stack with id gateway-prod does not exist')
export const stackOf = (outputs: Readonly<Record<string, string>>, StackStatus: StackStatus) => ({
  Stacks: [
    {
      StackName: 'any',
      CreationTime: new Date(0),
      StackStatus,
      Outputs: Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })),
    },
  ],
})
export const toolkit = (version: string) => stackOf({ BootstrapVersion: version }, 'UPDATE_COMPLETE')
export const zone = (name: string, isPrivate = false) => ({
  HostedZone: { Id: 'Z1', Name: `${name}.`, CallerReference: 'r', Config: { PrivateZone: isPrivate } },
})
export const aSecret = (fields: object) => ({ SecretString: JSON.stringify(fields) })
export const GOOD_SECRET = aSecret({ secret_key: 'xnd_production_key' })
export const GOOD_TOKENS = aSecret({ callback_tokens: ['a-token-of-production'] })

/** What a stack of this release says of itself, as against one from before callback tokens had a secret. */
export const SPLIT = { CallbackSecretName: 'any' }

/** An account in which everything is as it should be, with the stage deployed once before. */
export const makeReady = (): void => {
  for (const mock of [cloudFormation, dynamodb, lambda, route53, secretsManager, sqs, sts]) mock.reset()
  sts.on(GetCallerIdentityCommand).resolves({ Account: '000000000000', Arn: 'arn:aws:iam::000000000000:user/ayu' })
  cloudFormation.on(DescribeStacksCommand, { StackName: 'CDKToolkit' }).resolves(toolkit('28'))
  cloudFormation.on(DescribeStacksCommand, { StackName: 'gateway-prod' }).resolves(stackOf(SPLIT, 'UPDATE_COMPLETE'))
  cloudFormation.on(DescribeStacksCommand, { StackName: 'gateway-prod-front' }).resolves(stackOf({}, 'UPDATE_COMPLETE'))
  route53.on(GetHostedZoneCommand, { Id: 'Z1' }).resolves(zone('example.org'))
  secretsManager.on(GetSecretValueCommand, { SecretId: 'gateway/prod/provider' }).resolves(GOOD_SECRET)
  secretsManager.on(GetSecretValueCommand, { SecretId: 'gateway/prod/provider-callback' }).resolves(GOOD_TOKENS)
  lambda
    .on(GetAccountSettingsCommand)
    .resolves({ AccountLimit: { ConcurrentExecutions: 1_000, UnreservedConcurrentExecutions: 990 } })
  lambda.on(GetFunctionConcurrencyCommand).rejects(awsRefusal('ResourceNotFoundException'))
}

export const look = async (input: Partial<PreflightInput> = {}) =>
  preflight({ stage: ready, region: 'ap-southeast-3', flags: [], root: PROJECT_ROOT, ...input })

export const notOk = (findings: readonly Finding[]) => findings.filter(({ state }) => state !== 'ok')
export const findingsOf = async (input: Partial<PreflightInput> = {}) => notOk((await look(input)).findings)

/** Makes the stage new: neither a stack nor anything an earlier one left. */
export const beforeTheFirstDeployment = () => {
  for (const StackName of ['gateway-prod', 'gateway-prod-front']) {
    cloudFormation.on(DescribeStacksCommand, { StackName }).rejects(stackAbsent)
  }
  dynamodb.on(DescribeTableCommand).rejects(awsRefusal('ResourceNotFoundException'))
  secretsManager.on(DescribeSecretCommand).rejects(awsRefusal('ResourceNotFoundException'))
  sqs.on(GetQueueUrlCommand).rejects(awsRefusal('QueueDoesNotExist'))
}
