import { LambdaClient } from '@aws-sdk/client-lambda'
import { UsageError } from '../../local/terminal/command-line.ts'
import { assertDeployable } from '../../stack/assert-deployable.ts'
import { type DeployedStage, deployedStage } from '../../stack/stage.ts'

/**
 * The stage that a command line names. Throws `UsageError` without a name, or if the stage cannot
 * be deployed.
 */
export function stageNamed(name: string | undefined): DeployedStage {
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
 * The region that CDK will use: from one of two environment variables, or from the profile.
 * Undefined without a region; CDK would then choose a region on another continent.
 */
export async function regionOf(
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION']
  if (region) return region
  try {
    return await new LambdaClient({}).config.region()
  } catch {
    return undefined
  }
}

/** Throws `UsageError` without a region. */
export async function requireRegion(
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const region = await regionOf(env)
  if (region !== undefined) return region
  throw new UsageError(
    'no region is set: set AWS_REGION, or a region in the profile that AWS_PROFILE names',
  )
}
