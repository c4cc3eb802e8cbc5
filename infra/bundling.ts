import { join } from 'node:path'
import { type BundlingOptions, LogLevel, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs'

export const PROJECT_ROOT = join(import.meta.dirname, '..')

/**
 * How a handler becomes its asset. The SDK is bundled, so that the versions of the lock file run; ES modules first,
 * because the CommonJS builds of the SDK are half as large again; and the SDK's chain of credential sources (profiles,
 * SSO, instance metadata), which a function never uses, is replaced by the environment. Together they make a cold start
 * about half as long. No source map: reading one at start costs more than the names in a stack trace are worth.
 */
export const BUNDLING: BundlingOptions = {
  format: OutputFormat.ESM,
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
  sourceMap: false,
  bundleAwsSDK: true,
  logLevel: LogLevel.WARNING,
  esbuildArgs: {
    '--alias': [`@aws-sdk/credential-provider-node=${join(PROJECT_ROOT, 'shared/runtime/env-credentials.ts')}`],
  },
}
