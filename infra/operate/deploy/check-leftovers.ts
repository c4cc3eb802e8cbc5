import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import { DescribeSecretCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { callbackSecretName, originSecretName, providerSecretName } from '../../../shared/secrets.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import { nameOfResource, stageTemplate } from '../../stack/stage-template.ts'
import { type AwsClients, GLOBAL_REGION } from '../check/aws-clients.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { QUEUE_ABSENT, unlessAbsent } from '../check/look.ts'

/**
 * The flag of `cdk deploy` with which a stack takes over what exists under its names: the table and log groups. Never a
 * secret or a queue, whose identifiers AWS makes up (cloudformation-coverage-roadmap, issue 2375).
 */
export const IMPORT_FLAG = '--import-existing-resources'

type Clients = Pick<AwsClients, 'dynamodb' | 'secretsManager' | 'globalSecretsManager' | 'sqs'>

/**
 * What an earlier stack kept on purpose, or someone made by hand. A new stack cannot make a thing whose name is taken,
 * and says so only after minutes.
 */
export const checkLeftovers = async (
  { dynamodb, secretsManager, globalSecretsManager, sqs }: Clients,
  {
    stage,
    region,
    flags,
  }: { readonly stage: DeployedStage; readonly region: string; readonly flags: readonly string[] },
): Promise<readonly Finding[]> => {
  const { name } = stage.settings
  const hasFront = stage.front === 'cloudfront'
  const queues = stageTemplate(stage).ofType('AWS::SQS::Queue')
  const found = await Promise.all([
    tableLeft(dynamodb, `gateway-${name}`, flags),
    secretLeft(secretsManager, providerSecretName(name)),
    secretLeft(secretsManager, callbackSecretName(name)),
    ...(hasFront ? [secretLeft(secretsManager, originSecretName(name))] : []),
    ...(hasFront && region !== GLOBAL_REGION ? [copyLeft(globalSecretsManager, originSecretName(name))] : []),
    ...queues.map((queue) => queueLeft(sqs, nameOfResource(queue, 'QueueName'))),
  ])
  const left = found.flatMap((finding) => finding ?? [])
  return left.length === 0 ? [ok('names', 'free')] : left
}

const tableLeft = async (dynamodb: AwsClients['dynamodb'], TableName: string, flags: readonly string[]) => {
  const found = await unlessAbsent(
    ['ResourceNotFoundException'],
    dynamodb.send(new DescribeTableCommand({ TableName })),
  )
  if (!found) return undefined
  const what = `table ${TableName}`
  if (flags.includes(IMPORT_FLAG)) return ok(what, 'exists without a stack and will be taken over')
  const remove = `aws dynamodb update-table --table-name ${TableName} --no-deletion-protection-enabled && aws dynamodb delete-table --table-name ${TableName}`
  return wrong(what, 'exists without a stack', `take it over with ${IMPORT_FLAG}; if it is empty, delete it: ${remove}`)
}

const describedSecret = (client: SecretsManagerClient, SecretId: string) =>
  unlessAbsent(['ResourceNotFoundException'], client.send(new DescribeSecretCommand({ SecretId })))

/** A secret of that name that no stack can make or take over. */
export const secretLeft = async (client: SecretsManagerClient, name: string): Promise<Finding | undefined> => {
  const found = await describedSecret(client, name)
  const remove = `aws secretsmanager delete-secret --secret-id ${name} --force-delete-without-recovery`
  return found && wrong(`secret ${name}`, secretState(found.DeletedDate), `note its value, then delete it: ${remove}`)
}

/** Of the origin secret, where the front reads it: it outlives a region that is lost. */
const copyLeft = async (client: SecretsManagerClient, name: string): Promise<Finding | undefined> => {
  const found = await describedSecret(client, name)
  if (!found) return undefined
  const commands = ['stop-replication-to-replica', 'delete-secret --force-delete-without-recovery']
  const remove = commands.map(
    (command) => `aws secretsmanager ${command} --region ${GLOBAL_REGION} --secret-id ${name}`,
  )
  return wrong(
    `secret ${name} in ${GLOBAL_REGION}`,
    secretState(found.DeletedDate),
    `delete it: ${remove.join(' && ')}`,
  )
}

/** Secrets Manager keeps the name of a secret that someone deleted for up to 30 days. */
const secretState = (deletedDate: Date | undefined): string =>
  `${deletedDate ? 'is scheduled for deletion and holds its name' : 'exists without a stack'}; no stack can take it over`

const queueLeft = async (sqs: SQSClient, QueueName: string): Promise<Finding | undefined> => {
  const found = await unlessAbsent(QUEUE_ABSENT, sqs.send(new GetQueueUrlCommand({ QueueName })))
  return (
    found &&
    wrong(
      `queue ${QueueName}`,
      'exists without a stack; no stack can take it over',
      `delete it, and wait a minute: aws sqs delete-queue --queue-url ${found.QueueUrl ?? QueueName}`,
    )
  )
}
