import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { eventually } from '../../infra/local/process/eventually.ts'
import { makePythonEnvironment, runTool } from '../support/run-tool.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import type { Certificates } from './certificates.ts'

export const MINISTACK = '1.5.33'
const FAKETIME = '3.0.1'

const ENVIRONMENT = join(tmpdir(), `gateway-ministack-${MINISTACK}`)
const PYTHON = join(ENVIRONMENT, 'bin/python')

export const REGION = 'ap-southeast-3'
export const ACCOUNT = '000000000001'
const PORT = 4566
export const ENDPOINT = `https://127.0.0.1:${PORT}`

const TOOLS = [join(PROJECT_ROOT, 'node_modules/.bin'), process.env['PATH']].join(delimiter)

/** Runs first, because only the installation needs the internet. */
export function installMinistack() {
  return makePythonEnvironment(ENVIRONMENT, [`ministack==${MINISTACK}`, `libfaketime==${FAKETIME}`])
}

/**
 * A process reads the time once a second: two threads that read the file at once can end their
 * process.
 */
const CACHED_SECONDS = 1

export async function rehearsalClock(directory: string) {
  const where = ['-c', 'import libfaketime; print(libfaketime.__path__[0])']
  const library = join(
    (await runTool(PYTHON, where)).output.trim(),
    'vendor/libfaketime/src/libfaketime.so.1',
  )
  const file = join(directory, 'clock')
  let offset = 0
  const save = () => writeFileSync(file, `+${offset}\n`)
  save()
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: String(CACHED_SECONDS),
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    offsetSeconds: () => offset,
    /** Returns when every process has the new time. */
    advance: (seconds: number) => {
      offset += seconds
      save()
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, (CACHED_SECONDS + 1) * 1_000)
    },
  }
}

export type RehearsalClock = Awaited<ReturnType<typeof rehearsalClock>>

/** Tools run as the account itself, as at a first deployment. */
export function toolEnvironment(
  { certificate }: Certificates,
  clock: RehearsalClock,
): NodeJS.ProcessEnv {
  return {
    ...clock.env,
    PATH: TOOLS,
    AWS_ENDPOINT_URL: ENDPOINT,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_CA_BUNDLE: certificate,
    NODE_EXTRA_CA_CERTS: certificate,
    CDK_DISABLE_CLI_TELEMETRY: '1',
    CI: 'true',
  }
}

export const VERDICTS = 'verdicts.jsonl'
export const EMULATOR_LOG = 'ministack.log'

/** The emulator's functions are child processes that inherit its environment. */
export async function startEmulator(
  directory: string,
  certificates: Certificates,
  clock: RehearsalClock,
) {
  const log = join(directory, EMULATOR_LOG)
  const output = openSync(log, 'w')
  const child = spawn(PYTHON, [join(import.meta.dirname, 'judged_ministack.py')], {
    cwd: directory,
    stdio: ['ignore', output, output],
    env: {
      ...clock.env,
      PATH: TOOLS,
      TMPDIR: directory,
      AUTH: 'true',
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(PORT),
      USE_SSL: '1',
      MINISTACK_SSL_CERT: certificates.certificate,
      MINISTACK_SSL_KEY: certificates.key,
      NODE_EXTRA_CA_CERTS: certificates.certificate,
      MINISTACK_REGION: REGION,
      MINISTACK_ACCOUNT_ID: ACCOUNT,
      // As AWS has it, so that `prod` may reserve its runs.
      LAMBDA_ACCOUNT_CONCURRENCY: '1000',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      REHEARSAL_VERDICTS: join(directory, VERDICTS),
    },
  })
  const ended = once(child, 'close')
  const close = async () => {
    // SIGKILL, because MiniStack may wait for open connections for ever. Its data is only in
    // memory.
    child.kill('SIGKILL')
    await ended
  }
  const isUp = async () => {
    if (child.exitCode !== null) return false
    const answer = await fetch(`${ENDPOINT}/_ministack/health`).catch(() => undefined)
    return answer?.ok || undefined
  }
  if (await eventually('it did not answer', isUp).catch(() => false)) return { close }
  await close()
  throw new Error(`MiniStack did not start:\n${readFileSync(log, 'utf8').slice(-2_000)}`)
}
