import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
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
/**
 * Others use the machine as well, so a bundle and its bare handler are loaded one after the other and their ratio counts:
 * what disturbs one mostly disturbs both. What is over the limit by the median of some pairs is loaded more often.
 */
const LEAST_PAIRS = 7
const MOST_PAIRS = 41
/** Of 41 pairs. With a true ratio at the limit each is above as often as below: this many happen in one run of 1,000. */
const SURELY_OVER = 31

const STAGE = deployedStage('prod')

const LOAD = `
  const from = process.cpuUsage()
  await import(process.argv[1])
  const { user, system } = process.cpuUsage(from)
  process.stdout.write(String((user + system) / 1000), () => process.exit())`

const execute = promisify(execFile)

/** Milliseconds of a processor that a fresh process needs to load a module, its own start left out: nothing is waited for. */
const loadMs = async (file: string): Promise<number> => {
  const args = ['--input-type=module', '--eval', LOAD, pathToFileURL(file).href]
  const env = { AWS_REGION: 'ap-southeast-3', AWS_ACCESS_KEY_ID: 'none', AWS_SECRET_ACCESS_KEY: 'none' }
  const { stdout } = await execute(process.execPath, args, { env })
  return Number(stdout)
}

const bareOf = async (directory: string, means: readonly Means[]): Promise<string> => {
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
  return outfile
}

type Measured = {
  readonly name: string
  readonly means: readonly Means[]
  readonly file: string
  readonly bare: string
  /** One of each pair of loads, the bundle's of its bare handler's. */
  readonly ratios: number[]
}

const median = ({ ratios }: Measured): number => ratios.toSorted((a, b) => a - b)[(ratios.length - 1) / 2] ?? Infinity

const isSurelyOver = ({ ratios }: Measured): boolean => ratios.filter((ratio) => ratio > LIMIT).length >= SURELY_OVER

/** One more pair of loads of each function, on every core; the two loads of a pair follow one another. */
const measureOnce = async (functions: readonly Measured[]): Promise<void> => {
  const waiting = [...functions]
  const core = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift())
      one.ratios.push((await loadMs(one.file)) / (await loadMs(one.bare)))
  }
  await Promise.all(Array.from({ length: availableParallelism() }, core))
}

const measure = async (functions: readonly Measured[]): Promise<void> => {
  let open = functions
  for (let pair = 1; pair <= MOST_PAIRS && open.length > 0; pair++) {
    await measureOnce(open)
    if (pair >= LEAST_PAIRS && pair % 2 === 1) open = open.filter((one) => median(one) > LIMIT)
  }
}

const functionsOf = async (directory: string): Promise<readonly Measured[]> => {
  const bundles = bundledStage(STAGE, directory)
  const bare = new Map<string, string>()
  const measured: Measured[] = []
  for (const spec of MANIFEST) {
    const means = meansOf(spec, STAGE)
    const file = bundles.get(functionName(STAGE.settings.name, spec))?.file
    if (file === undefined) throw new Error(`the template has no function ${spec.name}`)
    const floor = bare.get(means.join()) ?? (await bareOf(directory, means))
    bare.set(means.join(), floor)
    measured.push({ name: spec.name, means, file, bare: floor, ratios: [] })
  }
  return measured
}

const kilobytes = (file: string): string => String(Math.round(statSync(file).size / 1024))

const row = (one: Measured): string =>
  `| \`${one.name}\` | ${one.means.join(', ')} | ${kilobytes(one.file)} | ${kilobytes(one.bare)} | ${median(one).toFixed(2)} |`

/**
 * Bytes and load time of every bundle of `prod` beside those of the bare handler with the same clients (design section
 * 9). A bundle that surely loads in more than 1.15 times is a failure.
 */
export const startReport = async (): Promise<SuiteReport> => {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-start-'))
  try {
    const functions = await functionsOf(directory)
    await measure(functions)
    const heading = '| Function | Its clients | KB | KB, bare | Load, of the bare |\n| --- | --- | --- | --- | --- |'
    return {
      text: [heading, ...functions.map(row)].join('\n'),
      failures: functions
        .filter(isSurelyOver)
        .map((one) => `${one.name} loads in ${median(one).toFixed(2)} times what a bare handler takes, over ${LIMIT}`),
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
}
