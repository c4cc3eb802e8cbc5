import { LambdaClient } from '@aws-sdk/client-lambda'

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

export const NO_REGION = 'no region is set: set AWS_REGION, or a region in the profile that AWS_PROFILE names'
