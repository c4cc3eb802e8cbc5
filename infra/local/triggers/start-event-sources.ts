import { DAILY_TIMES } from '../../../functions/daily-times.ts'
import { queuesOf } from '../../../functions/function-spec.ts'
import type { QueueName } from '../../../shared/queues.ts'
import { SECOND_MS } from '../../../shared/time.ts'
import { QUEUE_SETTINGS } from '../../stack/triggers/queue-settings.ts'
import type { QueueEmulator } from '../emulators/queue-emulator.ts'
import type { FunctionHost } from '../functions/function-host.ts'
import type { LocalClock } from '../process/local-clock.ts'
import { startQueuePoller } from './start-queue-poller.ts'
import { startScheduler } from './start-scheduler.ts'

type EventSourceOptions = {
  readonly host: FunctionHost
  readonly clock: LocalClock
  readonly emulator: Pick<QueueEmulator, 'sqs'>
  readonly queueUrls: Readonly<Record<QueueName, string>>
}

/**
 * Concurrent deliveries to one endpoint: enough for a busy endpoint, and a failing endpoint cannot
 * occupy all slots.
 */
const PER_GROUP = 32

export function startEventSources(options: EventSourceOptions) {
  const { host, clock } = options

  const scheduler = startScheduler(
    clock,
    DAILY_TIMES,
    host.functions.flatMap(({ spec: { trigger }, invoke }) => {
      if (trigger.kind !== 'schedule') return []
      const maxAgeMs = trigger.schedule.maxEventAgeSeconds * SECOND_MS
      return [
        {
          schedule: trigger.schedule,
          run: () => void invoke({}, { maxAgeMs }).catch(() => undefined),
        },
      ]
    }),
  )

  const queues = host.functions.flatMap(({ spec, invoke }) => {
    const { trigger, timeoutSeconds } = spec
    return queuesOf(trigger).map(({ queue, batchSize, maxConcurrency }) => ({
      spec,
      poller: startQueuePoller({
        sqs: options.emulator.sqs,
        queueUrl: options.queueUrls[queue],
        clock,
        invoke,
        limits: { total: batchSize * maxConcurrency, perGroup: PER_GROUP },
        retryAfterMs: QUEUE_SETTINGS[queue].hiddenSeconds(timeoutSeconds) * SECOND_MS,
      }),
    }))
  })

  return {
    attemptsEnded: async () => {
      const deliveryQueues = queues.filter(({ spec }) => spec.callsMerchants === true)
      await Promise.all(deliveryQueues.map(({ poller }) => poller.handlersEnded()))
    },
    close: async () => {
      scheduler.close()
      await Promise.all(queues.map(({ poller }) => poller.close()))
    },
  }
}

export type EventSources = ReturnType<typeof startEventSources>
