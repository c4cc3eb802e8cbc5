import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startLocalClock } from '../../../infra/local/process/local-clock.ts'

const START_MS = Date.UTC(2026, 10, 20, 4, 0, 0)

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('the local clock (design section 6)', () => {
  it('runs with the machine, ahead of it by its jumps', () => {
    const clock = startLocalClock()

    clock.advance(60)
    vi.advanceTimersByTime(1_000)

    expect(clock.nowMs()).toBe(START_MS + 61_000)
    expect(clock.offsetMs()).toBe(60_000)
  })

  it('runs timers when their time comes by itself', () => {
    const clock = startLocalClock()
    const ran: string[] = []
    clock.at(START_MS + 2_000, () => ran.push('later'))
    clock.at(START_MS + 1_000, () => ran.push('sooner'))

    vi.advanceTimersByTime(1_000)

    expect(ran).toStrictEqual(['sooner'])
  })

  it('runs every timer that a jump makes due, in due order, equal ones as they were set', () => {
    const clock = startLocalClock()
    const ran: string[] = []
    clock.at(START_MS + 3_000, () => ran.push('third'))
    clock.at(START_MS + 1_000, () => ran.push('first'))
    clock.at(START_MS + 1_000, () => ran.push('second'))
    clock.at(START_MS + 90_000, () => ran.push('not due'))

    clock.advance(60)

    expect(ran).toStrictEqual(['first', 'second', 'third'])
  })

  it('does not run a cancelled timer, even one cancelled by another timer of the same jump', () => {
    const clock = startLocalClock()
    const ran: string[] = []
    clock.at(START_MS + 1_000, () => cancel())
    const cancel = clock.at(START_MS + 2_000, () => ran.push('cancelled'))

    clock.advance(60)

    expect(ran).toStrictEqual([])
  })

  it('runs a timer set by a timer on the next turn, so that one which sets itself again does not hang a jump', () => {
    const clock = startLocalClock()
    let runs = 0
    const again = () => {
      runs++
      clock.at(clock.nowMs(), again)
    }
    clock.at(START_MS, again)

    clock.advance(60)

    expect(runs).toBe(1)
  })

  it('tells of a jump before any timer runs', () => {
    const clock = startLocalClock()
    const order: string[] = []
    clock.at(START_MS + 1_000, () => order.push('timer'))
    const stop = clock.onJump(() => order.push(`jump to ${clock.nowMs() - START_MS}`))

    clock.advance(60)
    stop()
    clock.advance(60)

    expect(order).toStrictEqual(['jump to 60000', 'timer'])
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

  it('waits for a time further away than one setTimeout can hold', () => {
    const clock = startLocalClock()
    let ran = false
    clock.at(START_MS + 40 * 86_400_000, () => {
      ran = true
    })

    vi.advanceTimersByTime(40 * 86_400_000 - 1)
    const early = ran
    vi.advanceTimersByTime(1)

    expect([early, ran]).toStrictEqual([false, true])
  })

  it('runs nothing any more once closed', () => {
    const clock = startLocalClock()
    let ran = false
    clock.at(START_MS + 1_000, () => {
      ran = true
    })

    clock.close()
    clock.advance(60)

    expect(ran).toBe(false)
  })
})
