import { expect, it } from 'vitest'
import { fairSchedule } from '../../../infra/local/triggers/fair-schedule.ts'

// That a group holds only its share, and how it closes: `local-queue-poller.test.ts`.

it('the fair schedule gives a free slot to each waiting group in turn, whatever the length of their lines', async () => {
  const schedule = fairSchedule({ total: 1, perGroup: 1 })
  const started: string[] = []
  const ends = new Map<string, () => void>()
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) {
    schedule.add(name.slice(0, 1), () => {
      started.push(name)
      return new Promise<void>((resolve) => ends.set(name, resolve))
    })
  }

  for (const name of ['a1', 'b1', 'c1']) {
    ends.get(name)?.()
    await new Promise<void>((resolve) => setImmediate(resolve))
  }

  expect(started).toStrictEqual(['a1', 'b1', 'c1', 'a2'])
})
