import { join } from 'node:path'

/**
 * The local gateway of some tree of this project, as `npm start` runs it there, which answers every message with the CPU
 * that it has used so far. Argument: the tree.
 */
const [tree = ''] = process.argv.slice(2)
const { LOCAL_STAGE }: typeof import('../../../infra/local/functions/local-deps.ts') = await import(
  join(tree, 'infra/local/functions/local-deps.ts')
)
const { startLocalCloud }: typeof import('../../../infra/local/local-cloud.ts') = await import(
  join(tree, 'infra/local/local-cloud.ts')
)

/** The provider's simulator takes as many calls as come: its published quota is no part of what is measured here. */
Object.assign(LOCAL_STAGE, { providerCallsPerMinute: 1_000_000 })

const { urls, close } = await startLocalCloud({ port: 0 })
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpuMs: (user + system) / 1_000 })
})
process.once('disconnect', () => void close().finally(() => process.exit()))
process.send?.(urls)
