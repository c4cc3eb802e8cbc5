import { answersClients, type FunctionSpec, type Load, queuesOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { type DeployedStage, loadOf } from '../stage.ts'

const runsOfQueues = ({ trigger }: FunctionSpec, load?: Load): number =>
  queuesOf(trigger, load).reduce((sum, { maxConcurrency }) => sum + maxConcurrency, 0)

/** Runs at a time that the stage sets aside for a function, as Lambda spells it; nothing where the stage reserves none. */
export const reservedConcurrency = (
  spec: FunctionSpec,
  stage: DeployedStage,
): { readonly reservedConcurrentExecutions?: number } => {
  // Runs that overlap where nothing is reserved do no harm: they claim what they work on. They only ask twice.
  const { reservedConcurrency: reserved } = stage
  const runs = reserved && (reserved[spec.name] ?? spec.reservedConcurrency)
  if (runs === undefined) return {}
  // What is reserved is for the usual load. Queues have more runs for a greater one, which are added.
  const more = runsOfQueues(spec, loadOf(stage)) - runsOfQueues(spec)
  return { reservedConcurrentExecutions: runs + more }
}

/** Over how many environments a client's requests can be spread in a stage; undefined for what answers no clients. */
export const clientEnvironments = (spec: FunctionSpec, stage: DeployedStage): number | undefined =>
  answersClients(spec)
    ? MANIFEST.filter(answersClients)
        .map((api) => reservedConcurrency(api, stage).reservedConcurrentExecutions)
        .reduce<number>((sum, runs) => Math.min(stage.accountConcurrency, sum + (runs ?? stage.accountConcurrency)), 0)
    : undefined

/** What AWS insists on leaving to the functions without a reservation; the API needs it, too. */
export const UNRESERVED_MINIMUM = 100

/** All runs at a time that the stage sets aside. */
export const reservedRuns = (stage: DeployedStage): number =>
  MANIFEST.reduce((sum, spec) => sum + (reservedConcurrency(spec, stage).reservedConcurrentExecutions ?? 0), 0)

/**
 * Throws on a reservation for no function, on reservations that leave too little of the account to all others, and on one below what the function's queues may start at a time: Lambda's
 * refusals count as receives there, and a message that was never read would end among the dead letters.
 */
export const assertReservable = (stage: DeployedStage): void => {
  const { reservedConcurrency: reserved = {}, accountConcurrency } = stage
  for (const [name, runs] of Object.entries(reserved)) {
    const spec = MANIFEST.find((candidate) => candidate.name === name)
    if (!spec) throw new Error(`reservedConcurrency: there is no function ${name}`)
    const needed = runsOfQueues(spec)
    if (runs < needed) throw new Error(`reservedConcurrency: ${name} needs ${needed}, as its queues start so many`)
  }
  const runs = reservedRuns(stage)
  if (runs > 0 && accountConcurrency - runs < UNRESERVED_MINIMUM) {
    throw new Error(
      `reservedConcurrency: ${runs} of accountConcurrency ${accountConcurrency} leave fewer than ${UNRESERVED_MINIMUM}: it takes ${runs + UNRESERVED_MINIMUM}`,
    )
  }
}
