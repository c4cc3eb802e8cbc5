import { type CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { GetAccountSettingsCommand, GetFunctionConcurrencyCommand, type LambdaClient } from '@aws-sdk/client-lambda'
import { GetCallerIdentityCommand } from '@aws-sdk/client-sts'
import { type FunctionSpec, functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { reservedConcurrency, UNRESERVED_MINIMUM } from '../../stack/functions/reserved-concurrency.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import type { AwsClients } from '../check/aws-clients.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { errorName, isNoNetwork, remedyFor, unlessAbsent } from '../check/look.ts'

/** The first version of CDK's bootstrap resources that our stacks are published through; a test holds it to the assembly. */
export const OLDEST_BOOTSTRAP = 8

/** Whose account it will be. Without credentials no other check can look, so this one is asked first. */
export const checkCredentials = async ({ sts }: Pick<AwsClients, 'sts'>): Promise<Finding> => {
  try {
    const { Account: account, Arn: arn } = await sts.send(new GetCallerIdentityCommand({}))
    return ok('credentials', `account ${account ?? '?'}, ${arn ?? '?'}`)
  } catch (error) {
    if (isNoNetwork(error)) return wrong('credentials', `no network (${errorName(error)})`, remedyFor(error))
    return wrong('credentials', errorName(error), 'sign in to AWS: aws sso login, or set AWS_PROFILE')
  }
}

/** Whether CDK can publish into a region. */
export const checkBootstrap = async (client: CloudFormationClient, region: string): Promise<Finding> => {
  const what = `CDK bootstrap in ${region}`
  const todo = `npx cdk bootstrap aws://ACCOUNT/${region}`
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: 'CDKToolkit' }))
    const version = Number(stack?.Outputs?.find(({ OutputKey }) => OutputKey === 'BootstrapVersion')?.OutputValue)
    return version >= OLDEST_BOOTSTRAP
      ? ok(what, `version ${version}`)
      : wrong(what, `version ${Number.isNaN(version) ? 'unknown' : version}, needs ${OLDEST_BOOTSTRAP} or later`, todo)
  } catch (error) {
    if (error instanceof Error && /does not exist/.test(error.message)) return wrong(what, 'not done yet', todo)
    throw error
  }
}

/** Whether the account can spare what the stage reserves beyond what its earlier deployments have. */
export const checkConcurrency = async (
  client: LambdaClient,
  stage: DeployedStage,
  manifest: readonly FunctionSpec[] = MANIFEST,
): Promise<Finding> => {
  const what = 'Lambda concurrency'
  const rises = await Promise.all(manifest.map((spec) => riseOf(client, stage, spec)))
  const wanted = rises.reduce((sum, one) => sum + one, 0)
  // A new account may run ten at a time, all of them unreserved: enough for a stage that asks for none.
  if (wanted === 0) return ok(what, 'this deployment reserves no more than is reserved')
  const { AccountLimit: limit } = await client.send(new GetAccountSettingsCommand({}))
  const left = (limit?.UnreservedConcurrentExecutions ?? 0) - wanted
  const figures = `${limit?.ConcurrentExecutions ?? 0} in the account, ${left} left unreserved after this deployment`
  return left >= UNRESERVED_MINIMUM
    ? ok(what, figures)
    : wrong(
        what,
        figures,
        `raise quota L-B99A9384 (concurrent executions), or lower reservedConcurrency in infra/stack/stage.ts: at least ${UNRESERVED_MINIMUM} must be left`,
      )
}

/** What a function gives back is not counted: CloudFormation may ask for another one's first. */
const riseOf = async (client: LambdaClient, stage: DeployedStage, spec: FunctionSpec): Promise<number> => {
  const { reservedConcurrentExecutions: runs } = reservedConcurrency(spec, stage)
  if (runs === undefined) return 0
  const FunctionName = functionName(stage.settings.name, spec)
  const ask = client.send(new GetFunctionConcurrencyCommand({ FunctionName }))
  const found = await unlessAbsent(['ResourceNotFoundException'], ask)
  return Math.max(0, runs - (found?.ReservedConcurrentExecutions ?? 0))
}
