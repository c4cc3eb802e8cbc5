import { LambdaClient } from '@aws-sdk/client-lambda'
import { UsageError } from '../../local/terminal/command-line.ts'
import { assertDeployable } from '../../stack/assert-deployable.ts'
import { type DeployedStage, deployedStage } from '../../stack/stage.ts'

/** The stage that a command line names. Throws `UsageError` when it names none, or one that cannot be deployed. */
export const stageNamed = (name: string | undefined): DeployedStage => {
  if (name === undefined) throw new UsageError('name the stage with --stage NAME')
  try {
    const stage = deployedStage(name)
    assertDeployable(stage)
    return stage
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'the stage cannot be deployed')
  }
}

/**
 * The region as CDK will see it: the environment's, in both of its spellings, or the profile's. Undefined when there is
 * none: CDK would then choose one by itself, on another continent.
 */
export const regionOf = async (env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> => {
  const named = env['AWS_REGION'] || env['AWS_DEFAULT_REGION']
  if (named) return named
  try {
    return await new LambdaClient({}).config.region()
  } catch {
    return undefined
  }
}

/** The same. Throws `UsageError` when there is none. */
export const regionNamed = async (env: Readonly<Record<string, string | undefined>>): Promise<string> => {
  const region = await regionOf(env)
  if (region !== undefined) return region
  throw new UsageError('no region is set: set AWS_REGION, or a region in the profile that AWS_PROFILE names')
}
