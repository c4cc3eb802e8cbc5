import { createHash } from 'node:crypto'
import type { TableRequests } from '../../shared/runtime/aws/retrying-table.ts'
import type { HistorySteps } from '../../shared/stage-settings.ts'
import { epochMs, type Timestamp } from '../../shared/time.ts'
import { type TestDeps, testDeps } from '../support/test-deps.ts'

type Means = {
  readonly requests: TableRequests
  readonly now: () => Timestamp
  readonly sleep: (ms: number) => Promise<void>
  readonly steps?: HistorySteps | undefined
}

/** Ids and bytes that only the process and their number decide. */
export const chance = (process: number | string) => {
  let made = 0
  const digest = () => createHash('sha256').update(`${process} ${++made}`).digest()
  return {
    newId: () => {
      const text = digest().toString('hex')
      return `${text.slice(0, 8)}-${text.slice(8, 12)}-8${text.slice(13, 16)}-8${text.slice(17, 20)}-${text.slice(20, 32)}`
    },
    randomBytes: (length: number) => digest().subarray(0, length),
    random: () => 0,
  }
}

/** What one process of the gateway has: the shared table and clock, chance of its own. */
export const processDeps = (process: number | string, { requests, now, sleep, steps }: Means): TestDeps => {
  const nowMs = () => epochMs(now())
  const stage = steps && { historySteps: steps }
  return testDeps({
    ...chance(process),
    requests,
    now,
    sleep,
    realNowMs: nowMs,
    monotonicMs: nowMs,
    ...(stage && { stage }),
  })
}
