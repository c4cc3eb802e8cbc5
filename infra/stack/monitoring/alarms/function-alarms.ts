import type { AlarmSpec } from './alarm-spec.ts'
import { FUNCTION_GROUPS, type FunctionGroup, groupSum } from './function-groups.ts'
import { awsMetric } from './metric-ref.ts'
import { functionNameOf, type Watched } from './watched.ts'

const groupAlarms = (watched: Watched, group: FunctionGroup): readonly AlarmSpec[] => [
  {
    id: `${group.id}-crashing`,
    severity: group.severity,
    summary: `${group.functions} break off or run out of time.`,
    impact: group.impact,
    measure: groupSum(watched, group, 'Errors'),
    when: group.seldom ? { atLeast: 1, minutes: 5, periods: 1 } : { atLeast: 3, minutes: 5, periods: 2, outOf: 3 },
    because: 'Errors that we answer ourselves do not count here; these are crashes, timeouts and failed starts.',
  },
  {
    id: `${group.id}-throttled`,
    severity: group.severity,
    summary: `${group.functions} are not started because too many run already.`,
    impact: group.impact,
    measure: groupSum(watched, group, 'Throttles'),
    when: { atLeast: 10, minutes: 5, periods: 2, outOf: 3 },
    because: 'Queues repeat a few by themselves. Two starts a minute of a single run are no flood.',
  },
]

/** Runs of a function with a reservation are its own; all others share what is left, in the whole account. */
const concurrency = ({ accountConcurrency, reservedRuns }: Watched): AlarmSpec => ({
  id: 'concurrency-near-limit',
  severity: 'page',
  summary: 'Functions without a reservation run almost as often at once as the account lets them.',
  impact: 'reads of merchants and schedules, once the limit is reached.',
  measure: awsMetric('AWS/Lambda', 'UnreservedConcurrentExecutions', {}, 'Maximum'),
  when: { above: Math.floor(0.8 * (accountConcurrency - reservedRuns)), minutes: 1, periods: 3, outOf: 5 },
  because:
    'Four fifths of what the account’s quota, as infra/stack/stage.ts has it, leaves beside the stage’s reservations.',
})

/** Lambda: what breaks off, what may not start, and how close the account is to its limit. */
export const functionAlarms = (watched: Watched): readonly AlarmSpec[] => {
  const sendsToItself = functionNameOf(
    watched,
    ({ recursive, callsMerchants }) => recursive === true && callsMerchants === true,
  )
  return [
    ...FUNCTION_GROUPS.flatMap((group) => groupAlarms(watched, group)),
    {
      id: 'retries-dropped',
      severity: 'page',
      summary: 'Lambda took webhook retries for an endless loop and dropped them.',
      impact: 'merchants, whose deliveries stop in the middle until due work sends them again.',
      measure: awsMetric('AWS/Lambda', 'RecursiveInvocationsDropped', { FunctionName: sendsToItself }, 'Sum'),
      when: { atLeast: 1, minutes: 5, periods: 1 },
      because: 'The function is allowed to send to its own queue, so the first one means that somebody changed that.',
    },
    concurrency(watched),
  ]
}
