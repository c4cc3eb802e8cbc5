import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import { DescribeSecretCommand } from '@aws-sdk/client-secrets-manager'
import { GetQueueUrlCommand } from '@aws-sdk/client-sqs'
import { callbackSecretName, originSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { stackNameOf, tableNameOf } from '../../stack/stack-name-of.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import { type AwsClients, GLOBAL_REGION } from '../check/aws-clients.ts'
import { type Finding, ok, QUEUE_ABSENT, unlessAbsent, wrong } from '../check/finding.ts'
import { DEAD_LETTERS } from '../redrive/run-redrive.ts'

/**
 * The flag of `cdk deploy` with which a stack takes over what exists under its names: the table and log groups. Never a
 * secret or a queue, whose identifiers AWS makes up (cloudformation-coverage-roadmap, issue 2375).
 */
export const IMPORT_FLAG = '--import-existing-resources'

type NewStage = { readonly stage: DeployedStage; readonly region: string; readonly flags: readonly string[] }

/**
 * What an earlier stack kept on purpose, or someone made by hand. A new stack cannot make a thing whose name is taken: it
 * says so after minutes only, and what it has made by then is in the way of the next attempt.
 */
export const checkLeftovers = async (
  { dynamodb, secretsManager, globalSecretsManager, sqs }: AwsClients,
  { stage, region, flags }: NewStage,
): Promise<readonly Finding[]> => {
  const { name } = stage.settings
  const stack = stackNameOf(stage)
  const TableName = tableNameOf(stage, stage.table.adopted)
  const origin = stage.front === 'cloudfront' ? [originSecretName(name)] : []
  const queues = [...DEAD_LETTERS].flatMap(([queue, instead]) => [
    `${stack}-${queue}-dead`,
    ...(instead === undefined ? [`${stack}-${queue}`] : []),
  ])
  const found = await Promise.all([
    flags.includes(IMPORT_FLAG)
      ? []
      : taken(`table ${TableName}`, dynamodb.send(new DescribeTableCommand({ TableName })), [
          `take it over with ${IMPORT_FLAG}; if it is empty, delete it:`,
          `aws dynamodb update-table --table-name ${TableName} --no-deletion-protection-enabled &&`,
          `aws dynamodb delete-table --table-name ${TableName}`,
        ]),
    ...[providerSecretName(name), callbackSecretName(name), ...origin].map((SecretId) =>
      taken(`secret ${SecretId}`, secretsManager.send(new DescribeSecretCommand({ SecretId })), [
        'note its value, then delete it:',
        `aws secretsmanager delete-secret --secret-id ${SecretId} --force-delete-without-recovery`,
      ]),
    ),
    // The front reads a copy of it there, which outlives a region that is lost.
    ...(region === GLOBAL_REGION ? [] : origin).map((SecretId) =>
      taken(`${SecretId} in ${GLOBAL_REGION}`, globalSecretsManager.send(new DescribeSecretCommand({ SecretId })), [
        `delete it: aws secretsmanager stop-replication-to-replica --region ${GLOBAL_REGION} --secret-id ${SecretId} &&`,
        `aws secretsmanager delete-secret --region ${GLOBAL_REGION} --secret-id ${SecretId} --force-delete-without-recovery`,
      ]),
    ),
    ...queues.map((QueueName) =>
      taken(`queue ${QueueName}`, sqs.send(new GetQueueUrlCommand({ QueueName })), [
        'delete it, and wait a minute:',
        `aws sqs delete-queue --queue-url "$(aws sqs get-queue-url --queue-name ${QueueName} --output text)"`,
      ]),
    ),
  ])
  const left = found.flat()
  return left.length > 0 ? left : [ok('names', 'free')]
}

/** Secrets Manager keeps the name of a secret that someone deleted for up to 30 days. */
const taken = async (what: string, ask: Promise<unknown>, todo: readonly string[]): Promise<readonly Finding[]> => {
  const found = await unlessAbsent(['ResourceNotFoundException', ...QUEUE_ABSENT], ask)
  return found === undefined ? [] : [wrong(what, 'exists without a stack, or is yet to be deleted', todo.join(' '))]
}
