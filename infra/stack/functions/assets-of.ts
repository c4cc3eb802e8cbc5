import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { AssetHashType, DockerImage } from 'aws-cdk-lib'
import { Code } from 'aws-cdk-lib/aws-lambda'
import { type BuildOptions, buildSync } from 'esbuild'
import { type FunctionSpec, isHttp } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { PROJECT_ROOT, SOURCE_MAPS } from '../project-root.ts'
import type { DeployedStage } from '../stage.ts'
import { NODE_MAJOR } from './node-major.ts'

/**
 * The asset of each function, with its handler in `index.handler`. Functions with the same literals
 * are bundled in one call, because the bundler then reads shared modules once, which saves most of
 * a synthesis. NodejsFunction would start npm for every function to find the same bundler. Reading
 * a source map at start costs more than the names in a stack trace are worth, so the map, without
 * the sources' text, is beside the assets, where `npm run source-lines -- <function>` uses it.
 */
export function assetsOf(stage: DeployedStage): (spec: FunctionSpec) => Code {
  const bundles = new Map<string, Uint8Array>()
  return (spec) =>
    assetFrom(stage, spec.name, () => {
      if (!bundles.has(`${spec.name}.js`)) {
        const literals = literalsOf(spec)
        const alike = MANIFEST.filter((other) => isDeepStrictEqual(literalsOf(other), literals))
        for (const [file, contents] of bundle(alike, { define: literals }))
          bundles.set(file, contents)
      }
      return bundles
    })
}

function assetFrom(
  stage: DeployedStage,
  name: string,
  makeBundles: () => ReadonlyMap<string, Uint8Array>,
): Code {
  const tryBundle = (outputDir: string) => {
    const bundles = makeBundles()
    const maps = join(dirname(outputDir), SOURCE_MAPS)
    mkdirSync(maps, { recursive: true })
    writeFileSync(join(outputDir, 'index.mjs'), bundles.get(`${name}.js`) ?? '')
    writeFileSync(join(maps, `${name}.mjs.map`), bundles.get(`${name}.js.map`) ?? '')
    return true
  }
  return Code.fromAsset(PROJECT_ROOT, {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      image: DockerImage.fromRegistry('never-pulled'),
      // CDK distinguishes assets of one directory by their command.
      command: [stage.settings.name, name],
      local: { tryBundle },
    },
  })
}

/**
 * The ports that a function does not use, by their names in shared/runtime/runtime-deps.ts. By a
 * literal the bundler leaves out the modules that only such a port would load. No stage changes the
 * code: production runs the assets that another stage has run.
 */
function literalsOf(spec: FunctionSpec): Readonly<Record<string, string>> {
  const uses = {
    TABLE: Object.keys(spec.table).length > 0,
    QUEUES: spec.sends.length > 0,
    ALERTS: spec.alerts,
    SEALER: spec.endpointSecrets !== undefined,
    // In a stage behind a front, functions that answer HTTP read the origin secret.
    SECRETS: spec.secrets.length > 0 || isHttp(spec),
    PROVIDER: spec.secrets.includes('read-provider'),
    MERCHANTS: spec.callsMerchants === true,
    // Registering an endpoint also checks the addresses of its webhooks.
    ADDRESSES: spec.callsMerchants === true || spec.endpointSecrets === 'seal',
  }
  const unused = Object.entries(uses).filter(([, used]) => !used)
  return Object.fromEntries(
    unused.map(([means]) => [`process.env.WITHHOLD_${means}`, '"yes"'] as const),
  )
}

/**
 * The SDK imports this for calls with an event stream, which no function makes. It would put a
 * wrapper around every module that it shares with other code: 20 KB and a twentieth of a start.
 */
const NEVER_LOADED = ['@smithy/core/event-streams']

const NODE_BUILTINS = join(PROJECT_ROOT, 'shared/runtime/node-builtins.ts')

/**
 * The SDK is bundled, so that the versions of the lock file run. `npm run bench -- start` compares
 * our bundles with a bare handler of these options.
 */
export const BUNDLE_OPTIONS = {
  absWorkingDir: PROJECT_ROOT,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: `node${NODE_MAJOR}`,
  // The CommonJS builds of the SDK are half as large again.
  mainFields: ['module', 'main'],
  minify: true,
  alias: {
    // No function uses the SDK's chain of credential sources (profiles, SSO, instance metadata).
    '@aws-sdk/credential-provider-node': join(PROJECT_ROOT, 'shared/runtime/env-credentials.ts'),
    'node:buffer': NODE_BUILTINS,
    'node:fs': NODE_BUILTINS,
    'node:fs/promises': NODE_BUILTINS,
    'node:http': NODE_BUILTINS,
    'node:process': NODE_BUILTINS,
    'node:util': NODE_BUILTINS,
  },
  external: NEVER_LOADED,
} as const satisfies BuildOptions

type Bundled = Pick<FunctionSpec, 'name' | 'entry'>

/** Each bundle has only the clients that its function uses. */
function bundle(specs: readonly Bundled[], options: Pick<BuildOptions, 'define' | 'external'>) {
  const { outputFiles } = buildSync({
    ...BUNDLE_OPTIONS,
    entryPoints: specs.map(({ entry, name }) => ({ in: entry, out: name })),
    outdir: 'bundles',
    write: false,
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'warning',
    ...options,
  })
  return new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]))
}

/**
 * The asset of a handler that is not in the manifest. The handler may use a client that loads event
 * streams at start.
 */
export function assetOf(stage: DeployedStage, handler: Bundled): Code {
  return assetFrom(stage, handler.name, () => bundle([handler], { external: [] }))
}
