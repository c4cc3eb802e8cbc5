import { UsageError } from '../../local/terminal/command-line.ts'

/**
 * The region that CDK will use: from one of two environment variables, or from the profile. Without
 * a region CDK would choose one on another continent.
 */
export async function regionOf(env: NodeJS.ProcessEnv) {
  const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION']
  if (region) return region
  try {
    const { LambdaClient } = await import('@aws-sdk/client-lambda')
    return await new LambdaClient({}).config.region()
  } catch {
    return undefined
  }
}

/** Throws `UsageError` without a region. */
export async function requireRegion(env: NodeJS.ProcessEnv) {
  const region = await regionOf(env)
  if (region !== undefined) return region
  throw new UsageError(
    'no region is set: set AWS_REGION, or a region in the profile that AWS_PROFILE names',
  )
}
