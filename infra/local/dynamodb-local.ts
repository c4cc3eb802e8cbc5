import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { findDynamoDbCommand } from './dynamodb-command.ts'
import { freePort } from './free-port.ts'
import { type KeptProcess, startKeptProcess } from './kept-process.ts'
import type { ProcessRecord } from './process-record.ts'

export type DynamoDbLocal = {
  readonly endpoint: string
  readonly pid: number
  /** Resolves when it is gone, whoever ended it, with the last lines of its error output. */
  readonly exited: Promise<string>
  /** Ends it at once: it keeps its files consistent by itself (SQLite), and answers SIGTERM slowly. */
  close(): Promise<void>
}

/** DynamoDB Local takes any credentials; these are the ones everything local uses. */
export const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' }
export const LOCAL_REGION = 'ap-southeast-3'

export const localAws = (endpoint: string) => ({ endpoint, region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS })

const START_TRIES = 3
const READY_POLL_MS = 50
/** A first start with Docker fetches the image. */
const READY_DEADLINE_MS = { java: 20_000, docker: 180_000 }

type StartOptions = {
  /** Called with the process's id as soon as it runs and before it answers: it already has the files open. */
  readonly onSpawn?: (started: ProcessRecord) => void
  readonly signal?: AbortSignal
}

/**
 * Starts DynamoDB Local on a free port, in memory or on the files of `dataDirectory`. It does not outlive this process,
 * even if this one is killed. Rejects when the signal aborts; nothing is left then.
 */
export const startDynamoDbLocal = async (
  dataDirectory?: string,
  options: StartOptions = {},
): Promise<DynamoDbLocal> => {
  const command = await findDynamoDbCommand()
  let errors = ''
  for (let tried = 0; tried < START_TRIES; tried++) {
    options.signal?.throwIfAborted()
    const port = await freePort()
    const chosen = command({ port, ...(dataDirectory !== undefined && { dataDirectory }) })
    const endpoint = `http://127.0.0.1:${port}`
    const running = await startKeptProcess(chosen)
    options.onSpawn?.(running)
    try {
      const deadlineMs = chosen.program === 'docker' ? READY_DEADLINE_MS.docker : READY_DEADLINE_MS.java
      if (await ready(running, endpoint, deadlineMs, options.signal)) {
        return { endpoint, pid: running.pid, exited: running.exited, close: () => running.close() }
      }
    } catch (error) {
      await running.close()
      throw error
    }
    await running.close()
    errors = await running.exited
  }
  throw new Error(`DynamoDB Local did not start: ${errors.trim() || 'it never answered'}`)
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

const answers = async (endpoint: string): Promise<boolean> => {
  const client = new DynamoDBClient({ ...localAws(endpoint), maxAttempts: 1 })
  try {
    await client.send(new ListTablesCommand({}), { abortSignal: AbortSignal.timeout(1_000) })
    return true
  } catch {
    return false
  } finally {
    client.destroy()
  }
}
