import { DAILY_TIMES, type DailyTimes, type TimeOfDay } from '../../../functions/daily-times.ts'
import { queuesOf, type ScheduleSpec } from '../../../functions/function-spec.ts'
import type { QueueName } from '../../../shared/queues.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/time.ts'
import { QUEUE_SETTINGS } from '../../stack/settings/queue-settings.ts'
import type { QueueEmulator } from '../emulators/queue-emulator.ts'
import type { FunctionHost } from '../functions/function-host.ts'
import type { LocalClock } from '../process/local-clock.ts'
import { startQueuePoller } from './start-queue-poller.ts'

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
    attemptsEnded: async (jumpEnd: Promise<void>) => {
      const deliveryQueues = queues.filter(({ spec }) => spec.callsMerchants === true)
      await Promise.all(deliveryQueues.map(({ poller }) => poller.handlersEnded(jumpEnd)))
    },
    close: async () => {
      scheduler.close()
      await Promise.all(queues.map(({ poller }) => poller.close()))
    },
  }
}

export type EventSources = ReturnType<typeof startEventSources>

type ScheduledJob = {
  readonly schedule: ScheduleSpec
  /** The function host logs failures. */
  readonly run: () => void
}

/**
 * A clock jump runs each schedule that became due once, after all due timers, in the order of each
 * schedule's last skipped time.
 */
export function startScheduler(
  clock: LocalClock,
  times: DailyTimes,
  jobs: readonly ScheduledJob[],
) {
  const startMs = clock.nowMs()
  const armedJobs = jobs.map(({ schedule, run }) => {
    if ('dailyAt' in schedule) {
      const time = times[schedule.dailyAt]
      return armedJob(clock, { run, periodMs: DAY_MS, nextMs: (nowMs) => nextDailyMs(nowMs, time) })
    }
    const periodMs = schedule.everyMinutes * MINUTE_MS
    const nextMs = (nowMs: number) => nowMs + periodMs - ((nowMs - startMs) % periodMs)
    return armedJob(clock, { run, periodMs, nextMs })
  })
  const stopListening = clock.onJump(() => {
    const nowMs = clock.nowMs()
    const dueJobs = armedJobs.filter((job) => job.dueMs() <= nowMs)
    for (const job of dueJobs.toSorted(
      (first, second) => first.lastMs(nowMs) - second.lastMs(nowMs),
    ))
      job.fireAfterTimers()
  })
  return {
    close: () => {
      stopListening()
      for (const job of armedJobs) job.cancel()
    },
  }
}

type Recurrence = {
  readonly run: () => void
  readonly periodMs: number
  readonly nextMs: (nowMs: number) => number
}

function armedJob(clock: LocalClock, { run, periodMs, nextMs }: Recurrence) {
  let dueMs = 0
  let cancel = () => {}
  const fire = () => {
    arm()
    run()
  }
  const arm = () => {
    dueMs = nextMs(clock.nowMs())
    cancel = clock.at(dueMs, fire)
  }
  arm()
  return {
    dueMs: () => dueMs,
    lastMs: (nowMs: number) => nextMs(nowMs) - periodMs,
    cancel: () => cancel(),
    /** Sets a timer for now. It runs after all other due timers. */
    fireAfterTimers: () => {
      cancel()
      cancel = clock.at(clock.nowMs(), fire)
    },
  }
}

/** UTC, strictly after `nowMs`, in milliseconds since the epoch. */
function nextDailyMs(nowMs: number, { hour, minute }: TimeOfDay) {
  const startOfDay = Math.floor(nowMs / DAY_MS) * DAY_MS
  const today = startOfDay + hour * HOUR_MS + minute * MINUTE_MS
  return today > nowMs ? today : today + DAY_MS
}
