import { stackNameOf } from '../../stack/stack-name-of.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import { type AwsClients, awsClients } from '../check/aws-clients.ts'
import { checkSettings } from '../check/check-settings.ts'
import { describedStack, wasCreated } from '../check/described-stack.ts'
import { type Finding, ok, runCheck, wrong } from '../check/finding.ts'
import { bootstrapChecks, checkCredentials, checkDomain, checkSpareConcurrency } from './check-account.ts'
import { checkInstalled } from './check-installed.ts'
import { checkLeftovers } from './check-leftovers.ts'

export type PreflightInput = {
  readonly stage: DeployedStage
  readonly region: string | undefined
  /** Passed on to `cdk deploy`. */
  readonly flags: readonly string[]
  readonly root: string
}

export type Preflight = {
  readonly findings: readonly Finding[]
  /** The stack is not there yet: some things can be done only after its first deployment. */
  readonly first: boolean
}

/**
 * What `cdk deploy` would not say at all, or only after harm is done: a stage for which production's settings are missing,
 * packages or an account by mistake, a first deployment that has to be taken back. Reads only.
 */
export const preflight = async (
  { stage, region, flags, root }: PreflightInput,
  connect: (region: string) => AwsClients = awsClients,
): Promise<Preflight> => {
  const here = [...checkSettings(stage), ...(await runCheck('packages', async () => checkInstalled(root)))]
  if (region === undefined) {
    const todo = 'set AWS_REGION, or a region in the profile; for Indonesia it is ap-southeast-3'
    return { findings: [...here, wrong('region', 'none is set', todo)], first: false }
  }
  const aws = connect(region)
  const credentials = await checkCredentials(aws.sts, region)
  if (credentials.state !== 'ok') return { findings: [...here, credentials], first: false }
  let first = false
  const status = async (StackName: string): Promise<string | undefined> => {
    const stack = await describedStack(aws.cloudFormation, StackName)
    return stack !== undefined && wasCreated(stack) ? stack.StackStatus : undefined
  }
  const found = await Promise.all([
    ...bootstrapChecks(aws, stage, region).map(({ what, check }) => runCheck(what, check)),
    runCheck('domain', () => checkDomain(aws.route53, stage.domain)),
    runCheck('data stack', async () => {
      // One whose creation broke off holds its names itself, and is gone on with.
      const is = await status(stackNameOf(stage, 'data'))
      if (is !== undefined) return ok('data stack', `${stackNameOf(stage, 'data')} is ${is}`)
      return [ok('data stack', 'is not there yet'), ...(await checkLeftovers(aws, { stage, region, flags }))]
    }),
    runCheck('stack', async () => {
      const is = await status(stackNameOf(stage))
      first = is === undefined || is === 'CREATE_FAILED'
      if (is !== undefined) return ok('stack', `${stackNameOf(stage)} is ${is}`)
      return [ok('stack', 'is not there yet'), await checkSpareConcurrency(aws.lambda, stage)]
    }),
  ])
  return { findings: [...here, credentials, ...found.flat()], first }
}
