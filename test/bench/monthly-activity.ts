import { type FunctionSpec, queuesOf, runsByItself } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import { ASSUMPTIONS } from './assumptions.ts'
import type { Flow } from './metered-world.ts'

const { hoursPerMonth } = ASSUMPTIONS

export const specOf = (name: string): FunctionSpec => {
  const spec = MANIFEST.find((one) => one.name === name)
  if (!spec) throw new Error(`there is no function ${name}`)
  return spec
}

/** Runs of a schedule in a month; 0 for a function without a schedule. */
export const runsPerMonth = ({ trigger }: FunctionSpec): number => {
  if (trigger.kind !== 'schedule') return 0
  return 'everyMinutes' in trigger.schedule ? (hoursPerMonth * 60) / trigger.schedule.everyMinutes : hoursPerMonth / 24
}

/** Metrics of our own that these runs write. Each is counted for the whole month, although AWS bills by the hour. */
export const metricsOf = (flows: readonly Flow[]): ReadonlySet<string> =>
  new Set(flows.flatMap(({ metrics }) => metrics))

/** DynamoDB and SQS ask KMS again when a role has used a key for five minutes (docs.aws.amazon.com: usage notes of both). */
const KEY_MINUTES = 5

/**
 * Requests to the stage's key in a month, at most, of those that do not grow with payments. `idle`: schedules run. `busy`:
 * every role is at work. A queue takes two requests for each role that sends, and one for each that receives.
 */
export const keyRequests = (): Readonly<Record<'idle' | 'busy', number>> => {
  const own = MANIFEST.filter(runsByItself)
  const table = own.filter((spec) => Object.keys(spec.table).length > 0)
  const idle = table.filter(({ trigger }) => trigger.kind === 'schedule').length
  const queues = own.reduce((sum, { sends, trigger }) => sum + 2 * sends.length + queuesOf(trigger).length, 0)
  const times = (hoursPerMonth * 60) / KEY_MINUTES
  return { idle: times * idle, busy: times * (table.length + queues) }
}
