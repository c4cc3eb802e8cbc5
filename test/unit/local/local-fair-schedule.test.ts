import { describe, expect, it } from 'vitest'
import { fairSchedule } from '../../../infra/local/triggers/fair-schedule.ts'

/** A schedule of tasks that run until told to end, and the order in which they began. */
const controlled = (total: number, perGroup: number) => {
  const schedule = fairSchedule({ total, perGroup })
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const task = (name: string) => () => {
    started.push(name)
    return new Promise<void>((resolve) => ends.set(name, resolve))
  }
  return {
    schedule,
    started,
    add: (group: string, ...names: readonly string[]) => {
      for (const name of names) schedule.add(group, task(name))
    },
    end: async (name: string) => {
      ends.get(name)?.()
      await new Promise<void>((resolve) => setImmediate(resolve))
    },
  }
}

describe('the fair schedule of message groups (design section 4, Deliver)', () => {
  it('lets a group hold only its share of the slots, and starts its next task when one of them ends', async () => {
    const { add, end, started } = controlled(10, 2)

    add('dead', 'd1', 'd2', 'd3', 'd4')
    add('healthy', 'h1')
    await end('d1')

    expect(started).toStrictEqual(['d1', 'd2', 'h1', 'd3'])
  })

  it('gives a free slot to each waiting group in turn, whatever the length of their lines', async () => {
    const { add, end, started } = controlled(1, 1)
    add('a', 'a1', 'a2', 'a3')
    add('b', 'b1')
    add('c', 'c1')

    for (const name of ['a1', 'b1', 'c1']) await end(started.at(-1) ?? name)

    expect(started).toStrictEqual(['a1', 'b1', 'c1', 'a2'])
  })

  it('waits for running tasks when it closes, and starts none of the waiting', async () => {
    const { schedule, add, end, started } = controlled(1, 1)
    add('a', 'a1')
    add('b', 'b1')

    const closing = schedule.close()
    await end('a1')
    await closing

    expect(started).toStrictEqual(['a1'])
  })
})
