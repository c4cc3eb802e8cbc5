import type { FunctionSpec } from '../../../../functions/function-spec.ts'
import type { QueueName } from '../../../../shared/queues.ts'
import type { OurMetric } from './metric-ref.ts'

/** The parts of a stage, by their names in CloudWatch. */
export type Watched = {
  readonly stage: string
  readonly our: OurMetric
  readonly apiId: string
  readonly table: {
    readonly name: string
    readonly indexes: readonly string[]
    /** Most units a second that the stage lets the table use. */
    readonly maxReadUnits: number
    readonly maxWriteUnits: number
  }
  readonly queues: Readonly<Record<QueueName, string>>
  /** Dead-letter queues. `id` is the name without the stage. */
  readonly deadLetterQueues: readonly { readonly id: string; readonly queueName: string }[]
  readonly functions: readonly { readonly spec: FunctionSpec; readonly functionName: string }[]
  /** Runs at a time that the account may have. */
  readonly accountConcurrency: number
  /** Runs at a time that the stage sets aside for single functions, of the account's limit. */
  readonly reservedRuns: number
}

/** The name of the one function that an alarm is about. */
export const functionNameOf = ({ functions }: Watched, has: (spec: FunctionSpec) => boolean): string => {
  const [found, ...others] = functions.filter(({ spec }) => has(spec))
  if (found === undefined || others.length > 0) throw new Error('an alarm must watch exactly one function')
  return found.functionName
}
