import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { Logger } from '@aws-lambda-powertools/logger'
import * as v from 'valibot'
import { loggedProvider } from '../../../../shared/provider/logged-provider.ts'
import { powertoolsLog } from '../../../../shared/runtime/powertools-log.ts'
import { type MemoryDeps, memoryDeps } from '../../../support/memory-deps.ts'

/** The stage whose alarms the scenes are held against. */
export const WATCHED_STAGE = 'prod'

/** One value of one metric as CloudWatch takes it from a log line: a line with two dimension sets is two of them. */
export type Emitted = {
  readonly namespace: string
  readonly name: string
  readonly unit: string
  readonly dimensions: Readonly<Record<string, string>>
  readonly value: number
}

export type WatchedWorld = { readonly deps: MemoryDeps; readonly emitted: () => readonly Emitted[] }

/** Something that happens to the gateway, by its real handlers and use cases. */
export type Scene = (world: WatchedWorld) => Promise<void>

const EmfLine = v.looseObject({
  _aws: v.object({
    Timestamp: v.number(),
    CloudWatchMetrics: v.array(
      v.object({
        Namespace: v.string(),
        Dimensions: v.array(v.array(v.string())),
        Metrics: v.array(v.object({ Name: v.string(), Unit: v.string() })),
      }),
    ),
  }),
})

const emittedBy = (text: string): readonly Emitted[] => {
  const line: unknown = JSON.parse(text)
  if (!v.is(v.object({ _aws: v.unknown() }), line)) return []
  const { _aws, ...members } = v.parse(EmfLine, line)
  return _aws.CloudWatchMetrics.flatMap(({ Namespace: namespace, Dimensions, Metrics }) =>
    Dimensions.flatMap((names) =>
      Metrics.map(({ Name: name, Unit: unit }) => ({
        namespace,
        name,
        unit,
        // CloudWatch drops a metric whose dimension has no text on the line; here that throws.
        dimensions: Object.fromEntries(
          names.map((dimension) => [dimension, v.parse(v.pipe(v.string(), v.minLength(1)), members[dimension])]),
        ),
        value: v.parse(v.number(), members[name]),
      })),
    ),
  )
}

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
