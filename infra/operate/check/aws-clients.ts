import { ACMClient } from '@aws-sdk/client-acm'
import {
  CloudFormationClient,
  DescribeStacksCommand,
  type Stack,
} from '@aws-sdk/client-cloudformation'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { IAMClient } from '@aws-sdk/client-iam'
import { LambdaClient } from '@aws-sdk/client-lambda'
import { Route53Client } from '@aws-sdk/client-route-53'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas'
import { SNSClient } from '@aws-sdk/client-sns'
import { STSClient } from '@aws-sdk/client-sts'
import { FRONT_REGION } from '../../stack/stage.ts'

/** A person waits for a check. Lambda refuses such calls above fifteen a second. */
const LIMITS = {
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
} as const

export type AwsClients = ReturnType<typeof awsClients>

/** Clients with the operator's credentials: profiles, SSO or the environment, as in the AWS CLI. */
export function awsClients(region: string | undefined) {
  const config = { ...LIMITS, region }
  const cloudFormationIn = (place?: string) =>
    new CloudFormationClient({ ...LIMITS, region: place })
  return {
    acm: new ACMClient({ ...LIMITS, region: FRONT_REGION }),
    cloudFormation: cloudFormationIn(region),
    cloudFormationIn,
    dynamodb: new DynamoDBClient(config),
    iam: new IAMClient(config),
    lambda: new LambdaClient(config),
    route53: new Route53Client(config),
    secretsManager: new SecretsManagerClient(config),
    serviceQuotas: new ServiceQuotasClient(config),
    snsIn: (place: string) => new SNSClient({ ...LIMITS, region: place }),
    sts: new STSClient(config),
  }
}

/** CloudFormation reports a ValidationError if no stack exists. */
export async function describeStack(client: CloudFormationClient, StackName: string) {
  try {
    return (await client.send(new DescribeStacksCommand({ StackName }))).Stacks?.[0]
  } catch (error) {
    if (
      error instanceof Error &&
      error.name === 'ValidationError' &&
      /does not exist/.test(error.message)
    )
      return undefined
    throw error
  }
}

/** The next deployment first deletes the remains of a failed creation. */
export function wasCreated({ StackStatus: status }: Pick<Stack, 'StackStatus'>) {
  return ![
    'REVIEW_IN_PROGRESS',
    'ROLLBACK_COMPLETE',
    'ROLLBACK_FAILED',
    'DELETE_COMPLETE',
  ].includes(status ?? '')
}

export function outputOf(stack: Stack, name: string) {
  return stack.Outputs?.find(({ OutputKey }) => OutputKey === name)?.OutputValue
}
