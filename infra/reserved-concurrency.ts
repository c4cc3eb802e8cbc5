import type { FunctionSpec } from '../functions/function-spec.ts'
import type { DeployedStage } from './stage.ts'

/** Runs at a time that the stage sets aside for a function, as Lambda spells it; nothing where the stage reserves none. */
export const reservedConcurrency = (
  spec: FunctionSpec,
  { reservedConcurrency: reserved }: DeployedStage,
): { readonly reservedConcurrentExecutions?: number } => {
  // Runs that overlap where nothing is reserved do no harm: they claim what they work on. They only ask twice.
  const runs = reserved && (reserved[spec.name] ?? spec.reservedConcurrency)
  return runs === undefined ? {} : { reservedConcurrentExecutions: runs }
}

/**
 * Throws on a reservation for no function, and on one below what the function's queue may start at a time: Lambda's
 * refusals count as receives there, and a message that was never read would end among the dead letters.
 */
export const assertReservable = (
  { reservedConcurrency: reserved = {} }: DeployedStage,
  manifest: readonly FunctionSpec[],
): void => {
  for (const [name, runs] of Object.entries(reserved)) {
    const spec = manifest.find((candidate) => candidate.name === name)
    if (!spec) throw new Error(`reservedConcurrency: there is no function ${name}`)
    if (spec.trigger.kind === 'queue' && runs < spec.trigger.maxConcurrency) {
      throw new Error(`reservedConcurrency: ${name} needs ${spec.trigger.maxConcurrency}, as its queue starts so many`)
    }
  }
}
