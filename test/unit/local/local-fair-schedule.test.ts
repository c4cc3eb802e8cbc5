import { describe, expect, it } from 'vitest'
import { type FairSchedule, fairSchedule } from '../../../infra/local/triggers/fair-schedule.ts'

/** Tasks that run until told to end, and the order in which they began. */
const controlledTasks = (schedule: FairSchedule) => {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  return {
    started,
    add: (group: string, name: string) =>
      schedule.add(group, async () => {
        started.push(name)
        await new Promise<void>((resolve) => ends.set(name, resolve))
      }),
    end: async (name: string) => {
      ends.get(name)?.()
      await new Promise<void>((resolve) => setImmediate(resolve))
    },
  }
}

describe('the fair schedule of message groups (design section 4, Deliver)', () => {
  it('lets a group hold only its share of the slots', () => {
    const tasks = controlledTasks(fairSchedule({ total: 10, perGroup: 2 }))

    for (const name of ['d1', 'd2', 'd3', 'd4']) tasks.add('dead', name)
    tasks.add('healthy', 'h1')

    expect(tasks.started).toStrictEqual(['d1', 'd2', 'h1'])
  })

  it('starts the next task of a group that was at its limit when one of its tasks ends', async () => {
    const tasks = controlledTasks(fairSchedule({ total: 10, perGroup: 1 }))
    tasks.add('dead', 'd1')
    tasks.add('dead', 'd2')

    await tasks.end('d1')

    expect(tasks.started).toStrictEqual(['d1', 'd2'])
  })

  it('gives a free slot to each waiting group in turn, whatever the length of their lines', async () => {
    const tasks = controlledTasks(fairSchedule({ total: 1, perGroup: 1 }))
    for (const name of ['a1', 'a2', 'a3']) tasks.add('a', name)
    tasks.add('b', 'b1')
    tasks.add('c', 'c1')

    for (const name of ['a1', 'b1', 'c1']) await tasks.end(tasks.started.at(-1) ?? name)

    expect(tasks.started).toStrictEqual(['a1', 'b1', 'c1', 'a2'])
  })

  it('never runs more than the total', async () => {
    const schedule = fairSchedule({ total: 3, perGroup: 2 })
    const tasks = controlledTasks(schedule)

    for (let n = 0; n < 12; n++) tasks.add(`g${n % 6}`, `t${n}`)

    expect([schedule.running(), schedule.waiting()]).toStrictEqual([3, 9])
  })

  it('runs every task exactly once', async () => {
    const schedule = fairSchedule({ total: 7, perGroup: 3 })
    const ran: number[] = []
    const tasks = Array.from({ length: 500 }, (_, n) => n)

    await new Promise<void>((resolve) => {
      for (const n of tasks) {
        schedule.add(`g${n % 11}`, async () => {
          await new Promise<void>((done) => setImmediate(done))
          ran.push(n)
          if (ran.length === tasks.length) resolve()
        })
      }
    })

    expect(ran.toSorted((a, b) => a - b)).toStrictEqual(tasks)
  })

  it('waits for running tasks when it closes, and starts none of the waiting', async () => {
    const schedule = fairSchedule({ total: 1, perGroup: 1 })
    const tasks = controlledTasks(schedule)
    tasks.add('a', 'a1')
    tasks.add('b', 'b1')

    const closing = schedule.close()
    await tasks.end('a1')
    await closing

    expect(tasks.started).toStrictEqual(['a1'])
  })
})
