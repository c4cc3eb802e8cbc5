import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readIfPresent } from '../process/json-file.ts'
import { type KeptProcess, startKeptProcess } from '../process/kept-process.ts'
import type { ProcessRecord } from '../process/process-record.ts'
import { type DynamoDbProgram, dynamoDbPrograms } from './dynamodb-command.ts'

export type DynamoDbLocal = {
  readonly endpoint: string
  readonly pid: number
  /** Resolves when it is gone, whoever ended it, with the last lines of its error output. */
  readonly exited: Promise<string>
  /** Ends it: in memory at once, on files when what it has answered is in them. */
  close(): Promise<void>
}

export const LOCAL_REGION = 'ap-southeast-3'

/**
 * How an SDK client reaches an emulator. The endpoint of DynamoDB Local carries its access key as a user name
 * (`http://KEY@127.0.0.1:1234`); the other emulators take any.
 */
export const localAws = (endpoint: string) => {
  const url = new URL(endpoint)
  const accessKeyId = url.username || 'local'
  url.username = ''
  return { endpoint: url.origin, region: LOCAL_REGION, credentials: { accessKeyId, secretAccessKey: 'local' } }
}

const START_TRIES = 3
const READY_POLL_MS = 50
/** The first answer takes seconds on a busy machine: Java is still loading classes. */
const ANSWERS_WITHIN_MS = 5_000

type StartOptions = {
  /** Called with the process's id as soon as it runs and before it answers: it already has the files open. */
  readonly onSpawn?: (started: ProcessRecord) => void
  readonly signal?: AbortSignal
}

/** This machine has no program that can start DynamoDB Local. */
export class NoDynamoDbLocal extends Error {
  override readonly name = 'NoDynamoDbLocal'
  override readonly message = 'neither Java 17 nor Docker on this machine'
}

/**
 * Starts DynamoDB Local on a free port, in memory or on the files of `dataDirectory`. It does not outlive this process,
 * even if this one is killed. Rejects when the signal aborts; nothing is left then. Rejects with `NoDynamoDbLocal` when
 * there is nothing to start it with.
 */
export const startDynamoDbLocal = async (
  dataDirectory?: string,
  options: StartOptions = {},
): Promise<DynamoDbLocal> => {
  for (const program of dynamoDbPrograms()) {
    const started = await startBy(program, dataDirectory, options)
    if (started) return started
  }
  throw new NoDynamoDbLocal()
}

/** Undefined when it ends because the program is unfit: a Java that is too old, a Docker that does not run. */
const startBy = async (
  program: DynamoDbProgram,
  dataDirectory: string | undefined,
  options: StartOptions,
): Promise<DynamoDbLocal | undefined> => {
  const accessKey = accessKeyFor(dataDirectory)
  let errors = ''
  for (let tried = 0; tried < START_TRIES; tried++) {
    options.signal?.throwIfAborted()
    const port = await freePort()
    const endpoint = `http://${accessKey}@127.0.0.1:${port}`
    const running = await startKeptProcess(
      program.commandFor({ port, ...(dataDirectory !== undefined && { dataDirectory }) }),
    )
    options.onSpawn?.(running)
    try {
      if (await ready(running, endpoint, program.startsWithinMs, options.signal)) {
        return { endpoint, pid: running.pid, exited: running.exited, close: () => running.close() }
      }
    } catch (error) {
      await running.close()
      throw error
    }
    const endedByItself = running.hasExited()
    await running.close()
    errors = await running.exited
    if (endedByItself && !(await program.isFit())) return undefined
  }
  throw new Error(`DynamoDB Local did not start: ${errors.trim() || 'it never answered'}`)
}

/**
 * DynamoDB Local listens on every interface and cannot be told otherwise. It keeps the tables of each access key apart:
 * whoever does not know this one finds an empty database of his own. Made at every start, or once for a directory, where
 * the file is named for it.
 */
const accessKeyFor = (dataDirectory: string | undefined): string => {
  const made = randomBytes(20).toString('hex')
  if (dataDirectory === undefined) return made
  const keyFile = join(dataDirectory, 'access-key')
  const key = readIfPresent(keyFile) ?? made
  if (key === made) writeFileSync(keyFile, made, { mode: 0o600 })
  return key
}

const ready = async (
  running: KeptProcess,
  endpoint: string,
  deadlineMs: number,
  signal: AbortSignal | undefined,
): Promise<boolean> => {
  for (const deadline = Date.now() + deadlineMs; Date.now() < deadline; ) {
    if (running.hasExited()) return false
    if (await answers(endpoint)) return !running.hasExited()
    await sleep(READY_POLL_MS, undefined, { signal })
  }
  return false
}

/** Asked without the SDK: this process loads the SDK while Java starts. */
const answers = async (endpoint: string): Promise<boolean> => {
  const { endpoint: origin, region, credentials } = localAws(endpoint)
  const scope = `${credentials.accessKeyId}/20260101/${region}/dynamodb/aws4_request`
  try {
    const answer = await fetch(origin, {
      method: 'POST',
      body: '{}',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': 'DynamoDB_20120810.ListTables',
        'x-amz-date': '20260101T000000Z',
        authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`,
      },
      signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
    })
    await answer.body?.cancel()
    return answer.ok
  } catch {
    return false
  }
}

/** A port of 127.0.0.1 that was free a moment ago. Another process may still take it: starters check who answers. */
const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  await new Promise<void>((resolve) => server.close(() => resolve()))
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}
