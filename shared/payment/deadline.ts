import type { Deps } from '../deps.ts'

/** One deadline for a whole request: every step takes from what is left, so the caller always gets our answer. */
export type Deadline = { remainingMs(): number }

export const startDeadline = (deps: Pick<Deps, 'monotonicMs'>, budgetMs: number): Deadline => {
  const end = deps.monotonicMs() + budgetMs
  return { remainingMs: () => Math.max(0, end - deps.monotonicMs()) }
}
