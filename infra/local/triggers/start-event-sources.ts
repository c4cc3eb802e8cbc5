import { DAILY_TIMES, queuesOf } from '../../../functions/function-spec.ts'
import type { QueueName } from '../../../shared/queues.ts'
import { SECOND_MS } from '../../../shared/time.ts'
import { QUEUE_SETTINGS } from '../../stack/triggers/queue-settings.ts'
import type { LocalTable } from '../emulators/local-table.ts'
import type { QueueEmulator } from '../emulators/queue-emulator.ts'
import type { FunctionHost } from '../functions/function-host.ts'
import type { LocalClock } from '../process/local-clock.ts'
import { startQueuePoller } from './queue-poller.ts'
import { startScheduler } from './scheduler.ts'
import { insertedWith, startStreamPoller } from './stream-poller.ts'

export type EventSourceOptions = {
  readonly host: FunctionHost
  readonly clock: LocalClock
  readonly emulator: Pick<QueueEmulator, 'sqs'>
  readonly queueUrls: Readonly<Record<QueueName, string>>
  readonly table: Pick<LocalTable, 'openStream'>
  readonly streamPosition: ((reader: string) => string) | undefined
}

/** Deliveries to one endpoint that run at once. Enough for a busy one, and a dead one cannot take everybody's place. */
const PER_GROUP = 20

/** Connects queues, the table's stream and the schedules to the functions that the manifest names for them. */
export const startEventSources = async (options: EventSourceOptions): Promise<{ close(): Promise<void> }> => {
  const { host, clock, table } = options

  const scheduler = startScheduler(
    clock,
    DAILY_TIMES,
    host.functions.flatMap(({ spec: { trigger }, invoke }) => {
      if (trigger.kind !== 'schedule') return []
      const maxAgeMs = trigger.schedule.maxEventAgeSeconds * SECOND_MS
      return [{ schedule: trigger.schedule, run: () => void invoke({}, { maxAgeMs }).catch(() => undefined) }]
    }),
  )

  const queues = host.functions.flatMap(({ spec, invoke }) => {
    const { trigger, timeoutSeconds } = spec
    return queuesOf(trigger).map(({ queue, batchSize, maxConcurrency }) =>
      startQueuePoller({
        sqs: options.emulator.sqs,
        queueUrl: options.queueUrls[queue],
        clock,
        invoke,
        limits: { total: batchSize * maxConcurrency, perGroup: PER_GROUP },
        retryAfterMs: QUEUE_SETTINGS[queue].hiddenSeconds(timeoutSeconds) * SECOND_MS,
      }),
    )
  })

  const streams = await Promise.all(
    host.functions.flatMap(({ spec: { name, trigger }, invoke }) => {
      if (trigger.kind !== 'stream') return []
      const { insertedSkPrefix, batchSize } = trigger
      const opened = table.openStream(options.streamPosition?.(name))
      return [
        opened.then((stream) =>
          startStreamPoller({ stream, wanted: insertedWith(insertedSkPrefix), batchSize, invoke }),
        ),
      ]
    }),
  )

  return {
    close: async () => {
      scheduler.close()
      await Promise.all([...queues, ...streams].map((source) => source.close()))
    },
  }
}
