import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DAILY_TIMES, type DailyTimes } from '../../../functions/function-spec.ts'
import { type LocalClock, startLocalClock } from '../../../infra/local/process/local-clock.ts'
import { nextDailyMs, startScheduler } from '../../../infra/local/triggers/scheduler.ts'

const START_MS = Date.UTC(2026, 10, 20, 1, 0, 0)
const HOUR_MS = 3_600_000

let clock: LocalClock
let fired: number[]

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS })
  clock = startLocalClock()
  fired = []
})
afterEach(() => {
  vi.useRealTimers()
})

const everyMinute = () =>
  startScheduler(clock, DAILY_TIMES, [
    { schedule: { everyMinutes: 1, maxEventAgeSeconds: 60 }, run: () => fired.push(clock.nowMs() - START_MS) },
  ])

const sweptAt = (times: DailyTimes) =>
  startScheduler(clock, times, [
    { schedule: { dailyAt: 'sweepAtUtc', maxEventAgeSeconds: 60 }, run: () => fired.push(clock.nowMs() - START_MS) },
  ])

const dailyAtTwo = () => sweptAt(DAILY_TIMES)

describe('schedules on the one clock (design section 6)', () => {
  it('fires a rate with every interval that passes', () => {
    everyMinute()

    vi.advanceTimersByTime(150_000)

    expect(fired).toStrictEqual([60_000, 120_000])
  })

  it('fires no rate for a jump, and goes on after it', () => {
    everyMinute()

    clock.advance(3_600)
    const atJump = [...fired]
    vi.advanceTimersByTime(60_000)

    expect(atJump).toStrictEqual([])
    expect(fired).toStrictEqual([HOUR_MS + 60_000])
  })

  it('fires a daily time when it comes, day after day', () => {
    dailyAtTwo()

    vi.advanceTimersByTime(25 * HOUR_MS)

    expect(fired).toStrictEqual([HOUR_MS, 25 * HOUR_MS])
  })

  it('fires the sweep at the time that is set, 02:00 UTC by default', () => {
    sweptAt({ sweepAtUtc: { hour: 1, minute: 30 } })
    dailyAtTwo()

    vi.advanceTimersByTime(2 * HOUR_MS)

    expect(fired).toStrictEqual([HOUR_MS / 2, HOUR_MS])
  })

  it('skips a daily time that was jumped over', () => {
    dailyAtTwo()

    clock.advance(2 * 3_600)
    const atJump = [...fired]
    vi.advanceTimersByTime(23 * HOUR_MS)

    expect(atJump).toStrictEqual([])
    expect(fired).toStrictEqual([25 * HOUR_MS])
  })

  it('fires a daily time that a jump brought near', () => {
    dailyAtTwo()

    clock.advance(3_600 - 10)
    vi.advanceTimersByTime(10_000)

    expect(fired).toStrictEqual([HOUR_MS])
  })

  it('fires nothing any more once closed', () => {
    const schedulers = [everyMinute(), dailyAtTwo()]

    for (const scheduler of schedulers) scheduler.close()
    vi.advanceTimersByTime(48 * HOUR_MS)

    expect(fired).toStrictEqual([])
  })
})

describe('nextDailyMs', () => {
  it('is strictly later than now', () => {
    const two = Date.UTC(2026, 10, 20, 2, 0, 0)

    expect(nextDailyMs(two - 1, { hour: 2, minute: 0 })).toBe(two)
    expect(nextDailyMs(two, { hour: 2, minute: 0 })).toBe(two + 24 * HOUR_MS)
  })
})
