import { join } from 'node:path'
import { type BundlingOptions, LogLevel, OutputFormat, SourceMapMode } from 'aws-cdk-lib/aws-lambda-nodejs'
import { SOURCE_MAPS } from './source-maps.ts'

export const PROJECT_ROOT = join(import.meta.dirname, '../../..')

/**
 * How a handler becomes its asset. The SDK is bundled, so that the versions of the lock file run; ES modules first,
 * because the CommonJS builds of the SDK are half as large again; and the SDK's chain of credential sources (profiles,
 * SSO, instance metadata), which a function never uses, is replaced by the environment. Together they make a cold start
 * about half as long.
 *
 * The asset has no source map, since reading one at start costs more than the names in a stack trace are worth. It is
 * written next to the assets instead, without the sources' text, for whoever keeps what was deployed:
 * `npm run trace -- <function>` reads a stack trace with it.
 */
export const bundlingOf = (functionName: string): BundlingOptions => ({
  format: OutputFormat.ESM,
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
  sourceMap: true,
  sourceMapMode: SourceMapMode.EXTERNAL,
  sourcesContent: false,
  bundleAwsSDK: true,
  logLevel: LogLevel.WARNING,
  esbuildArgs: {
    '--alias': [`@aws-sdk/credential-provider-node=${join(PROJECT_ROOT, 'shared/runtime/env-credentials.ts')}`],
  },
  commandHooks: {
    beforeBundling: () => [],
    beforeInstall: () => [],
    // Moved before the asset is hashed, so that neither its bytes nor its name know of the map.
    afterBundling: (_inputDir, outputDir) => {
      const maps = join(outputDir, '..', SOURCE_MAPS)
      return [
        `mkdir -p "${maps}"`,
        `mv "${join(outputDir, 'index.mjs.map')}" "${join(maps, `${functionName}.mjs.map`)}"`,
      ]
    },
  },
})
