import { describe, expect, it } from 'vitest'
import { createPrng } from './prng.ts'
import { createSimQueue, type Disorder } from './sim-queue.ts'

const OPTIONS = { visibilityMs: 30_000, maxReceiveCount: 3 }
const DAY_MS = 24 * 60 * 60_000

const fill = (count: number) => {
  const queue = createSimQueue(OPTIONS)
  for (let at = 0; at < count; at++) queue.send({ body: String(at), delaySeconds: 0, nowMs: 0 })
  return queue
}

const disorder = (chances: Partial<Disorder>): Disorder => ({
  random: createPrng(1).next,
  reorder: 0,
  duplicate: 0,
  ...chances,
})

describe('the model of a queue', () => {
  it('says when something becomes visible next', () => {
    const queue = createSimQueue(OPTIONS)
    const seen = [queue.nextDueMs()]
    queue.send({ body: 'later', delaySeconds: 60, nowMs: 0 })
    seen.push(queue.nextDueMs())
    queue.send({ body: 'now', delaySeconds: 0, nowMs: 5_000 })
    seen.push(queue.nextDueMs())
    const [received] = queue.receive({ max: 10, nowMs: 6_000 })
    seen.push(queue.nextDueMs())
    queue.remove(received?.receipt ?? '')
    seen.push(queue.nextDueMs())

    expect(seen).toStrictEqual([undefined, 60_000, 5_000, 36_000, 60_000])
  })

  it('gives messages in the order they became visible', () => {
    const queue = fill(3)

    expect(queue.receive({ max: 2, nowMs: 0 }).map(({ body }) => body)).toStrictEqual(['0', '1'])
    expect(queue.receive({ max: 2, nowMs: 30_000 }).map(({ body }) => body)).toStrictEqual(['2', '0'])
  })

  it('gives them in another order on demand, the same for the same source of chance', () => {
    const order = () => {
      const received = fill(8).receive({ max: 8, nowMs: 0, disorder: disorder({ reorder: 1 }) })
      return received.map(({ body }) => body)
    }

    expect(order()).toStrictEqual(order())
    expect(order()).not.toStrictEqual(['0', '1', '2', '3', '4', '5', '6', '7'])
    expect(order().toSorted()).toStrictEqual(['0', '1', '2', '3', '4', '5', '6', '7'])
  })

  it('gives a copy once more on demand, even when the message was removed', () => {
    const queue = fill(1)
    const [first] = queue.receive({ max: 1, nowMs: 0, disorder: disorder({ duplicate: 1 }) })
    queue.remove(first?.receipt ?? '')
    const dueMs = queue.nextDueMs() ?? -1
    const [copy] = queue.receive({ max: 1, nowMs: dueMs, disorder: disorder({ duplicate: 1 }) })
    const isRemoved = queue.remove(copy?.receipt ?? '')

    expect(dueMs).toBeGreaterThanOrEqual(0)
    expect(dueMs).toBeLessThan(OPTIONS.visibilityMs)
    expect(copy).toMatchObject({ messageId: first?.messageId, body: '0', receiveCount: 2 })
    expect(copy?.receipt).not.toBe(first?.receipt)
    expect([isRemoved, queue.nextDueMs()]).toStrictEqual([true, undefined])
  })

  it('loses messages after four days, from their sending on', () => {
    const queue = createSimQueue(OPTIONS)
    queue.send({ body: 'old', delaySeconds: 0, nowMs: 0 })
    queue.send({ body: 'younger', delaySeconds: 0, nowMs: 1 })
    queue.receive({ max: 10, nowMs: 3 * DAY_MS })

    expect(queue.receive({ max: 10, nowMs: 4 * DAY_MS }).map(({ body }) => body)).toStrictEqual(['younger'])
    // It would be visible again only when it is too old.
    expect(queue.nextDueMs()).toBeUndefined()
    expect(queue.dead()).toStrictEqual([])
  })

  it.each([-1, 0.5, 901, Number.NaN])('refuses a delay of %s seconds', (delaySeconds) => {
    expect(() => createSimQueue(OPTIONS).send({ body: 'a', delaySeconds, nowMs: 0 })).toThrow('DelaySeconds')
  })
})
