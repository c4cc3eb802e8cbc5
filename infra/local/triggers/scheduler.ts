import type { DailyTimes, ScheduleSpec, TimeOfDay } from '../../../functions/function-spec.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/time.ts'
import type { LocalClock } from '../process/local-clock.ts'

export type ScheduledJob = {
  readonly schedule: ScheduleSpec
  /** Invokes the function. Its failures are logged where it is invoked. */
  readonly run: () => void
}

export type Scheduler = { close(): void }

/**
 * Fires the schedules of the manifest. A jump of the clock fires none: a rate goes on with each real interval since the
 * start, as on AWS since the rule was made, and a daily time that was jumped over is skipped, the next one being reckoned
 * from the new time. (Who wants a skipped run invokes the function.)
 */
export const startScheduler = (clock: LocalClock, times: DailyTimes, jobs: readonly ScheduledJob[]): Scheduler => {
  const stops = jobs.map(({ schedule, run }) =>
    'everyMinutes' in schedule ? everyMinutes(schedule.everyMinutes, run) : daily(clock, times[schedule.dailyAt], run),
  )
  return {
    close: () => {
      for (const stop of stops) stop()
    },
  }
}

const everyMinutes = (minutes: number, run: () => void): (() => void) => {
  const timer = setInterval(run, minutes * MINUTE_MS)
  timer.unref()
  return () => clearInterval(timer)
}

const daily = (clock: LocalClock, time: TimeOfDay, run: () => void): (() => void) => {
  let cancel = () => {}
  const arm = () => {
    cancel()
    cancel = clock.at(nextDailyMs(clock.nowMs(), time), () => {
      arm()
      run()
    })
  }
  arm()
  // Told before any timer runs, so a time that was jumped over never fires.
  const stopListening = clock.onJump(arm)
  return () => {
    cancel()
    stopListening()
  }
}

/** The next time of day (UTC) strictly after `nowMs`, in milliseconds since the epoch. */
export const nextDailyMs = (nowMs: number, { hour, minute }: TimeOfDay): number => {
  const startOfDay = Math.floor(nowMs / DAY_MS) * DAY_MS
  const today = startOfDay + hour * HOUR_MS + minute * MINUTE_MS
  return today > nowMs ? today : today + DAY_MS
}
