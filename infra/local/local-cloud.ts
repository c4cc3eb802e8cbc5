import type { LocalTable, TableKind } from './emulators/local-table.ts'
import { openTable } from './emulators/open-table.ts'
import { type DataDirectory, openDataDirectory } from './process/data-directory.ts'

export type LocalCloudOptions = {
  /** The API's port. Lambda, provider and inbox take the next three ports. 0 takes free ports. */
  readonly port: number
  /** Keeps all state there. Without it, all state is in memory. */
  readonly dataDirectory?: string
  /** Default: DynamoDB Local if this machine can start it, else memory. */
  readonly table?: TableKind
  /** Also gets every log line. */
  readonly writeLog?: (line: string) => void
  /** Called with the next step of the start. */
  readonly onProgress?: (step: string) => void
  /** Called when a part has ended for good. The caller should then close the cloud. */
  readonly onFailure?: (error: Error) => void
  /** Aborting it ends a start in progress, with all started parts. */
  readonly signal?: AbortSignal
}

/**
 * Starts the gateway on this machine: the manifest's functions, on emulators of the services they use (design section
 * 6). If the start fails, it ends the started parts in reverse order.
 */
export const startLocalCloud = async (options: LocalCloudOptions) => {
  await using started = new AsyncDisposableStack()
  const data = options.dataDirectory === undefined ? undefined : await openDataDirectory(options.dataDirectory)
  started.defer(() => data?.close())

  // Java starts slowest, so it starts before this process loads the rest of its code.
  const { promise: spawned, resolve: onSpawn } = Promise.withResolvers<void>()
  const tableOpening = startTable(started, { ...options, data, onSpawn })
  await Promise.race([spawned, tableOpening])
  const { assembleCloud } = await import('./assemble-cloud.ts')
  return await assembleCloud(started, { ...options, data, tableOpening })
}

export type LocalCloud = Awaited<ReturnType<typeof startLocalCloud>>

type TableStart = Pick<LocalCloudOptions, 'table' | 'signal'> & {
  readonly data: DataDirectory | undefined
  readonly onSpawn: () => void
}

/** Starts to open the table. Disposing `started` aborts the opening, or closes the table. */
const startTable = (
  started: AsyncDisposableStack,
  { table: kind, data, signal, onSpawn }: TableStart,
): Promise<LocalTable> => {
  const ending = new AbortController()
  const opening = openTable({
    kind,
    data,
    onSpawn,
    signal: AbortSignal.any([ending.signal, ...(signal ? [signal] : [])]),
  })
  // The start sees a failure when it awaits the table. This catch prevents an unhandled rejection before that.
  opening.catch(() => undefined)
  started.defer(async () => {
    ending.abort()
    const table = await opening.catch(() => undefined)
    await table?.close()
  })
  return opening
}
