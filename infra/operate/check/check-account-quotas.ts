import { DescribeLimitsCommand } from '@aws-sdk/client-dynamodb'
import { GetAccountSettingsCommand } from '@aws-sdk/client-lambda'
import { GetAWSDefaultServiceQuotaCommand, GetServiceQuotaCommand } from '@aws-sdk/client-service-quotas'
import { type DeployedStage, hasAlarms } from '../../stack/stage.ts'
import type { AwsClients } from './aws-clients.ts'
import { type Finding, ok, runCheck, unlessAbsent, wrong } from './finding.ts'

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
    : wrong('account concurrency', detail, concurrencyRemedy(limit ?? 0, stage))
}

const concurrencyRemedy = (limit: number, { accountConcurrency }: DeployedStage): string => {
  const set = 'set accountConcurrency in infra/stages/STAGE.json and deploy'
  return limit > accountConcurrency ? set : `${requestOf('lambda', 'L-B99A9384', accountConcurrency)}, or ${set}`
}

/** AWS answers within minutes or days. */
const requestOf = (service: string, code: string, wanted: number): string =>
  `aws service-quotas request-service-quota-increase --service-code ${service} --quota-code ${code} --desired-value ${wanted}`

const API_QUOTA = { ServiceCode: 'apigateway', QuotaCode: 'L-8A5B8E43' } as const

/** Whether API Gateway lets in what the routes of the stage let through together, when each with a throttle is full. */
export const checkApiRequests = async (
  { serviceQuotas }: Pick<AwsClients, 'serviceQuotas'>,
  { throttle, routeThrottles }: DeployedStage,
): Promise<Finding> => {
  const what = 'account API requests'
  const ask = serviceQuotas.send(new GetServiceQuotaCommand(API_QUOTA))
  // A quota that was never raised is known by its default alone.
  const { Quota: quota } =
    (await unlessAbsent(['NoSuchResourceException'], ask)) ??
    (await serviceQuotas.send(new GetAWSDefaultServiceQuotaCommand(API_QUOTA)))
  const wanted = [throttle, ...Object.values(routeThrottles)].reduce((sum, one) => sum + one.requestsPerSecond, 0)
  const detail = `${quota?.Value ?? 'unknown'} a second of all APIs, and the routes of the stage let through ${wanted}`
  return (quota?.Value ?? 0) >= wanted
    ? ok(what, detail)
    : wrong(what, detail, requestOf(API_QUOTA.ServiceCode, API_QUOTA.QuotaCode, wanted))
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
