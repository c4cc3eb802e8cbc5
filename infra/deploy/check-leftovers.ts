import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import { DescribeSecretCommand } from '@aws-sdk/client-secrets-manager'
import { providerSecretName } from '../../shared/secrets.ts'
import type { AwsClients } from '../check/aws-clients.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { unlessAbsent } from '../check/look.ts'

/** The flag of `cdk deploy` with which a stack takes over what exists under its names. */
export const IMPORT_FLAG = '--import-existing-resources'

/**
 * What an earlier stack, or a first deployment that failed, left behind on purpose. A new stack cannot make a thing whose
 * name is taken, and says so only after minutes; after a restore, taking them over is the very intention.
 */
export const checkLeftovers = async (
  { dynamodb, secretsManager }: Pick<AwsClients, 'dynamodb' | 'secretsManager'>,
  stageName: string,
  flags: readonly string[],
): Promise<Finding> => {
  const tableName = `gateway-${stageName}`
  const secretName = providerSecretName(stageName)
  const absent = ['ResourceNotFoundException']
  const [table, secret] = await Promise.all([
    unlessAbsent(absent, dynamodb.send(new DescribeTableCommand({ TableName: tableName }))),
    unlessAbsent(absent, secretsManager.send(new DescribeSecretCommand({ SecretId: secretName }))),
  ])
  const found = [...(table ? [`table ${tableName}`] : []), ...(secret ? [`secret ${secretName}`] : [])]
  const what = 'names'
  if (found.length === 0) return ok(what, 'free')
  const detail = `${found.join(' and ')} exist without a stack`
  return flags.includes(IMPORT_FLAG)
    ? ok(what, `${detail} and will be taken over`)
    : wrong(what, detail, `take them over with ${IMPORT_FLAG}, or delete them if they are of no value`)
}
