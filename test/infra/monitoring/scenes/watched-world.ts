import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { Logger } from '@aws-lambda-powertools/logger'
import { loggedProvider } from '../../../../shared/provider/logged-provider.ts'
import { powertoolsLog } from '../../../../shared/runtime/powertools-log.ts'
import { type Emitted, emittedBy } from '../../../support/emitted-by.ts'
import { type MemoryDeps, memoryDeps } from '../../../support/memory-deps.ts'

/** The stage whose alarms the scenes are held against. */
export const WATCHED_STAGE = 'prod'

export type WatchedWorld = { readonly deps: MemoryDeps; readonly emitted: () => readonly Emitted[] }

/** Something that happens to the gateway, by its real handlers and use cases. */
export type Scene = (world: WatchedWorld) => Promise<void>

/**
 * A gateway on a table in memory, with the deployed logger and the provider's calls logged as they are on AWS. What the
 * logger writes is kept, to the very characters that CloudWatch would read.
 */
export const watchedWorld = (stage = WATCHED_STAGE): WatchedWorld => {
  const output: string[] = []
  const stdout = new Writable({
    write: (chunk, _, done) => {
      output.push(String(chunk))
      done()
    },
  })
  const log = powertoolsLog(stage, (serviceName) => {
    const logger = new Logger({ serviceName })
    Reflect.set(logger, 'console', new Console({ stdout, stderr: stdout }))
    return logger
  })
  const own = memoryDeps({ log })
  return {
    deps: { ...own, provider: { ...own.provider, ...loggedProvider(own.provider, own) } },
    emitted: () =>
      output
        .join('')
        .split('\n')
        .filter((line) => line !== '')
        .flatMap(emittedBy),
  }
}
