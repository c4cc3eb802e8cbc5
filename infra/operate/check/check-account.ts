import type { CloudFormationClient } from '@aws-sdk/client-cloudformation'
import { DescribeLimitsCommand } from '@aws-sdk/client-dynamodb'
import { GetAccountSettingsCommand, type LambdaClient } from '@aws-sdk/client-lambda'
import { GetHostedZoneCommand, type Route53Client } from '@aws-sdk/client-route-53'
import {
  GetAWSDefaultServiceQuotaCommand,
  GetServiceQuotaCommand,
} from '@aws-sdk/client-service-quotas'
import { GetCallerIdentityCommand, type STSClient } from '@aws-sdk/client-sts'
import { reservedRuns, UNRESERVED_MINIMUM } from '../../stack/settings/reserved-concurrency.ts'
import { type DeployedStage, FRONT_REGION, hasAlarms } from '../../stack/stage.ts'
import type { StageDomain } from '../../stack/stage-file.ts'
import { type AwsClients, describeStack, outputOf } from './aws-clients.ts'
import { errorName, type Finding, ok, remedyFor, runCheck, unlessAbsent, wrong } from './finding.ts'

/** The oldest CDK bootstrap that our stacks support. A test compares it with the assembly. */
export const OLDEST_BOOTSTRAP = 8

/** This check runs first, because every other check needs credentials and a region. */
export async function checkCredentials(
  sts: STSClient,
  region: string | undefined,
  { location }: DeployedStage,
): Promise<Finding> {
  if (region === undefined) {
    const todo = 'set AWS_REGION, or a region in the profile; for Indonesia it is ap-southeast-3'
    return wrong('region', 'none is set', todo)
  }
  try {
    const { Account: account, Arn: arn } = await sts.send(new GetCallerIdentityCommand({}))
    if (location && (location.account !== account || location.region !== region))
      return wrong(
        'credentials',
        `account ${account ?? '?'} in ${region}, but the stage is in account ${location.account} in ${location.region}`,
        'set AWS_PROFILE and AWS_REGION, or location in infra/stages/STAGE.json',
      )
    return ok('credentials', `account ${account ?? '?'} in ${region}, ${arn ?? '?'}`)
  } catch (error) {
    return wrong('credentials', errorName(error), remedyFor(error))
  }
}

/**
 * Whether CDK can publish into each region of a stage. In the front's region CDK would fail too
 * late: the API would already refuse all other callers.
 */
export function bootstrapChecks(
  { cloudFormationIn }: Pick<AwsClients, 'cloudFormationIn'>,
  { front, copies }: DeployedStage,
  region: string,
) {
  const places = [
    region,
    ...(front === 'cloudfront' ? [FRONT_REGION] : []),
    // An account other than the stage's is bootstrapped with its own credentials.
    ...(copies && copies.account === undefined ? [copies.region] : []),
  ]
  return [...new Set(places)].map((place) => {
    const what = `CDK bootstrap in ${place}`
    return { what, place, check: () => checkBootstrap(cloudFormationIn(place), what) }
  })
}

async function checkBootstrap(client: CloudFormationClient, what: string): Promise<Finding> {
  const stack = await describeStack(client, 'CDKToolkit')
  const version = (stack && outputOf(stack, 'BootstrapVersion')) ?? 'unknown'
  if (Number(version) >= OLDEST_BOOTSTRAP) return ok(what, `version ${version}`)
  const detail = stack ? `version ${version}, needs ${OLDEST_BOOTSTRAP} or later` : 'not done yet'
  return wrong(what, detail, 'npm run deploy -- --stage STAGE --init')
}

/** The concurrency that a new stage reserves. Without it CloudFormation would roll back. */
export async function checkSpareConcurrency(
  client: LambdaClient,
  stage: DeployedStage,
): Promise<Finding> {
  const what = 'Lambda concurrency'
  const runs = reservedRuns(stage)
  // A new account has a concurrency of ten, enough for a stage without reservations.
  if (runs === 0) return ok(what, 'this stage reserves nothing')
  const { AccountLimit: limit } = await client.send(new GetAccountSettingsCommand({}))
  const unreserved = (limit?.UnreservedConcurrentExecutions ?? 0) - runs
  const figures = `${limit?.ConcurrentExecutions ?? 0} in the account, ${unreserved} left unreserved after this deployment`
  const todo = `raise quota L-B99A9384 (concurrent executions), or lower reservedConcurrency in infra/stages/STAGE.json: at least ${UNRESERVED_MINIMUM} must be left`
  return unreserved >= UNRESERVED_MINIMUM ? ok(what, figures) : wrong(what, figures, todo)
}

