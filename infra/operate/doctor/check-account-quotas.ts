import { DescribeLimitsCommand } from '@aws-sdk/client-dynamodb'
import { GetAccountSettingsCommand } from '@aws-sdk/client-lambda'
import { type DeployedStage, hasAlarms } from '../../stack/stage.ts'
import type { AwsClients } from '../check/aws-clients.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { runCheck } from '../check/run-check.ts'

/**
 * Whether the account has what synth and the alarm near the account's limit count with. Nothing without alarms: a new
 * account, in which such a stage may be tried, has less of everything.
 */
export const checkAccountQuotas = async (aws: AwsClients, stage: DeployedStage): Promise<readonly Finding[]> => {
  if (!hasAlarms(stage)) return []
  const found = await Promise.all([
    runCheck('account concurrency', () => checkAccountConcurrency(aws, stage)),
    runCheck('account table units', () => checkTableUnits(aws, stage)),
  ])
  return found.flat()
}

const checkAccountConcurrency = async ({ lambda }: AwsClients, stage: DeployedStage): Promise<Finding> => {
  const { AccountLimit: { ConcurrentExecutions: limit } = {} } = await lambda.send(new GetAccountSettingsCommand({}))
  const detail = `${limit ?? 'unknown'}, and synth and concurrency-near-limit count with ${stage.accountConcurrency}`
  return limit === stage.accountConcurrency
    ? ok('account concurrency', detail)
    : wrong('account concurrency', detail, 'set accountConcurrency in infra/stages/STAGE.json and deploy')
}

const checkTableUnits = async ({ dynamodb }: AwsClients, { table }: DeployedStage): Promise<Finding> => {
  const what = 'account table units'
  const limits = await dynamodb.send(new DescribeLimitsCommand({}))
  const { TableMaxReadCapacityUnits: reads = 0, TableMaxWriteCapacityUnits: writes = 0 } = limits
  const wanted = `the stage counts with ${table.maxReadUnits} and ${table.maxWriteUnits}`
  const detail = `${reads} reads and ${writes} writes a second of one table, and ${wanted}`
  return reads >= table.maxReadUnits && writes >= table.maxWriteUnits
    ? ok(what, detail)
    : wrong(what, detail, 'raise the quotas of DynamoDB for one table, or lower table.maxReadUnits and maxWriteUnits')
}
