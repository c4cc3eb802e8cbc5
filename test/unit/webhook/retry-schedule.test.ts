import { describe, expect, it } from 'vitest'
import {
  ATTEMPTS_PER_ROUND,
  hopSeconds,
  overdueAfterMs,
  waitAfterFailureMs,
} from '../../../shared/webhook/delivery/retry-schedule.ts'

describe('retry schedule (spec 6.4)', () => {
  it('waits as the specification lists, and ends after the eighth failure', () => {
    const waitsMs = Array.from({ length: 9 }, (_, at) => waitAfterFailureMs(at + 1))

    expect(ATTEMPTS_PER_ROUND).toBe(8)
    expect(waitsMs).toStrictEqual([
      60_000,
      120_000,
      240_000,
      480_000,
      960_000,
      1_920_000,
      3_840_000,
      undefined,
      undefined,
    ])
  })

  it('never waits longer than six hours', () => {
    const longestMs = Math.max(...Array.from({ length: 7 }, (_, at) => waitAfterFailureMs(at + 1) ?? 0))

    expect(longestMs).toBeLessThanOrEqual(6 * 3_600_000)
  })

  it('rounds a message delay up to whole seconds, at least one and at most what SQS holds', () => {
    const delays = [-5, 0, 1, 999, 1_000, 1_001, 60_000, 899_001, 900_000, 900_001, 3_840_000].map(hopSeconds)

    expect(delays).toStrictEqual([1, 1, 1, 1, 1, 2, 60, 900, 900, 900, 900])
  })

  it('resends an overdue attempt after two minutes, doubling up to an hour', () => {
    const minutes = [0, 1, 2, 3, 4, 5, 6, 50].map((resends) => overdueAfterMs(resends) / 60_000)

    expect(minutes).toStrictEqual([2, 4, 8, 16, 32, 60, 60, 60])
  })
})
