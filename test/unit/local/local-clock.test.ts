import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DAILY_TIMES } from '../../../functions/daily-times.ts'
import { type ScheduleSpec } from '../../../functions/function-spec.ts'
import { localLog } from '../../../infra/local/functions/local-log.ts'
import { startLocalClock } from '../../../infra/local/process/local-clock.ts'
import { startScheduler } from '../../../infra/local/triggers/start-event-sources.ts'
import { answerControl } from '../../../infra/local/triggers/start-lambda-server.ts'

const START_MS = Date.UTC(2026, 10, 20, 1, 0, 0)
const HOUR = 3_600
const DAILY = { dailyAt: 'sweepAtUtc' }

beforeEach(() => void vi.useFakeTimers({ now: START_MS }))
afterEach(() => void vi.useRealTimers())

function aClock() {
  const clock = startLocalClock()
  const runs: string[] = []
  const at = (seconds: number, name: string) =>
    clock.at(START_MS + seconds * 1_000, () => runs.push(name))
  return { clock, runs, at }
}

it.each([
  ['when their time comes by itself', 0, 1, ['first', 'second']],
  [
    'when a jump makes them due, after its listeners',
    60,
    0,
    ['a jump', 'first', 'second', 'third'],
  ],
])(
  'the local clock (design section 6) runs timers %s, in due order, and timers of one time as they were set',
  (_case, jump, pass, expected) => {
    const { clock, at, runs } = aClock()
    clock.onJump(() => runs.push('a jump'))
    at(3, 'third')
    at(1, 'first')
    at(1, 'second')
    at(90, 'not due')

    if (jump > 0) clock.advance(jump)
    vi.advanceTimersByTime(pass * 1_000)

    expect(runs).toStrictEqual(expected)
  },
)

it('a jump of the local clock waits for 11 seconds at most', async () => {
  const { clock } = aClock()
  const log = localLog(clock)
  const parts = { clock, alerts: () => [], attemptsEnded: () => Promise.race<void>([]), log }

  const jumped = answerControl(parts, {
    method: 'POST',
    path: '/_local/clock',
    body: Buffer.from('{"advance_seconds":3600}'),
  } as never)
  await vi.advanceTimersByTimeAsync(10_999)
  const before = clock.nowMs()
  await vi.advanceTimersByTimeAsync(1)
  await jumped

  const jumpsAtMs = START_MS + 11_000
  expect([before, clock.nowMs()]).toStrictEqual([jumpsAtMs - 1, jumpsAtMs + HOUR * 1_000])
})

describe('schedules on the one clock (design section 6)', () => {
  it('fires each schedule that a jump of five days passed only once, after due timers, by its last passed time', () => {
    const { clock, at, runs } = aClock()
    const job = (name: string, schedule: ScheduleSpec) => ({ schedule, run: () => runs.push(name) })
    const scheduler = startScheduler(clock, DAILY_TIMES, [
      job('work', { everyMinutes: 7_200, maxEventAgeSeconds: 60 }),
      job('audit', { dailyAt: 'auditAtUtc', maxEventAgeSeconds: 60 }),
      job('yearly', { everyMinutes: 525_600, maxEventAgeSeconds: 60 }),
      job('sweep', { dailyAt: 'sweepAtUtc', maxEventAgeSeconds: 60 }),
    ])
    at(5 * 86_400, 'last message')
    at(1, 'first message')

    clock.advance(5 * 86_400)
    const atJump = [...runs]
    scheduler.close()
    clock.advance(5 * 86_400)

    expect(atJump).toStrictEqual(['first message', 'last message', 'sweep', 'audit', 'work'])
    expect(runs).toStrictEqual(atJump)
  })

  it.each<[string, object, readonly number[], readonly number[]]>([
    [
      'a rate, which keeps its rhythm',
      { everyMinutes: 1 },
      [150, 3_600, 60],
      [60, 120, 3_750, 3_780],
    ],
    ['02:00 UTC when it comes, day after day', DAILY, [0, 0, 25 * HOUR], [HOUR, 25 * HOUR]],
    [
      '02:00 UTC at the jump that passes it',
      DAILY,
      [0, 2 * HOUR, 23 * HOUR],
      [2 * HOUR, 25 * HOUR],
    ],
  ])(
    'fires %s (%j), as time passes, jumps and passes again for %j seconds',
    (_, rhythm, seconds, firedAt) => {
      const { clock } = aClock()
      const firedMs: number[] = []
      const [before = 0, jump = 0, after = 0] = seconds
      const schedule = { ...rhythm, maxEventAgeSeconds: 60 } as ScheduleSpec
      startScheduler(clock, DAILY_TIMES, [
        { schedule, run: () => firedMs.push(clock.nowMs() - START_MS) },
      ])

      vi.advanceTimersByTime(before * 1_000)
      clock.advance(jump)
      vi.advanceTimersByTime(after * 1_000)

      expect(firedMs).toStrictEqual(firedAt.map((second) => second * 1_000))
    },
  )
})
