import type { TableKind } from './emulators/local-table.ts'
import { openTable } from './emulators/open-table.ts'
import type { ClientLimits } from './functions/local-deps.ts'
import { openDataDirectory } from './process/data-directory.ts'
import type { TestEnvironment } from './test-provider/test-environment.ts'

export type LocalCloudOptions = {
  /** The API's port. Lambda, provider and inbox take the next three ports. 0 takes free ports. */
  readonly port: number
  /** The directory of all state. Without it, all state is in memory. */
  readonly dataDirectory?: string
  /** Default: DynamoDB Local if this machine can start it, else memory. */
  readonly table?: TableKind
  /** Default: clients have no limits. */
  readonly limits?: ClientLimits | undefined
  /** The first time of a clock that no data directory keeps. Default: the machine's time. */
  readonly startsAtMs?: number
  /** The provider's test mode instead of its simulator. The clock then cannot jump. */
  readonly testEnvironment?: TestEnvironment | undefined
  /** Also gets every log line. */
  readonly writeLog?: (line: string) => void
  /** Called with the next step of the start. */
  readonly onProgress?: (step: string) => void
  /** Called when a part has ended for good. The caller should then close the cloud. */
  readonly onFailure?: (error: Error) => void
  /** Aborting the signal ends a start in progress, with all started parts. */
  readonly signal?: AbortSignal
}

/**
 * Starts the gateway on this machine: the manifest's functions, on emulators of the services they
 * use (design section 6). If the start fails, it ends the started parts in reverse order.
 */
export async function startLocalCloud(options: LocalCloudOptions) {
  await using parts = new AsyncDisposableStack()
  const data =
    options.dataDirectory === undefined ? undefined : await openDataDirectory(options.dataDirectory)
  parts.defer(() => data?.close())

  // Java starts slowest, so it starts before this process loads the rest of its code.
  const { promise: tableSpawned, resolve: onSpawn } = Promise.withResolvers<void>()
  const controller = new AbortController()
  const signal = AbortSignal.any([controller.signal, ...(options.signal ? [options.signal] : [])])
  const tableOpening = openTable({ kind: options.table, data, onSpawn, signal })
  // The start sees a failure when it awaits the table. This catch prevents an unhandled rejection
  // before that.
  tableOpening.catch(() => undefined)
  parts.defer(async () => {
    controller.abort()
    const table = await tableOpening.catch(() => undefined)
    await table?.close()
  })
  await Promise.race([tableSpawned, tableOpening])
  const { assembleCloud } = await import('./assemble-cloud.ts')
  return await assembleCloud(parts, { ...options, data, tableOpening })
}

export type LocalCloud = Awaited<ReturnType<typeof startLocalCloud>>
