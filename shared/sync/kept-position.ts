import type { StoreDeps, TableDeps } from '../deps.ts'
import type { Timestamp } from '../time.ts'
import { moveHead, type Round } from './head-store.ts'
import { finishJob, keepPosition, releaseJob, type Slice } from './job-store.ts'
import { endReading } from './tail.ts'

/** Where a worker keeps how far it has read a slice. */
export type KeptPosition = {
  /** Undefined: another worker has the slice. */
  keep(slice: Slice, progress: Pick<Slice, 'afterId' | 'openUntil'>): Promise<Slice | undefined>
  /** After the last page. False: another worker has read the slice. */
  finish(slice: Slice): Promise<boolean>
  release(slice: Slice, at: Timestamp): Promise<unknown>
}

/** In the row of the slice's job, which the worker has claimed. */
export function inJob(deps: StoreDeps): KeptPosition {
  return {
    keep: (slice, progress) => keepPosition(deps, slice, progress),
    finish: async (slice) => {
      await (slice.kind === 'tail' ? endReading(deps, slice) : finishJob(deps, slice))
      return true
    },
    release: (slice, at) => releaseJob(deps, slice, at),
  }
}

/**
 * In the head alone: most rounds are one page, and the head moves after it. Until then a crash or
 * another worker reads the page once more. With a second page the rest of the slice becomes a job.
 */
export function inHead(deps: StoreDeps & TableDeps, round: Round): KeptPosition {
  const job = inJob(deps)
  let isJob = false
  return {
    keep: async (slice, progress) => {
      if (isJob) return job.keep(slice, progress)
      const unread = { ...slice, ...progress }
      isJob = await moveHead(deps, round, [unread])
      return isJob ? unread : undefined
    },
    finish: async (slice) => (isJob ? job.finish(slice) : moveHead(deps, round, [])),
    release: async (slice, at) => (isJob ? job.release(slice, at) : undefined),
  }
}
