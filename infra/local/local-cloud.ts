import type { FunctionSpec } from '../../functions/function-spec.ts'
import type { AlertInbox } from './emulators/alert-inbox.ts'
import type { LocalTable, TableKind } from './emulators/local-table.ts'
import { openTable } from './emulators/open-table.ts'
import type { FunctionHost } from './functions/function-host.ts'
import type { LocalLog } from './functions/local-log.ts'
import { type DataDirectory, openDataDirectory } from './process/data-directory.ts'
import type { LocalClock } from './process/local-clock.ts'
import type { DemoClient } from './seed-demo-client.ts'

export type LocalCloudOptions = {
  /** API here, Lambda, provider and inbox on the three ports behind it; 0 takes free ones. */
  readonly port: number
  /** Keeps all state there; without it everything is in memory. */
  readonly dataDirectory?: string
  /** DynamoDB Local where it can be started, else memory, when not given. */
  readonly table?: TableKind
  /** Gets every log line as well. */
  readonly writeLog?: (line: string) => void
  /** Told what the start does next. */
  readonly onProgress?: (step: string) => void
  /** Called when something it needs is gone for good; the cloud should be closed then. */
  readonly onFailure?: (error: Error) => void
  /** Aborting it ends a start that is under way; nothing is left then. */
  readonly signal?: AbortSignal
  /** Every function of the manifest when not given. */
  readonly manifest?: readonly FunctionSpec[]
}

export type LocalCloud = {
  readonly urls: { readonly api: string; readonly lambda: string; readonly provider: string; readonly inbox: string }
  readonly clock: LocalClock
  readonly functions: FunctionHost
  readonly demoClient: DemoClient
  readonly alerts: AlertInbox['alerts']
  readonly log: LocalLog
  readonly table: Pick<LocalTable, 'place' | 'dynamoDb'>
  /** Lets what is under way finish for a few seconds, then ends everything. */
  close(): Promise<void>
}

/**
 * The gateway on this machine: the manifest's functions as they are deployed, on emulators of the services they use
 * (design section 6). What is started is ended again, in reverse order, when anything fails on the way.
 */
export const startLocalCloud = async (options: LocalCloudOptions): Promise<LocalCloud> => {
  await using started = new AsyncDisposableStack()
  const data = options.dataDirectory === undefined ? undefined : await openDataDirectory(options.dataDirectory)
  started.defer(() => data?.close())

  // Java takes longest. It runs before this process loads the rest of its code.
  const { promise: spawned, resolve: onSpawn } = Promise.withResolvers<void>()
  const tableOpening = startTable(started, { ...options, data, onSpawn })
  await Promise.race([spawned, tableOpening])
  const { assembleCloud } = await import('./assemble-cloud.ts')
  return await assembleCloud(started, { ...options, data, tableOpening })
}

type TableStart = Pick<LocalCloudOptions, 'table' | 'signal'> & {
  readonly data: DataDirectory | undefined
  readonly onSpawn: () => void
}

/** Begins to open the table, as a part of `started`: what ends the start ends this too. */
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
  // A failure reaches the start when it awaits the table. Until then it is no unhandled rejection.
  opening.catch(() => undefined)
  started.defer(async () => {
    ending.abort()
    const table = await opening.catch(() => undefined)
    await table?.close()
  })
  return opening
}
