import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { bundledStage } from '../../infra/assets/bundled-stage.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import type { SuiteReport } from '../suites.ts'
import { bareHandler, type Means, meansOf } from './bare-handler.ts'

/** Most that a bundle's load may be of its bare handler's (design section 9). */
const LIMIT = 1.15
/** Others use the machine as well, so the fastest of some loads counts; what is too slow yet is loaded more often. */
const LEAST_ROUNDS = 7
const MOST_ROUNDS = 40

const STAGE = deployedStage('prod')

const LOAD = `
  const from = process.cpuUsage()
  await import(process.argv[1])
  const { user, system } = process.cpuUsage(from)
  process.stdout.write(String((user + system) / 1000), () => process.exit())`

/** Milliseconds of a processor that a fresh process needs to load a module, its own start left out: nothing is waited for. */
const loadMs = (file: string): number => {
  const args = ['--input-type=module', '--eval', LOAD, pathToFileURL(file).href]
  const env = { AWS_REGION: 'ap-southeast-3', AWS_ACCESS_KEY_ID: 'none', AWS_SECRET_ACCESS_KEY: 'none' }
  return Number(execFileSync(process.execPath, args, { env, encoding: 'utf8' }))
}

type Loaded = { readonly file: string; ms: number }

const bareOf = async (directory: string, means: readonly Means[]): Promise<Loaded> => {
  const outfile = join(directory, `bare-${means.join('-')}.mjs`)
  await build({
    absWorkingDir: PROJECT_ROOT,
    stdin: { contents: bareHandler(means), resolveDir: PROJECT_ROOT },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    minify: true,
    alias: { '@aws-sdk/credential-provider-node': join(PROJECT_ROOT, 'shared/runtime/env-credentials.ts') },
  })
  return { file: outfile, ms: Infinity }
}

type Measured = { readonly name: string; readonly means: readonly Means[]; readonly own: Loaded; readonly bare: Loaded }

const ratioOf = ({ own, bare }: Measured): number => own.ms / bare.ms

/** Side by side, one load after the other, until each has been as fast as it must be, or often enough. */
const measure = (functions: readonly Measured[]): void => {
  let open = functions
  for (let round = 1; round <= MOST_ROUNDS && open.length > 0; round++) {
    for (const loaded of new Set(open.flatMap(({ own, bare }) => [own, bare]))) {
      loaded.ms = Math.min(loaded.ms, loadMs(loaded.file))
    }
    if (round >= LEAST_ROUNDS) open = open.filter((one) => ratioOf(one) > LIMIT)
  }
}

const functionsOf = async (directory: string): Promise<readonly Measured[]> => {
  const bundles = bundledStage(STAGE, directory)
  const bare = new Map<string, Loaded>()
  const measured: Measured[] = []
  for (const spec of MANIFEST) {
    const means = meansOf(spec, STAGE)
    const file = bundles.get(functionName(STAGE.settings.name, spec))?.file
    if (file === undefined) throw new Error(`the template has no function ${spec.name}`)
    const floor = bare.get(means.join()) ?? (await bareOf(directory, means))
    bare.set(means.join(), floor)
    measured.push({ name: spec.name, means, own: { file, ms: Infinity }, bare: floor })
  }
  return measured
}

const kilobytes = ({ file }: Loaded): string => String(Math.round(statSync(file).size / 1024))

const row = (one: Measured): string =>
  `| \`${one.name}\` | ${one.means.join(', ')} | ${kilobytes(one.own)} | ${kilobytes(one.bare)} | ${ratioOf(one).toFixed(2)} |`

/**
 * Bytes and load time of every bundle of `prod` beside those of the bare handler with the same clients (design section
 * 9). A bundle that loads in more than 1.15 times is a failure.
 */
export const startReport = async (): Promise<SuiteReport> => {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-start-'))
  try {
    const functions = await functionsOf(directory)
    measure(functions)
    const heading = '| Function | Its clients | KB | KB, bare | Load, of the bare |\n| --- | --- | --- | --- | --- |'
    return {
      text: [heading, ...functions.map(row)].join('\n'),
      failures: functions
        .filter((one) => ratioOf(one) > LIMIT)
        .map((one) => `${one.name} loads in ${ratioOf(one).toFixed(2)} times what a bare handler takes, over ${LIMIT}`),
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
}
