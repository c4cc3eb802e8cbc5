import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { claimForThisProcess, endProcess, removeProcessRecord, runningProcess } from './process-record.ts'

/** Where a gateway started with `--data` keeps what has to survive it, even a SIGKILL. */
export type DataDirectory = {
  readonly path: string
  readonly table: string
  readonly queues: string
  readonly sealKey: string
  readonly simulator: string
  readonly clock: string
  readonly alerts: string
  readonly demoClient: string
  /** Pid and command line of the DynamoDB Local that has the table's files open. */
  readonly tableProcess: string
  close(): void
}

/** What the command line of every DynamoDB Local contains. */
const DYNAMODB_MARK = 'DynamoDBLocal.jar'

/**
 * Takes the directory for this process; it is made if there is none. A DynamoDB Local that a killed gateway left behind
 * is ended before anybody opens its files. Throws when another gateway, alive, uses the directory.
 */
export const openDataDirectory = async (directory: string): Promise<DataDirectory> => {
  const path = resolve(directory)
  const tablePath = join(path, 'table')
  const gatewayProcess = join(path, 'gateway.pid')
  const tableProcess = join(path, 'dynamodb.pid')
  const other = usable(path, () => {
    makeDirectory(tablePath)
    return claimForThisProcess(gatewayProcess)
  })
  if (other) throw new Error(`${path} is in use by another gateway (process ${other.pid}); stop it first`)

  const orphan = runningProcess(tableProcess)
  if (orphan?.command.includes(DYNAMODB_MARK)) await endProcess(orphan)
  removeProcessRecord(tableProcess)

  return {
    path,
    table: tablePath,
    queues: join(path, 'queues'),
    sealKey: join(path, 'seal-key.json'),
    simulator: join(path, 'provider-simulator.jsonl'),
    clock: join(path, 'clock.json'),
    alerts: join(path, 'alerts.jsonl'),
    demoClient: join(path, 'demo-client.json'),
    tableProcess,
    close: () => {
      if (runningProcess(gatewayProcess)?.pid === process.pid) removeProcessRecord(gatewayProcess)
    },
  }
}

const usable = <T>(path: string, take: () => T): T => {
  try {
    return take()
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
    throw new Error(`the data directory ${path} cannot be made or written (${reason})`, { cause: error })
  }
}

/** With what is missing above it. Not `recursive`: where nothing can be made, as in /proc, Node tries that for ever. */
const makeDirectory = (path: string): void => {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (!existsSync(parent)) makeDirectory(parent)
  mkdirSync(path, { mode: 0o700 })
}
