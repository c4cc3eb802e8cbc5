import type { FunctionSpec } from '../../../../functions/function-spec.ts'
import { awsMetric, type Formula, sumOf } from './metric-ref.ts'
import type { Watched } from './watched.ts'

/** Functions that work for the same people, one line each on the dashboard. */
export type FunctionGroup = { readonly id: string; readonly has: (spec: FunctionSpec) => boolean }

const isCallback = ({ trigger }: FunctionSpec): boolean =>
  trigger.kind === 'http' && trigger.path.startsWith('/callbacks/')

const ofQueue =
  (prefix: string) =>
  ({ trigger }: FunctionSpec): boolean =>
    trigger.kind === 'queue' && trigger.queue.startsWith(prefix)

export const FUNCTION_GROUPS: readonly FunctionGroup[] = [
  {
    id: 'api',
    has: (spec) =>
      (spec.trigger.kind === 'http' && !isCallback(spec) && !spec.lookup) || spec.trigger.kind === 'http-default',
  },
  { id: 'lookups', has: ({ lookup }) => lookup === true },
  { id: 'callbacks', has: isCallback },
  { id: 'deliveries', has: ofQueue('webhooks') },
  { id: 'settlements', has: ofQueue('settlements') },
  { id: 'audits', has: ofQueue('audits') },
  { id: 'due-work', has: ofQueue('due-') },
  { id: 'schedules', has: (spec) => spec.trigger.kind === 'schedule' || ofQueue('sync')(spec) },
]

/** A count of Lambda's over all functions of a group. */
export const groupSum = (
  { functions }: Watched,
  { has }: FunctionGroup,
  name: 'Errors' | 'Throttles' | 'Invocations',
): Formula => {
  const names = functions.filter(({ spec }) => has(spec)).map(({ functionName }) => functionName)
  return sumOf(names.map((FunctionName) => awsMetric('AWS/Lambda', name, { FunctionName }, 'Sum')))
}
