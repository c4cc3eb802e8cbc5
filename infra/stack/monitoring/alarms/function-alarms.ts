import type { AlarmSpec } from './alarm-spec.ts'
import { FUNCTION_GROUPS, type FunctionGroup } from './function-groups.ts'
import { awsMetric, type Measure, sumOf } from './metric-ref.ts'
import { theFunction, type Watched } from './watched.ts'

const of = ({ functions }: Watched, group: FunctionGroup, name: 'Errors' | 'Throttles'): Measure =>
  sumOf(
    functions
      .filter(({ spec }) => group.has(spec))
      .map(({ functionName }) => awsMetric('AWS/Lambda', name, { FunctionName: functionName }, 'Sum')),
  )

const groupAlarms = (watched: Watched, group: FunctionGroup): readonly AlarmSpec[] => [
  {
    id: `${group.id}-crashing`,
    severity: group.severity,
    says: `${group.functions} break off or run out of time.`,
    suffers: group.suffers,
    measure: of(watched, group, 'Errors'),
    is: 'at least',
    ...(group.seldom ? { threshold: 1, periods: 1 } : { threshold: 3, periods: 2, outOf: 3 }),
    because: 'Errors that we answer ourselves do not count here; these are crashes, timeouts and failed starts.',
    periodMinutes: 5,
    whenMissing: 'notBreaching',
  },
  {
    id: `${group.id}-throttled`,
    severity: group.severity,
    says: `${group.functions} are not started because too many run already.`,
    suffers: group.suffers,
    measure: of(watched, group, 'Throttles'),
    is: 'at least',
    threshold: 10,
    because: 'Queues and streams repeat a few by themselves. Two starts a minute of a single run are no flood.',
    periodMinutes: 5,
    periods: 2,
    outOf: 3,
    whenMissing: 'notBreaching',
  },
]

/** Runs of a function with a reservation are its own; all others share what is left, in the whole account. */
const concurrency = ({ accountConcurrency, reservedRuns }: Watched): AlarmSpec => ({
  id: 'concurrency-near-limit',
  severity: 'page',
  says: 'Functions without a reservation run almost as often at once as the account lets them.',
  suffers: 'whoever needs one of them, once the limit is met: those who read, schedules, announcements.',
  measure: awsMetric('AWS/Lambda', 'UnreservedConcurrentExecutions', {}, 'Maximum'),
  is: 'above',
  threshold: Math.floor(0.8 * (accountConcurrency - reservedRuns)),
  because:
    'Four fifths of what the account’s quota, as infra/stack/stage.ts has it, leaves beside the stage’s reservations.',
  periodMinutes: 1,
  periods: 3,
  outOf: 5,
  whenMissing: 'notBreaching',
})

/** Lambda: what breaks off, what may not start, and how close the account is to its limit. */
export const functionAlarms = (watched: Watched): readonly AlarmSpec[] => [
  ...FUNCTION_GROUPS.flatMap((group) => groupAlarms(watched, group)),
  {
    id: 'stream-behind',
    severity: 'ticket',
    says: 'The table’s stream is read minutes behind its writes.',
    suffers: 'merchants, who are told of payments by due work, minutes late.',
    measure: awsMetric(
      'AWS/Lambda',
      'IteratorAge',
      { FunctionName: theFunction(watched, ({ trigger }) => trigger.kind === 'stream') },
      'Maximum',
    ),
    is: 'above',
    threshold: 120_000,
    because: 'Milliseconds. From two minutes on due work does the same work, so nothing is lost, but twice is done.',
    periodMinutes: 1,
    periods: 5,
    whenMissing: 'notBreaching',
  },
  {
    id: 'retries-dropped',
    severity: 'page',
    says: 'Lambda took webhook retries for an endless loop and dropped them.',
    suffers: 'merchants, whose deliveries stop in the middle until due work sends them again.',
    measure: awsMetric(
      'AWS/Lambda',
      'RecursiveInvocationsDropped',
      { FunctionName: theFunction(watched, ({ recursive }) => recursive === true) },
      'Sum',
    ),
    is: 'at least',
    threshold: 1,
    because: 'The function is allowed to send to its own queue, so the first one means that somebody changed that.',
    periodMinutes: 5,
    periods: 1,
    whenMissing: 'notBreaching',
  },
  concurrency(watched),
]