/** For a private zone a deployment would wait hours for its certificate. */
export async function checkDomain(
  client: Route53Client,
  domain: StageDomain | undefined,
): Promise<Finding> {
  if (domain === undefined) return ok('domain', 'none: API Gateway generates the address')
  const { name, zone } = domain
  const ask = client.send(new GetHostedZoneCommand({ Id: zone.id }))
  const { HostedZone: hostedZone } =
    (await unlessAbsent(['NoSuchHostedZone', 'InvalidInput'], ask)) ?? {}
  const isPrivate = hostedZone?.Config?.PrivateZone === true
  if (hostedZone?.Name === `${zone.name}.` && !isPrivate)
    return ok(`domain ${name}`, `zone ${zone.name} is there`)
  const detail = `zone ${zone.id} of this account is ${isPrivate ? 'private' : (hostedZone?.Name ?? 'not there')}`
  const todo = `make it the public zone ${zone.name}, or correct domain in infra/stages/STAGE.json`
  return wrong(`domain ${name}`, detail, todo)
}

/**
 * The quotas that synth and the concurrency alarm use. Not checked for a stage without alarms,
 * because a new account, in which such a stage may be tried, has lower quotas.
 */
export async function checkAccountQuotas(aws: AwsClients, stage: DeployedStage) {
  if (!hasAlarms(stage)) return []
  const findings = await Promise.all([
    runCheck('account concurrency', () => checkAccountConcurrency(aws, stage)),
    runCheck('account table units', () => checkTableUnits(aws, stage)),
  ])
  return findings.flat()
}

async function checkAccountConcurrency({ lambda }: AwsClients, stage: DeployedStage) {
  const { AccountLimit: { ConcurrentExecutions: limit } = {} } = await lambda.send(
    new GetAccountSettingsCommand({}),
  )
  const detail = `the account has ${limit ?? 'unknown'}; synth and concurrency-near-limit use ${stage.accountConcurrency}`
  return limit === stage.accountConcurrency
    ? ok('account concurrency', detail)
    : wrong('account concurrency', detail, concurrencyRemedy(limit ?? 0, stage))
}

function concurrencyRemedy(limit: number, { accountConcurrency }: DeployedStage) {
  const setInFile = 'set accountConcurrency in infra/stages/STAGE.json and deploy'
  return limit > accountConcurrency
    ? setInFile
    : `${quotaCommand('lambda', 'L-B99A9384', accountConcurrency)}, or ${setInFile}`
}

/** AWS answers a request within minutes or days. */
function quotaCommand(service: string, code: string, value: number) {
  return `aws service-quotas request-service-quota-increase --service-code ${service} --quota-code ${code} --desired-value ${value}`
}

async function checkTableUnits(
  { dynamodb }: AwsClients,
  { table }: DeployedStage,
): Promise<Finding> {
  const what = 'account table units'
  const limits = await dynamodb.send(new DescribeLimitsCommand({}))
  const { TableMaxReadCapacityUnits: reads = 0, TableMaxWriteCapacityUnits: writes = 0 } = limits
  const need = `the stage needs ${table.maxReadUnits} and ${table.maxWriteUnits}`
  const detail = `${reads} reads and ${writes} writes a second of one table, and ${need}`
  return reads >= table.maxReadUnits && writes >= table.maxWriteUnits
    ? ok(what, detail)
    : wrong(
        what,
        detail,
        'raise the quotas of DynamoDB for one table, or lower table.maxReadUnits and maxWriteUnits',
      )
}

const API_QUOTA = { ServiceCode: 'apigateway', QuotaCode: 'L-8A5B8E43' } as const

/** Whether the account's API quota is as high as the throttles of all routes together. */
export async function checkApiRequests(
  { serviceQuotas }: Pick<AwsClients, 'serviceQuotas'>,
  { throttle, routeThrottles }: DeployedStage,
) {
  const what = 'account API requests'
  const ask = serviceQuotas.send(new GetServiceQuotaCommand(API_QUOTA))
  // A quota that was never raised has only its default.
  const { Quota: quota } =
    (await unlessAbsent(['NoSuchResourceException'], ask)) ??
    (await serviceQuotas.send(new GetAWSDefaultServiceQuotaCommand(API_QUOTA)))
  const required = [throttle, ...Object.values(routeThrottles)].reduce(
    (sum, { requestsPerSecond }) => sum + requestsPerSecond,
    0,
  )
  const detail = `all APIs: ${quota?.Value ?? 'unknown'} a second; the routes of the stage let through ${required}`
  return (quota?.Value ?? 0) >= required
    ? ok(what, detail)
    : wrong(what, detail, quotaCommand(API_QUOTA.ServiceCode, API_QUOTA.QuotaCode, required))
}
