import type { Stack } from '@aws-sdk/client-cloudformation'
import type { DeployedStage } from '../../stack/stage.ts'
import { frontStackNameOf, stackNameOf } from '../../stack/stage-template.ts'
import type { AwsClients } from '../check/aws-clients.ts'
import { describedStack, wasCreated } from '../check/described-stack.ts'
import { type Finding, ok } from '../check/finding.ts'
import { stackFinding } from '../check/stack-status.ts'
import { checkLeftovers } from './check-leftovers.ts'
import { checkSecrets, SECRETS_TO_COME } from './check-secrets.ts'

const NO_ROLLBACK = '--no-rollback'

/** What there is of the stage's stack and its names, and what must be done with it before a deployment. */
export const checkStack = async (
  aws: AwsClients,
  {
    stage,
    region,
    flags,
  }: { readonly stage: DeployedStage; readonly region: string; readonly flags: readonly string[] },
): Promise<{ readonly findings: readonly Finding[]; readonly first: boolean }> => {
  const stack = await describedStack(aws.cloudFormation, stackNameOf(stage))
  const finding = statusFinding('stack', stack, flags)
  // Its names are taken by what it has made so far.
  if (stack?.StackStatus === 'CREATE_FAILED') return { findings: [finding, ...SECRETS_TO_COME], first: true }
  if (stack && wasCreated(stack)) {
    const secrets = await checkSecrets(aws, { stack, stageName: stage.settings.name })
    return { findings: [finding, ...secrets], first: false }
  }
  return {
    findings: [finding, ...SECRETS_TO_COME, ...(await checkLeftovers(aws, { stage, region, flags }))],
    first: true,
  }
}

/** The same of the front's stack, which a failed creation leaves behind likewise. */
export const checkFrontStack = async (
  { globalCloudFormation }: Pick<AwsClients, 'globalCloudFormation'>,
  stage: DeployedStage,
  flags: readonly string[],
): Promise<Finding> =>
  statusFinding('front stack', await describedStack(globalCloudFormation, frontStackNameOf(stage)), flags)

const statusFinding = (what: string, stack: Stack | undefined, flags: readonly string[]): Finding => {
  if (!stack || stack.StackStatus === 'REVIEW_IN_PROGRESS') return ok(what, 'is not there yet')
  const detail = `${stack.StackName ?? '?'} is ${stack.StackStatus ?? '?'}`
  // CDK goes on where a deployment without rollback stopped, and removes what is left of a creation by itself.
  const goesOn = /^(CREATE|UPDATE)_FAILED$/.test(stack.StackStatus ?? '') && flags.includes(NO_ROLLBACK)
  if (goesOn) return ok(what, `${detail}, and is gone on with`)
  if (!wasCreated(stack) && stack.EnableTerminationProtection !== true) return ok(what, `${detail}, and is made anew`)
  return stackFinding(what, stack)
}
