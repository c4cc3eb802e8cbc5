import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import type { HandlerModule, LoadedFunction, Means } from '../world/handlers.ts'
import { type Adapters, simDepsOf } from '../world/sim-deps.ts'
import { FORMER_RELEASE, findRelease, git } from './find-release.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** Ignored by git, and inside the project, so that packages are found. */
const SCRATCH = join(ROOT, '.local-data')

/** Whether this clone has the release before: it may have been made without its history. */
export const hasFormerRelease = (): boolean => findRelease(FORMER_RELEASE, ROOT) !== undefined

type Release = Adapters &
  Pick<Means, 'grantedDeps'> & {
    readonly MANIFEST: readonly FunctionSpec[]
    readonly modules: Readonly<Record<string, HandlerModule>>
  }

/** Packages that are no longer installed, of what speaks to AWS: the simulation's world stands in its place. */
const GONE = /^@aws-sdk\/lib-dynamodb$/
const withoutWhatIsGone: Plugin = {
  name: 'without what is gone',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: GONE }, ({ path }) => ({ path, namespace: 'gone' }))
    onLoad({ filter: GONE, namespace: 'gone' }, () => ({ loader: 'js', contents: 'module.exports = {}' }))
  },
}

/** What is taken of the release: its functions, its adapters and its grants. */
const entryOf = (files: readonly string[]): string =>
  [
    `export { MANIFEST } from './functions/manifest.ts'`,
    // Where that release has them, which may be elsewhere than in this one.
    `export { assembledDeps } from './test/support/assembled-deps.ts'`,
    `export { loggedProvider } from './shared/provider/logged-provider.ts'`,
    `export { xenditProvider } from './shared/provider/xendit/xendit-provider.ts'`,
    `export { grantedDeps } from './infra/local/functions/granted-deps.ts'`,
    ...files.map((file, at) => `import * as m${at} from './${file}'`),
    `export const modules = { ${files.map((file, at) => `'${file}': m${at}`).join(', ')} }`,
  ].join('\n')

const bundle = async (directory: string): Promise<Release> => {
  const archive = git(ROOT, 'archive', FORMER_RELEASE.commit, 'functions', 'shared', 'infra', 'test', 'tsconfig.json')
  execFileSync('tar', ['-x', '-C', directory], { input: archive })
  const files = readdirSync(join(directory, 'functions'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /.+\/.+\.ts$/.test(file))
    .map((file) => `functions/${file}`)
  const outfile = join(directory, 'release.mjs')
  await build({
    stdin: { contents: entryOf(files), resolveDir: directory, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    packages: 'external',
    logLevel: 'error',
    plugins: [withoutWhatIsGone],
  })
  return (await import(pathToFileURL(outfile).href)) as Release
}

/** Every function of the release before, on that release's own adapters and grants: its code as it was, out of git. */
export const loadFormerRelease = async (): Promise<ReadonlyMap<string, LoadedFunction>> => {
  mkdirSync(SCRATCH, { recursive: true })
  const directory = mkdtempSync(join(SCRATCH, 'former-release-'))
  try {
    const { MANIFEST, modules, grantedDeps, ...adapters } = await bundle(directory)
    const simDeps = simDepsOf(adapters)
    return new Map(
      MANIFEST.map((spec) => {
        const module = modules[spec.entry]
        if (!module) throw new Error(`the release before has no ${spec.entry}`)
        return [spec.name, { spec, simDeps, grantedDeps, build: module.handler.withDeps, isFormer: true }] as const
      }),
    )
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
