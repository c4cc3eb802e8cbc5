import {
  answersClients,
  type FunctionSpec,
  type Load,
  queuesOf,
} from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { type DeployedStage, loadOf } from '../stage.ts'

/**
 * The concurrent runs that the stage reserves for a function, as Lambda names them. Empty if the
 * stage reserves none.
 */
export function reservedConcurrency(
  spec: FunctionSpec,
  stage: DeployedStage,
): { readonly reservedConcurrentExecutions?: number } {
  // Without a reservation runs may overlap. Each claims its work, so only some reads happen twice.
  const { reservedConcurrency: reserved } = stage
  const runs = reserved && (reserved[spec.name] ?? spec.reservedConcurrency)
  if (runs === undefined) return {}
  // The stage's file has the usual load. A larger provider quota adds runs for queues.
  const extraRuns = runsOfQueues(spec, loadOf(stage)) - runsOfQueues(spec)
  return { reservedConcurrentExecutions: runs + extraRuns }
}

function runsOfQueues({ trigger }: FunctionSpec, load?: Load) {
  return queuesOf(trigger, load).reduce((sum, { maxConcurrency }) => sum + maxConcurrency, 0)
}

/**
 * The environments that can serve one client's requests; undefined for a function that serves none.
 */
export function clientEnvironments(spec: FunctionSpec, stage: DeployedStage) {
  const { accountConcurrency: all } = stage
  return answersClients(spec)
    ? Math.min(all, reservedRuns(stage, MANIFEST.filter(answersClients), all))
    : undefined
}

export function reservedRuns(stage: DeployedStage, specs = MANIFEST, unreserved = 0) {
  return specs.reduce(
    (sum, spec) =>
      sum + (reservedConcurrency(spec, stage).reservedConcurrentExecutions ?? unreserved),
    0,
  )
}

/** AWS keeps this many runs for functions without a reservation. */
export const UNRESERVED_MINIMUM = 100

/**
 * Throws if a reservation names no function, or if the reservations leave too few runs of the
 * account. Also if a reservation has no more runs than the function's queues start: a release
 * probes the function while these are busy. With even fewer, Lambda's refusals would count as
 * receives, and a message that no worker read would end in the dead-letter queue.
 */
export function assertReservable(stage: DeployedStage) {
  const { reservedConcurrency: reserved = {}, accountConcurrency } = stage
  for (const [name, runs] of Object.entries(reserved)) {
    const spec = MANIFEST.find((candidate) => candidate.name === name)
    if (!spec) throw new Error(`reservedConcurrency: there is no function ${name}`)
    const queueRuns = runsOfQueues(spec)
    if (runs <= queueRuns) {
      throw new Error(
        `reservedConcurrency: ${name} needs ${queueRuns + 1}, one more than its queues start`,
      )
    }
  }
  const runs = reservedRuns(stage)
  if (runs > 0 && accountConcurrency - runs < UNRESERVED_MINIMUM) {
    throw new Error(
      `reservedConcurrency: ${runs} of accountConcurrency ${accountConcurrency} leave fewer than ${UNRESERVED_MINIMUM}: raise it to ${runs + UNRESERVED_MINIMUM}`,
    )
  }
}
