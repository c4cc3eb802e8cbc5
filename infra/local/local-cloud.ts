import type { LocalCloudOptions } from './assemble-cloud.ts'
import { openTable } from './emulators/open-table.ts'
import { openDataDirectory } from './process/data-directory.ts'

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
