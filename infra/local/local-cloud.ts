import type { TableKind } from './emulators/local-table.ts'
import { openTable } from './emulators/open-table.ts'
import type { ClientLimits } from './functions/local-deps.ts'
import { openDataDirectory } from './process/data-directory.ts'
import type { TestEnvironment } from './test-provider/test-environment.ts'

export type LocalCloudOptions = {
  /** Lambda, provider and inbox take the next three ports. 0 takes free ports. */
  readonly port: number
  /** Without a directory all state is in memory. */
  readonly dataDirectory?: string
  /** Default: DynamoDB Local if this machine can start it, else memory. */
  readonly table?: TableKind
  readonly limits?: ClientLimits | undefined
  /** By default the machine's time. A data directory keeps its clock. */
  readonly startsAtMs?: number
  /** The provider's test mode instead of its simulator. The clock then cannot jump. */
  readonly testEnvironment?: TestEnvironment | undefined
  readonly writeLog?: (line: string) => void
  readonly onProgress?: (step: string) => void
  /** Called when a part has ended for good: close the cloud then. */
  readonly onFailure?: (error: Error) => void
  /** Aborting ends a start in progress, with all started parts. */
  readonly signal?: AbortSignal
}

/**
 * The manifest's functions, on emulators of the services they use (design section 6). If the start
 * fails, it ends the started parts in reverse order.
 */
export async function startLocalCloud(options: LocalCloudOptions) {
  await using parts = new AsyncDisposableStack()
  const data =
    options.dataDirectory === undefined ? undefined : await openDataDirectory(options.dataDirectory)
  parts.defer(() => data?.close())

  // Java starts slowest, so before this process loads the rest of its code.
  const { promise: tableSpawned, resolve: onSpawn } = Promise.withResolvers<void>()
  const controller = new AbortController()
  const signal = AbortSignal.any([controller.signal, ...(options.signal ? [options.signal] : [])])
  const tableOpening = openTable({ kind: options.table, data, onSpawn, signal })
  // The start sees the failure when it awaits the table; until then this prevents an unhandled
  // rejection.
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
