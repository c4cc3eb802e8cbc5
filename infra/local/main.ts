import { enableCompileCache, flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { banner } from './banner.ts'
import { TABLE_OPTION, tableFrom } from './emulators/local-table.ts'
import { watchProcess } from './process/watch-process.ts'
import {
  DEFAULT_PORT,
  portFrom,
  readOptions,
  runCommand,
  UsageError,
} from './terminal/command-line.ts'
import { printableLines } from './terminal/printable.ts'
import { ENVIRONMENT_HELP } from './test-provider/environment-help.ts'

/** Closing takes about a second. After this the process exits anyway. */
const STOP_DEADLINE_MS = 10_000

const USAGE = `npm start [-- --table memory|dynamodb] [--data DIR] [--provider xendit-test] [--limits prod] [--verbose]

Runs the whole gateway on this machine. PORT (default ${DEFAULT_PORT}) moves its four ports.
  --table memory|dynamodb
               where the table is: in this process, or in DynamoDB Local, which needs Java 17 or Docker. Default:
               DynamoDB Local if this machine can start it, else memory
  --data DIR   keep all state in DIR, with DynamoDB Local. Without it, all state is lost at the end
  --provider xendit-test
               ask the provider's own test mode instead of the simulator, with your development key. No clock jumps
  --limits prod
               limit clients and pushes to a phone as in production. Without it, clients have no limits
  --verbose    write every log line to the error output
  --help, -h   this text
Environment, for --provider xendit-test:
${ENVIRONMENT_HELP}
Exit code: 0 stopped on request, 1 did not start or failed, 2 wrong arguments.`

const OPTIONS = {
  ...TABLE_OPTION,
  data: { type: 'string' },
  limits: { type: 'string' },
  provider: { type: 'string' },
  verbose: { type: 'boolean' },
} as const

const COMPILE_CACHE = join(import.meta.dirname, '../../node_modules/.cache/local-gateway')

enableCompileCache(COMPILE_CACHE)
const lifecycle = watchProcess()
try {
  process.exit(await runCommand(USAGE, process.argv.slice(2), start))
} catch (error) {
  if (lifecycle.signal.aborted) process.exit(await lifecycle.exitCode)
  const { message, cause } = error instanceof Error ? error : new Error(String(error))
  const reason = cause instanceof Error ? `\n  ${cause.message}` : ''
  console.error(printableLines(`The local gateway did not start: ${message}${reason}`))
  process.exit(1)
}

async function start(argv: readonly string[]) {
  const { data, verbose = false, limits, provider, ...options } = readOptions(argv, OPTIONS)
  const table = tableFrom(options.table)
  if (data !== undefined && table === 'memory') {
    throw new UsageError(
      '--data cannot keep a table in memory; leave out --data, or --table memory',
    )
  }
  if (limits !== undefined && limits !== 'prod') throw new UsageError('--limits takes prod')
  if (provider !== undefined && provider !== 'xendit-test')
    throw new UsageError('--provider takes xendit-test; without it, the simulator is the provider')
  const port = portFrom(process.env['PORT'])
  console.log('Starting the local gateway…')
  // Modules that are imported earlier do not use the cache.
  const { startLocalCloud } = await import('./local-cloud.ts')
  const cloud = await startLocalCloud({
    port,
    table,
    dataDirectory: data,
    limits: limits === 'prod' ? await productionLimits() : undefined,
    testEnvironment: provider === undefined ? undefined : await providerTestMode(),
    signal: lifecycle.signal,
    onFailure: lifecycle.fail,
    onProgress: (step) => console.log(`  ${step}…`),
    ...(verbose && { writeLog: (line) => console.error(line) }),
  })
  console.log(banner(cloud, { startedInMs: performance.now(), data }))
  flushCompileCache()
  const exitCode = await lifecycle.exitCode
  console.log('\nStopping…')
  setTimeout(() => process.exit(exitCode || 1), STOP_DEADLINE_MS).unref()
  await cloud.close()
  console.log('Stopped.')
  return exitCode
}

/** Most starts use the simulator. */
async function providerTestMode() {
  const { testEnvironment } = await import('./test-provider/test-environment.ts')
  return testEnvironment(process.env)
}

/** Most starts need no stage's file. */
async function productionLimits() {
  const { readStageFile } = await import('../stack/stage-file.ts')
  const { clientRateLimit, clientCreateLimit, pushLimit } = readStageFile('prod')
  return { clientRateLimit, clientCreateLimit, pushLimit }
}
