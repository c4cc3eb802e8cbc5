import { describe, expect, it } from 'vitest'
import { overdueAfterMs } from '../../../shared/webhook/delivery/delivery-store.ts'
import {
  ATTEMPTS_PER_ROUND,
  hopSeconds,
  waitAfterFailureMs,
} from '../../../shared/webhook/send/record-attempt-result.ts'

describe('retry schedule (spec 6.4)', () => {
  it('waits as the specification lists, never longer than six hours, and ends after the eighth failure', () => {
    const minutes = [1, 2, 4, 8, 16, 32, 64, undefined, undefined]

    expect(ATTEMPTS_PER_ROUND).toBe(8)
    expect(minutes.map((_, at) => waitAfterFailureMs(at + 1))).toStrictEqual(
      minutes.map((wait) => wait && wait * 60_000),
    )
  })

  it('rounds a message delay up to whole seconds, at least one and at most what SQS holds', () => {
    const delays = [-5, 0, 1, 999, 1_000, 1_001, 60_000, 899_001, 900_000, 900_001, 3_840_000].map(hopSeconds)

    expect(delays).toStrictEqual([1, 1, 1, 1, 1, 2, 60, 900, 900, 900, 900])
  })

  it('resends an overdue attempt after a minute, doubling up to an hour', () => {
    const minutes = [0, 1, 2, 3, 4, 5, 6, 50].map((resends) => overdueAfterMs(resends) / 60_000)

    expect(minutes).toStrictEqual([1, 2, 4, 8, 16, 32, 60, 60])
  })
})
