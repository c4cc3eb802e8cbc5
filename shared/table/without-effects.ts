import type { Deps } from '../deps.ts'
import type { Item } from './attributes.ts'
import type { Step } from './step.ts'

/**
 * What an action would do: it reads and checks as always, and each write, message, alert and line
 * of the log is left out. A write counts as applied: what only its conditions find is missed.
 */
export function withoutEffects(deps: Deps): Deps {
  const nothing = async () => undefined
  const silent = () => undefined
  return {
    ...deps,
    table: {
      ...deps.table,
      write: async (step) => ({ applied: true, item: itemAfter(step) }),
      transact: async () => ({ applied: true }),
    },
    queues: { send: nothing },
    alerts: { publish: nothing },
    // An outcome in the log would count in metrics and alarms.
    log: { info: silent, warn: silent, error: deps.log.error.bind(deps.log) },
  }
}

/** What the step itself sets: the role of a function may not read every item that it updates. */
function itemAfter(step: Step): Item | undefined {
  return step.kind === 'update' && !step.returnsNothing ? { ...step.changes.set } : undefined
}
