import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { writeJsonFile } from './json-file.ts'
import {
  claimForThisProcess,
  endProcess,
  removeProcessRecord,
  runningProcess,
} from './process-record.ts'

const OWNER_ALONE = 0o700

/** Part of the command line of every DynamoDB Local. */
const DYNAMODB_MARK = 'DynamoDBLocal.jar'

/**
 * Files that survive the process, even a SIGKILL. Claims the directory, and creates it if needed.
 * Ends the DynamoDB Local of a killed gateway before its files are opened again. Throws if another
 * running gateway uses the directory.
 */
export async function openDataDirectory(directory: string) {
  const path = resolve(directory)
  const tablePath = join(path, 'table')
  const gatewayProcess = join(path, 'gateway.pid')
  const tableProcess = join(path, 'dynamodb.pid')
  const otherGateway = claimDirectory(path, tablePath, gatewayProcess)
  if (otherGateway)
    throw new Error(
      `${path} is in use by another gateway (process ${otherGateway.pid}); stop it first`,
    )

  const orphan = runningProcess(tableProcess)
  if (orphan?.command.includes(DYNAMODB_MARK)) await endProcess(orphan)
  removeProcessRecord(tableProcess)

  return {
    path,
    table: tablePath,
    queues: join(path, 'queues'),
    sealKey: join(path, 'seal-key.json'),
    simulator: join(path, 'provider-simulator.jsonl'),
    /** Exists if the payments are at the provider's test mode. */
    testProvider: join(path, 'test-provider.json'),
    clock: join(path, 'clock.json'),
    alerts: join(path, 'alerts.jsonl'),
    demoClient: join(path, 'demo-client.json'),
    /** The process that has the table's files open. */
    tableProcess,
    close: () => {
      if (runningProcess(gatewayProcess)?.pid === process.pid) removeProcessRecord(gatewayProcess)
    },
  }
}

export type DataDirectory = Awaited<ReturnType<typeof openDataDirectory>>

/**
 * A payment is known to one provider only, so a directory stays with the simulator or the test
 * mode, as it began. Throws for the other one.
 */
export function claimForProvider(data: DataDirectory | undefined, isTestMode: boolean) {
  if (!data) return
  const isOfOther = existsSync(isTestMode ? data.simulator : data.testProvider)
  if (isOfOther) {
    const other = isTestMode ? "the provider's simulator" : "the provider's test mode"
    throw new Error(`${data.path} has payments of ${other}; choose another directory`)
  }
  if (isTestMode) writeJsonFile(data.testProvider, {})
}

function claimDirectory(path: string, tablePath: string, gatewayProcess: string) {
  try {
    makeDirectory(tablePath)
    // The directory may be older than this rule. Everyone may read DynamoDB Local's own files.
    for (const directory of [path, tablePath]) chmodSync(directory, OWNER_ALONE)
    return claimForThisProcess(gatewayProcess)
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
    throw new Error(
      `cannot create or write the data directory ${path} (${reason}); choose another`,
      { cause: error },
    )
  }
}

/** Not with `recursive`: Node would retry for ever in a place like /proc. */
function makeDirectory(path: string) {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (!existsSync(parent)) makeDirectory(parent)
  mkdirSync(path, { mode: OWNER_ALONE })
}
