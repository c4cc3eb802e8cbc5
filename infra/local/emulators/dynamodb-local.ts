import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readIfPresent, replaceFile } from '../process/json-file.ts'
import { type KeptProcess, startKeptProcess } from '../process/kept-process.ts'
import { startLocalHttpServer } from '../process/local-http-server.ts'
import type { ProcessRecord } from '../process/process-record.ts'
import { type DynamoDbProgram, dynamoDbPrograms } from './dynamodb-command.ts'
import { localAws } from './local-aws.ts'

type StartOptions = {
  /** Called before the process answers, because it already has the files open. */
  readonly onSpawn?: (record: ProcessRecord) => void
  readonly signal?: AbortSignal
}

export class NoDynamoDbLocal extends Error {
  override readonly name = 'NoDynamoDbLocal'
  override readonly message = 'neither Java 17 nor Docker on this machine'
}

/**
 * Starts DynamoDB Local on a free port, in memory or on the files of `dataDirectory`. It ends with
 * this process, even after a SIGKILL. Rejects with `NoDynamoDbLocal` if no program can start it.
 * Also rejects when the signal aborts, and then ends the started process.
 */
export async function startDynamoDbLocal(dataDirectory?: string, options: StartOptions = {}) {
  for (const program of dynamoDbPrograms()) {
    const dynamoDb = await startWith(program, dataDirectory, options)
    if (dynamoDb) return dynamoDb
  }
  throw new NoDynamoDbLocal()
}

const START_TRIES = 3

export type DynamoDbLocal = Awaited<ReturnType<typeof startDynamoDbLocal>>

/** Undefined for a Java that is too old, or a Docker that does not run. */
async function startWith(
  program: DynamoDbProgram,
  dataDirectory: string | undefined,
  options: StartOptions,
) {
  const accessKey = accessKeyFor(dataDirectory)
  let errors = ''
  for (let attempt = 0; attempt < START_TRIES; attempt++) {
    options.signal?.throwIfAborted()
    const port = await freePort()
    const endpoint = `http://${accessKey}@127.0.0.1:${port}`
    const server = await startKeptProcess(program.commandFor({ port, dataDirectory }))
    options.onSpawn?.(server)
    try {
      if (await waitUntilReady(server, endpoint, options.signal)) {
        return { endpoint, ...server }
      }
    } catch (error) {
      await server.close()
      throw error
    }
    const endedByItself = server.hasExited()
    await server.close()
    errors = await server.exitOutput
    if (endedByItself && !(await program.isFit())) return undefined
  }
  throw new Error(
    `DynamoDB Local did not start: ${errors.trim() || 'it never answered'}; try --table memory`,
  )
}

/**
 * DynamoDB Local keeps the tables of each access key apart, so a caller without this random key,
 * such as another program here, sees an empty database. A data directory keeps its key, which its
 * database file is named after.
 */
function accessKeyFor(dataDirectory: string | undefined) {
  const newKey = randomBytes(20).toString('hex')
  if (dataDirectory === undefined) return newKey
  const keyFile = join(dataDirectory, 'access-key')
  // A kill of an older version may have left an empty file.
  const key = readIfPresent(keyFile) || newKey
  if (key !== newKey) return key
  if (readdirSync(dataDirectory).some((name) => name.endsWith('.db')))
    throw new Error(
      `${keyFile} lost the key of the data. Write into it the name of the .db file up to the "_"`,
    )
  replaceFile(keyFile, newKey)
  return key
}

/** A foreign process may take the port first, so the caller checks that its server runs. */
async function freePort() {
  const server = await startLocalHttpServer({ port: 0, answer: () => ({ hang: true }) })
  await server.close()
  return server.port
}

const READY_POLL_MS = 50
/** A first start of Docker fetches the image. */
const STARTS_WITHIN_MS = 180_000

async function waitUntilReady(
  server: KeptProcess,
  endpoint: string,
  signal: AbortSignal | undefined,
) {
  for (const deadline = Date.now() + STARTS_WITHIN_MS; Date.now() < deadline; ) {
    if (server.hasExited()) return false
    if (await isAnswering(endpoint)) return !server.hasExited()
    await sleep(READY_POLL_MS, undefined, { signal })
  }
  return false
}

/** The first answer takes seconds on a busy machine: Java is still loading classes. */
const ANSWERS_WITHIN_MS = 5_000

/** This process loads the SDK while Java starts. */
async function isAnswering(endpoint: string) {
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
