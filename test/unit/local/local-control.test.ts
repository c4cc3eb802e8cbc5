import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { answerControl } from '../../../infra/local/emulators/start-lambda-server.ts'
import { localLog } from '../../../infra/local/functions/local-log.ts'
import { startLocalClock } from '../../../infra/local/process/local-clock.ts'

const START_MS = Date.UTC(2026, 10, 20, 1, 0, 0)

beforeEach(() => void vi.useFakeTimers({ now: START_MS }))
afterEach(() => void vi.useRealTimers())

/** A jump of an hour while an attempt runs that ends when told, or never. */
const jumpBesideAnAttempt = () => {
  const clock = startLocalClock()
  const attempt = Promise.withResolvers<void>()
  const parts = { clock, alerts: () => [], attemptsEnded: () => attempt.promise, log: localLog(clock) }
  const body = Buffer.from('{"advance_seconds":3600}')
  const request = { method: 'POST', path: '/_local/clock', query: new URLSearchParams(), headers: {}, body }
  return {
    clock,
    attempt,
    jumped: answerControl(parts, { ...request, search: '', rawHeaders: [], remoteAddress: '127.0.0.1' }),
  }
}

describe('a jump of the local clock (design section 6)', () => {
  it('waits until the running attempts have ended', async () => {
    const { clock, attempt, jumped } = jumpBesideAnAttempt()
    await vi.advanceTimersByTimeAsync(5_000)
    const beforeTheEnd = clock.offsetMs()

    attempt.resolve()
    await jumped

    expect([beforeTheEnd, clock.offsetMs()]).toStrictEqual([0, 3_600_000])
  })

  it('waits for 11 seconds at most', async () => {
    const { clock, jumped } = jumpBesideAnAttempt()
    await vi.advanceTimersByTimeAsync(10_999)
    const before = clock.offsetMs()
    await vi.advanceTimersByTimeAsync(1)
    await jumped

    expect([before, clock.offsetMs()]).toStrictEqual([0, 3_600_000])
  })
})
