import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DAILY_TIMES, type ScheduleSpec } from '../../../functions/function-spec.ts'
import { answerControl } from '../../../infra/local/emulators/start-lambda-server.ts'
import { localLog } from '../../../infra/local/functions/local-log.ts'
import { startLocalClock } from '../../../infra/local/process/local-clock.ts'
import { startScheduler } from '../../../infra/local/triggers/scheduler.ts'

const START_MS = Date.UTC(2026, 10, 20, 1, 0, 0)
const HOUR_MS = 3_600_000

beforeEach(() => void vi.useFakeTimers({ now: START_MS }))
afterEach(() => void vi.useRealTimers())

/** A clock, and which timers ran, or when the schedules fired, counted from the start. */
const aClock = () => {
  const clock = startLocalClock()
  const ran: string[] = []
  const fired: number[] = []
  const run = () => fired.push(clock.nowMs() - START_MS)
  return {
    clock,
    ran,
    fired,
    at: (seconds: number, name: string) => clock.at(START_MS + seconds * 1_000, () => ran.push(name)),
    firesBy: (schedule: ScheduleSpec) => startScheduler(clock, DAILY_TIMES, [{ schedule, run }]),
  }
}

describe('the local clock (design section 6)', () => {
  it.each([
    ['when their time comes by itself', 0, 1, ['first', 'second']],
    ['when a jump makes them due', 60, 0, ['first', 'second', 'third']],
  ])('runs timers %s, in due order, equal ones as they were set', (_case, jump, pass, expected) => {
    const { clock, at, ran } = aClock()
    at(3, 'third')
    at(1, 'first')
    at(1, 'second')
    at(90, 'not due')

    clock.advance(jump)
    vi.advanceTimersByTime(pass * 1_000)

    expect(ran).toStrictEqual(expected)
  })

  it('runs a timer set by a timer on the next turn, so that one which sets itself again does not hang a jump', () => {
    const { clock } = aClock()
    const again = vi.fn(() => void clock.at(clock.nowMs(), again))
    clock.at(START_MS, again)

    clock.advance(60)

    expect(again).toHaveBeenCalledTimes(1)
  })

  it('reports a jump before any timer runs', () => {
    const { clock, at, ran } = aClock()
    at(1, 'timer')
    const stop = clock.onJump(() => ran.push(`jump to ${clock.nowMs() - START_MS}`))

    clock.advance(60)
    stop()
    clock.advance(60)

    expect(ran).toStrictEqual(['jump to 60000', 'timer'])
  })

  it('keeps the new offset before anybody sees the new time, and does not jump when it cannot', () => {
    const seen: number[] = []
    const clock = startLocalClock({
      offsetMs: 5_000,
      keepOffset: (offsetMs) => {
        seen.push(offsetMs, clock.nowMs())
        if (offsetMs > 100_000) throw new Error('disk full')
      },
    })

    clock.advance(10)

    expect(seen).toStrictEqual([15_000, START_MS + 5_000])
    expect(() => clock.advance(1_000)).toThrow('disk full')
    expect(clock.nowMs()).toBe(START_MS + 15_000)
  })
})

it.each([
  ['until the running attempts have ended', 5_000, 5_000],
  ['for 11 seconds at most', Number.POSITIVE_INFINITY, 11_000],
])('a jump of the local clock waits %s', async (_case, endsAfterMs, jumpsAfterMs) => {
  const { clock } = aClock()
  const attempt = Promise.withResolvers<void>()
  if (Number.isFinite(endsAfterMs)) setTimeout(attempt.resolve, endsAfterMs)
  const parts = { clock, alerts: () => [], attemptsEnded: () => attempt.promise, log: localLog(clock) }
  const body = Buffer.from('{"advance_seconds":3600}')
  const request = { method: 'POST', path: '/_local/clock', query: new URLSearchParams(), headers: {}, body }

  const jumped = answerControl(parts, { ...request, search: '', rawHeaders: [], remoteAddress: '127.0.0.1' })
  await vi.advanceTimersByTimeAsync(jumpsAfterMs - 1)
  const before = clock.nowMs()
  await vi.advanceTimersByTimeAsync(1)
  await jumped

  const jumpsAtMs = START_MS + jumpsAfterMs
  expect([before, clock.nowMs()]).toStrictEqual([jumpsAtMs - 1, jumpsAtMs + HOUR_MS])
})

describe('schedules on the one clock (design section 6)', () => {
  it('fires a rate with every interval that passes, once for a jump over many, and keeps its rhythm', () => {
    const { clock, firesBy, fired } = aClock()
    firesBy({ everyMinutes: 1, maxEventAgeSeconds: 60 })

    vi.advanceTimersByTime(150_000)
    clock.advance(3_600)
    vi.advanceTimersByTime(60_000)

    expect(fired).toStrictEqual([60_000, 120_000, HOUR_MS + 150_000, HOUR_MS + 180_000])
  })

  it('fires each schedule that a jump of five days passed once, after due timers, by the last time passed', () => {
    const { clock, at, ran } = aClock()
    const job = (name: string, schedule: ScheduleSpec) => ({ schedule, run: () => ran.push(name) })
    const scheduler = startScheduler(clock, DAILY_TIMES, [
      job('work', { everyMinutes: 1, maxEventAgeSeconds: 60 }),
      job('audit', { dailyAt: 'auditAtUtc', maxEventAgeSeconds: 60 }),
      job('yearly', { everyMinutes: 525_600, maxEventAgeSeconds: 60 }),
      job('sweep', { dailyAt: 'sweepAtUtc', maxEventAgeSeconds: 60 }),
    ])
    at(5 * 86_400, 'last message')
    at(1, 'first message')

    clock.advance(5 * 86_400)
    const atJump = [...ran]
    scheduler.close()
    clock.advance(5 * 86_400)

    expect(atJump).toStrictEqual(['first message', 'last message', 'sweep', 'audit', 'work'])
    expect(ran).toStrictEqual(atJump)
  })

  it.each([
    ['when it comes, day after day', 0, 25, [], [1, 25]],
    ['at the jump that passes it, and the next day', 2, 23, [2], [2, 25]],
    ['once at a jump that passes three', 50, 23, [50], [50, 73]],
  ])('fires a daily time, 02:00 UTC by default, %s', (_case, jumpHours, passHours, firedAtJump, firedAfter) => {
    const { clock, firesBy, fired } = aClock()
    firesBy({ dailyAt: 'sweepAtUtc', maxEventAgeSeconds: 60 })

    clock.advance(jumpHours * 3_600)
    const atJump = [...fired]
    vi.advanceTimersByTime(passHours * HOUR_MS)

    const inMs = (hours: readonly number[]) => hours.map((each) => each * HOUR_MS)
    expect(atJump).toStrictEqual(inMs(firedAtJump))
    expect(fired).toStrictEqual(inMs(firedAfter))
  })
})
